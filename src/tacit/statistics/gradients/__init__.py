"""Gradients of rows: derivatives of losses and of expected log-likelihoods, bounded row by row."""
