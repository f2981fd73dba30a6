"""Kernels: numba functions on arrays. No engine, no names, no I/O; integers in, integers out.

Here are the shared kernels, and the code that compiles and keeps all of them. A kernel of a single owner is in the
owner's folder, in a file or a folder called ``kernels``. Every kernel is compiled with ``nogil`` (threads run side by
side) and ``cache`` (compiled once for a user and a processor).
"""
