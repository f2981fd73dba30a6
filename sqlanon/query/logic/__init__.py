"""The result of a condition for a box: certainly true, certainly false, or a share.

It has formulas, their tests, and the line of values.
"""
