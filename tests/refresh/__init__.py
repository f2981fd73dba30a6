"""Refreshes: the same command again tonight."""
