"""Forms of queries that tools and people send, each with its expected verdict, run on every engine."""
