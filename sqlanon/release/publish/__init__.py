"""From classes to what readers see: tables are written and verified, views swapped.

Versions can be returned to, withdrawn and dropped.
"""
