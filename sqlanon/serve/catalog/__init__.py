"""Clients' questions to PostgreSQL's own catalog: answered by a database in memory that has nothing else."""
