"""Lineages (`refresh: {mode: frozen}`): a model in plain Python, and brute-force readers of its versions.

Nothing here imports `sqlanon`.
"""
