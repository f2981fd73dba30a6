"""Kernels of several requirements."""
