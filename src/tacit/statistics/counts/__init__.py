"""Counts of rows: by cell, by magnitude, by what is observed, and by what a model cannot explain."""
