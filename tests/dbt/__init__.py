"""dbt: what we read of its files, the Python model, the generic tests, and the example project run by dbt itself."""
