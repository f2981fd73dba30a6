"""Mondrian (LeFevre et al., 2006): strict and relaxed, cut by loss or at the median, in kernels or as SQL by levels."""
