"""Method ``best``: runs several methods and keeps the result of least loss."""
