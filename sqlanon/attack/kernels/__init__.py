"""Kernels of attacks: which victims fit which boxes."""
