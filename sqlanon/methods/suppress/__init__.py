"""Suppression of single values.

TP, TP+ and the cascade, and the optimum for two sensitive values (Xiao, Yi and Tao 2010).
"""
