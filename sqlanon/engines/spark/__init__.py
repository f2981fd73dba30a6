"""Apache Spark: the only importer of its driver."""
