"""Moments of rows: counts, sums and sums of squares of the vectors that a model makes of rows, and of columns."""
