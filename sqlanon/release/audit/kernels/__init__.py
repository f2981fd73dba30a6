"""Kernels of audits without a certificate: flows in a graph of rows and boxes."""
