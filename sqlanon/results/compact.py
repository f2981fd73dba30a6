"""The report on rewriting a database's files."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class CompactReport(Report):
    """A compaction: files without the remains of dropped tables and deleted rows.

    Attributes:
        written: the file, or the private tables, that were written anew.
        before: bytes that they had.
        after: bytes that they have.
        stays: where values of dropped data can remain all the same, a sentence each.
    """

    written: tuple[str, ...]
    before: int
    after: int
    stays: tuple[str, ...]
