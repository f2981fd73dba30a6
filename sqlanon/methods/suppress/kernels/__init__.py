"""Kernels of what is shown and what is hidden."""
