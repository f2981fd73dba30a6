"""From classes to published views: tables are written and verified, views swapped.

Versions can be returned to, withdrawn and dropped.
"""
