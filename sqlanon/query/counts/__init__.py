"""Queries over releases of counts: answered by shown cells, and by bounds over all tables that agree with them."""
