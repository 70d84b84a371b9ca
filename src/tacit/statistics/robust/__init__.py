"""Sums and answers that no single row can move far: bounded, trimmed, and aggregated over groups of rows."""
