"""Records of releases in the database: the catalog's rows, metadata, private tables, lineages, rights.

It also finds what changed since. Nothing here publishes.
"""
