"""Clusters: k-means under differential privacy."""

from tacit.clusters.k_means import KMeans

__all__ = ["KMeans"]
