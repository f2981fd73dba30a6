"""PostgreSQL: the only importer of psycopg."""
