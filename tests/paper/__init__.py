"""Worked examples and theorems of the papers, to the digit."""
