"""What is kept and shown: the catalog, metadata, the swap of views and files, rights, refresh, rollback."""
