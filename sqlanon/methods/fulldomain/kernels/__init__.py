"""Kernels of levels of hierarchies, and of cut points."""
