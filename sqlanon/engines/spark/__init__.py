"""Apache Spark: the only importer of the driver."""
