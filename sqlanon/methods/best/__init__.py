"""Method ``best``: several methods, of which the least loss is kept."""
