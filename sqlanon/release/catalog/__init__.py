"""Records of releases in the database: the catalog's rows, metadata, private tables, lineages, rights.

It also finds later changes. Nothing here publishes.
"""
