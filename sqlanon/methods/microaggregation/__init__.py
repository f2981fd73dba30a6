"""Microaggregation: groups of near rows by the squared error of numbers, from MDAV or V-MDAV, improved by a search."""
