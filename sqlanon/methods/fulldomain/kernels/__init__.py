"""Kernels of levels of hierarchies."""
