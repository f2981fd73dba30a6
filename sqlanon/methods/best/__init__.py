"""Method ``best``: several methods, the one that loses least is kept."""

from sqlanon.methods.best.method import Best

__all__ = ["Best"]
