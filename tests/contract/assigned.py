"""A method alone: its assignment of one encoded sample, read row by row.

The other stages of a run are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlanon.policy import release as spec_of
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.table.encode import EncodedTable
from sqlanon.table.scratch import Scratch
from sqlanon.testing.assignment import assign_classes, encoded_table, rows_by_id
from tests.contract.cases import Case
from tests.oracle.domains import Table


@dataclass(frozen=True)
class Sample:
    """A sample in its encoded form on one engine.

    Attributes:
        arguments: of `Database.anonymize`, without a method.
        table: its rows as the engine stores them in the work table, in the order of row ids, for the oracle.
    """

    arguments: dict[str, Any]
    scratch: Scratch
    ready: PreparedSource
    encoded: EncodedTable
    table: Table

    def classes(self, execution: str, **options: Any) -> tuple[list[list[int]], str]:
        """What a method assigns: lists of row numbers of ``table``, and the execution it reports.

        Args:
            execution: asked of the method.
            options: ``method`` and ``seed``, as `Database.anonymize` takes them.
        """
        spec = spec_of(**{**self.arguments, **options})
        of_row, used = assign_classes(self.scratch, self.ready, self.encoded, spec, execution)
        rids = [int(rid) for (rid,) in rows_by_id(self.scratch, self.encoded.work, ["rid"])]
        assert set(of_row) == set(rids), "a row has no class"
        place = {rid: i for i, rid in enumerate(rids)}
        found: dict[int, list[int]] = {}
        for rid, number in of_row.items():
            found.setdefault(number, []).append(place[rid])
        return list(found.values()), used


@contextmanager
def encoded_sample(db: Any, case: Case, directory: Path) -> Iterator[Sample]:
    """Stage, profile and encode a sample once, for every method and execution."""
    source = case.create(db)
    arguments = {"source": source, **case.arguments(directory)}
    with encoded_table(db, spec_of(**arguments)) as (scratch, ready, encoded):
        quasi = [d.reading.alias for d in ready.quasi]
        sensitive = [d.reading.alias for d in ready.sensitive]
        rows = rows_by_id(scratch, encoded.stage, [*quasi, *sensitive])
        columns = list(zip(*rows, strict=True))
        table = Table(
            tuple(replace(q, values=v) for q, v in zip(case.table.quasi, columns, strict=False)),
            tuple(replace(s, values=v) for s, v in zip(case.table.sensitive, columns[len(quasi) :], strict=True)),
        )
        yield Sample(arguments, scratch, ready, encoded, table)
