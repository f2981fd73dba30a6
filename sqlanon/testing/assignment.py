"""A method alone: its assignment of an encoded table, read row by row.

The other stages of a run are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlanon.database import Database
from sqlanon.engines.base import Row, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.methods.base import Context
from sqlanon.methods.method import make_method
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.prepare.prepare import profile, read_source
from sqlanon.release.prepare.staged_source import PreparedSource, Reading, StagedSource
from sqlanon.spec import Execution, ReleaseSpec
from sqlanon.table.encode import EncodedTable, encode
from sqlanon.table.scratch import Scratch


def prepare_source(
    scratch: Scratch, spec: ReleaseSpec, secret: str = "5" * 64, memory: int = sys.maxsize
) -> PreparedSource:
    """Read and profile the source of a release into scratch tables.

    Args:
        scratch: of the database.
        spec: the release.
        secret: key of hashes.
        memory: bytes for the kernels.
    """
    watch, source = Stopwatch("test", SilentProgress()), scratch.engine.relation(spec.source)
    staged: Any = read_source(scratch, spec, source, watch, Reading(secret, memory))
    assert isinstance(staged, StagedSource)
    units = division_of_run(spec, scratch.engine.workers)
    return profile(scratch, staged, units, watch, memory=memory)


@contextmanager
def encoded_table(db: Database, spec: ReleaseSpec) -> Iterator[tuple[Scratch, PreparedSource, EncodedTable]]:
    """Stage, profile and encode the source of a release."""
    with Scratch(db.engine) as scratch:
        ready = prepare_source(scratch, spec)
        yield (
            scratch,
            ready,
            encode(scratch, ready.roles, ready.stage, replace(ready.domains, persons=()), ready.rows),
        )


def assign_classes(
    staged: Scratch, ready: PreparedSource, encoded: EncodedTable, spec: ReleaseSpec, execution: Execution
) -> tuple[dict[int, int], str]:
    """The class of each row id that a method assigns, and the execution that it reports.

    Raises:
        AssertionError: a row is in two classes.
    """
    with Scratch(staged.engine) as scratch:
        context = Context(
            scratch,
            encoded,
            ready.requirements,
            execution,
            sys.maxsize,
            2,
            SilentProgress(),
            spec.seed or 0,
            search_seed=spec.seed or 0,
        )
        assignment = make_method(spec.method).assign(context)
        rows = rows_by_id(scratch, assignment.table, ["rid", "class"])
    of_row = {read_integer(rid): read_integer(number) for rid, number in rows}
    assert len(rows) == len(of_row), "a row is in two classes"
    return of_row, assignment.execution


def rows_by_id(scratch: Scratch, table: TableRef, columns: Sequence[str]) -> list[Row]:
    """Columns of every row, in the order of row ids."""
    rows = scratch.engine.fetch(scratch.sql("blocks/rows", table=table, columns=["rid", *columns]))
    return [row[1:] for row in sorted(rows, key=lambda row: read_integer(row[0]))]
