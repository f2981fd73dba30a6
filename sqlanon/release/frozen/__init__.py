"""Refreshes in which what was published stays as it is: `refresh: {mode: frozen}`. docs/frozen.md has the rules and what they promise."""
