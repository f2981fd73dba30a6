"""Analyst SQL over releases: parse, bind to the release's columns, rewrite with estimates and sound bounds, answer.

The room reads a published release and its metadata table only, never a source.
"""

from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.ask import ask

__all__ = ["Answer", "Bounded", "ask"]
