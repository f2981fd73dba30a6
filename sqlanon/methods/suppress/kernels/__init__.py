"""Kernels that divide cells into shown and hidden rows."""
