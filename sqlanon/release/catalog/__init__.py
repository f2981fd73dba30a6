"""What the database keeps of releases: the catalog's rows, metadata, private tables, lineages, rights.

What changed since. Nothing here publishes.
"""
