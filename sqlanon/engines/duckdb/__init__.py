"""DuckDB: the only importer of the driver."""
