"""Refreshes that leave published classes as they are: `refresh: {mode: frozen}`.

The rules and their promises are in docs/frozen.md.
"""
