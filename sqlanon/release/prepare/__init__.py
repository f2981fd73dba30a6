"""The first half of a run.

The source is read once and staged, guards stop what would identify people, and columns get domains.
"""
