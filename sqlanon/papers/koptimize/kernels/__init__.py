"""Kernels of sets of cut points."""
