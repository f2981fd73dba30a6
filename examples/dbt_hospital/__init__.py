"""A dbt project whose patients are released by sqlanon, on DuckDB and on PostgreSQL."""
