"""The first half of a run.

The source is read once and staged, guards refuse data that would identify people, and columns get domains.
"""
