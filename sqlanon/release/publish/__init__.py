"""From classes to what readers see: tables written and verified, views swapped.

Versions returned, withdrawn, dropped.
"""
