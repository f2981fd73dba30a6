"""What the codes of a sensitive column mean, for the few requirements that ask: texts and ranks by value."""

from __future__ import annotations

from sqlanon.privacy.base import Values
from sqlanon.table.encode import Domain
from sqlanon.table.scratch import Scratch

MOST = 10_000_000
"""Different values, at most."""


def values_of(scratch: Scratch, domain: Domain) -> Values:
    """The values of a domain by code. They are in this process only as long as it needs them, and in no message."""
    found = scratch.engine.fetch(scratch.sql("privacy/values", domain=domain.table), max_rows=MOST)
    texts: list[str | None] = [None] * len(found)
    ranks = [0] * len(found)
    for code, rank, text in found:
        texts[int(str(code))], ranks[int(str(code))] = None if text is None else str(text), int(str(rank))
    ordered = domain.reading.column.kind not in ("text", "enum") or domain.reading.spec.ordered == "declared"
    return Values(texts, ranks, ordered)
