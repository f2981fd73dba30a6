"""Kernels: numba functions on arrays. No engine, no names, no I/O; integers in, integers out.

Every kernel is compiled with ``nogil`` (threads run side by side) and ``cache`` (compiled once a machine).
"""

from sqlanon.kernels.cache import forget_stale, name_variants

forget_stale()
name_variants()
