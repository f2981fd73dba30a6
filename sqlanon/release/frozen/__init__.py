"""Refreshes in which what was published stays as it is: `refresh: {mode: frozen}`.

Docs/frozen.md has the rules and what they promise.
"""
