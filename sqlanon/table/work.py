"""The codes of the staged rows: a table that is made when it is first asked for, or a query for who reads them once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Bind, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.table.wide import FEW, in_parts

if TYPE_CHECKING:
    from sqlanon.table.encode import Domain
    from sqlanon.table.scratch import Scratch


PARTS = 4
"""In so many parts at most the codes are read without a table: each is a scan of the stage, whose rows are wider."""


class Work:
    """rid and a code of every value, for every staged row."""

    def __init__(self, scratch: Scratch, stage: TableRef, domains: Sequence[Domain], rows: int) -> None:
        """Nothing is made yet.

        Args:
            scratch: the run.
            stage: the staged rows.
            domains: the columns that have codes.
            rows: how many rows there are.
        """
        self._scratch, self._stage, self._domains, self._rows = scratch, stage, domains, rows
        self._made: TableRef | None = None
        self._asked = False

    def table(self) -> TableRef:
        """The table (rid integer, one code column per column, never NULL), made now if there is none.

        Cost: a scan of the stage that joins every column with its domain.
        """
        if self._made is None:
            scratch = self._scratch
            with scratch.together():
                self._made = in_parts(scratch, "work", "rid", self._domains, self._part)
                found = scratch.fetch("table/count", source=self._made)[0][0]
            check_rows(self._rows, int(str(found)))
        return self._made

    def query(self, domains: Sequence[Domain], span: tuple[int, int] | None) -> Statement | None:
        """A query for rid and the codes of some columns, which the table would not serve better; None: read the table.

        The engine says whether it pays; it does for the first who reads the rows, if few columns are joined and the rows are read in few
        parts. Who has read all rows calls `check_rows`.

        Args:
            domains: the columns.
            span: only rows with a rid from the first of these numbers to before the second; a reader begins at 0.
        """
        first, past = span or (0, self._rows)
        pays = self._scratch.engine.capabilities.codes_on_the_way and len(domains) <= FEW
        if self._made is not None or not pays or (first == 0 and self._asked):
            return None
        if self._rows > PARTS * (past - first):
            return None
        self._asked = True
        binds: dict[str, Bind] = {} if span is None else {"first": first, "past": past}
        columns = self._columns(domains)
        return self._scratch.sql(
            "table/work", binds, work=None, stage=self._stage, columns=columns, span=span is not None
        )

    def drop(self) -> None:
        """Drop the table, if there is one."""
        if self._made is not None:
            self._scratch.drop(self._made)

    def _part(self, table: TableRef, domains: Sequence[Domain], _: bool) -> list[str]:
        columns = self._columns(domains)
        self._scratch.execute("table/work", work=table, stage=self._stage, columns=columns, span=False)
        return [domain.code for domain in domains]

    def _columns(self, domains: Sequence[Domain]) -> list[dict[str, object]]:
        return [
            {
                "alias": domain.reading.alias,
                "domain": domain.table,
                "type": domain.code_type,
                "nulls": domain.has_null,
                "as_float": domain.reading.as_float,
                "as_text": domain.reading.as_text,
                "listed": domain.reading.listed,
                "code": domain.code,
                "dense": domain.is_dense(self._rows),
            }
            for domain in domains
        ]


def check_rows(rows: int, found: int) -> None:
    """Refuse codes of fewer or more rows than were staged.

    Raises:
        DatabaseError: ``found`` rows have codes, and not ``rows``.
    """
    if found != rows:
        raise DatabaseError(
            "encoding lost or doubled rows; nothing was published. This is a defect of sqlanon"
        )
