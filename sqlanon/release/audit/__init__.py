"""Audits of tables and releases, by their own queries: also of tables that sqlanon did not make."""
