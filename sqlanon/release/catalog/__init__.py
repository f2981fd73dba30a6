"""What the database keeps of releases: the catalog's rows, metadata, private tables, lineages, rights; what changed since. Nothing here publishes."""
