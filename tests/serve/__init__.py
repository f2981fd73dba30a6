"""PostgreSQL clients ask releases through ``sqlanon serve``."""
