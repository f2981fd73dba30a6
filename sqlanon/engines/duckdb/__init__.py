"""DuckDB: the only importer of its driver."""
