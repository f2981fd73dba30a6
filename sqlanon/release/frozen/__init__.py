"""Refreshes that leave published classes unchanged: `refresh: {mode: frozen}`.

The rules and their promises are in docs/frozen.md.
"""
