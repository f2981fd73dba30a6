"""Kernels of orders and of solvers that divide them."""
