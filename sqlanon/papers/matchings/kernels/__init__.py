"""Kernels of the solvers, and costs of boxes."""
