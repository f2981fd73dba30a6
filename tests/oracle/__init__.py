"""A slow, obvious version of the release in plain Python, to compare the product with.

It shares no code with `sqlanon`: it is written from the definitions, computes with `fractions.Fraction`
and enumerates instead of optimizing. Nothing here may import `sqlanon`, NumPy or a database driver.
"""
