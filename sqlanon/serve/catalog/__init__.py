"""What clients ask of PostgreSQL's own catalog: answered by a database in memory that has nothing else."""
