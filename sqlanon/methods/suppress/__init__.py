"""Suppression of single values (Xiao, Yi and Tao 2010).

It has TP, TP+ and the cascade, and the optimum for two sensitive values.
"""
