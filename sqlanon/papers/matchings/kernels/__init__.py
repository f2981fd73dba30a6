"""Kernels of the solvers, and what boxes cost."""
