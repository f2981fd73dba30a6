"""Analyst SQL over releases: parse, bind to the release's columns, rewrite with estimates and sound bounds, answer.

`ask` reads a published release and the metadata table only, never a source; workloads, `evaluate` and `divergence`
compare a release with the source, for owners of both.
"""

from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.ask import ask

__all__ = ["Answer", "Bounded", "ask"]
