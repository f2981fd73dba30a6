"""Kernels of comparisons of two versions: parts of graphs, and rows that may be exchanged."""
