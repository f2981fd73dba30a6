"""Runnable examples: one folder each, with its policy, its README and one command (``python -m examples.adult.run``).

``visits.csv`` is the table of the README's picture.
"""
