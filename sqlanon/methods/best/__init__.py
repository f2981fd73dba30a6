"""Method ``best``: several methods, the one that loses least is kept."""
