"""Checks of written tables, independent of methods.

They use the staged rows and the boxes of a run, and nothing else that it derived from the source.
"""
