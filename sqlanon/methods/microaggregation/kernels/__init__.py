"""Compiled parts of microaggregation."""
