"""Kernels of orders and of what divides them."""
