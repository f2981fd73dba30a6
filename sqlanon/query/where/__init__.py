"""Predicates of a query as tests of boxes: comparisons with constants, interval arithmetic, steps of times."""
