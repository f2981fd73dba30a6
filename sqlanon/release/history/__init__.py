"""Disclosures of several versions of one release: the private history of each, and comparisons of two."""
