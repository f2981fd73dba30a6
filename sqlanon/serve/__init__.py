"""Releases for PostgreSQL clients: a read-only server that answers SQL with estimates and bounds."""
