"""Tables of Delta, Iceberg and Parquet files that a DuckDB connection reads: the only importer of their packages."""
