"""Kernels of matchings of rows and boxes."""
