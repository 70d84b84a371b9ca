"""Scores of rows: models that turn a row into the derivative of its log-likelihood, for the statistics of moments."""
