"""Kernels of clusters: their cost, and how rows come into them and move between them."""
