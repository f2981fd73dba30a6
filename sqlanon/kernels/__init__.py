"""Kernels: numba functions on arrays. No engine, no names, no I/O; integers in, integers out.

Here are those that several use, those of `sqlanon.release`, and what compiles and keeps all of them. A kernel with one
owner is in the owner's folder, in a file or a folder called ``kernels``. Every kernel is compiled with ``nogil``
(threads run side by side) and ``cache`` (compiled once for a user and a processor).
"""
