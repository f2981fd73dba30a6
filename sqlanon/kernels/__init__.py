"""Kernels: numba functions on arrays. No engine, no names, no I/O; integers in, integers out.

Every kernel is compiled with ``nogil`` (threads run side by side) and ``cache`` (compiled once for a user and a processor).
"""
