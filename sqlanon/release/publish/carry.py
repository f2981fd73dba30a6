"""Copies tables to another database, as texts that both read alike or as an Arrow stream, and compares the copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.base import Engine, Reception, TableRef, Transfer
from sqlanon.engines.portable import PortableColumn
from sqlanon.errors import PolicyError
from sqlanon.progress import Stopwatch
from sqlanon.release.verify.received_tables import verify_equal
from sqlanon.sqltext import identifier, statement

BLOCK = 10_000
"""Rows that are in memory on their way."""


@dataclass(frozen=True, slots=True)
class CarryRoute:
    """Two databases between which the tables of a release go.

    Attributes:
        release: begins messages.
        source: the database that has the tables.
        target: the database that gets them.
        watch: measures the stages.
    """

    release: str
    source: Engine
    target: Engine
    watch: Stopwatch

    def list_columns(self, table: TableRef) -> list[PortableColumn]:
        """The columns of a table in types that both databases have.

        Raises:
            PolicyError: values of a column would be lost or changed, or its name is too long there.

        Cost: a scan of the table, where it has arrays.
        """
        here, there = transfer_of(self.source), reception_of(self.target)
        limits = self.target.capabilities
        portable_columns, problems = list[PortableColumn](), []
        for column in self.source.look_up([table]).columns(table):
            kind = here.read_type(column)
            if kind is None or there.write_type(kind) is None:
                cast = f"CAST({identifier(column.name)} AS {_suggest(column.kind, column.type)})"
                problems.append(f"{column.name} ({column.shown_type}): {cast}")
            elif len(column.name.encode()) > limits.max_identifier:
                problems.append(f"{column.name}: a name of at most {limits.max_identifier} bytes")
            else:
                portable_columns.append(PortableColumn(column.name, kind))
        problems += [
            f"{name} (arrays of several dimensions, or with another first index than 1): "
            f"CASE WHEN {identifier(name)} IS NOT NULL THEN ARRAY(SELECT UNNEST({identifier(name)})) END"
            for name in here.find_shaped_arrays(table, portable_columns)
        ]
        if problems:
            raise PolicyError(
                f"{self.release}: publish_to: the other place has no type for every value of these columns, or no such "
                f"name: change them in a view of the source: {'; '.join(problems)}"
            )
        most = None if limits.max_columns is None else limits.max_columns - there.own_columns
        if most is not None and len(portable_columns) > most:
            raise PolicyError(
                f"{self.release}: publish_to: {len(portable_columns)} columns are published, and the other place takes "
                f"at most {most}: leave columns out (rest: drop)"
            )
        return portable_columns

    def carry(self, origin: TableRef, copy: TableRef, columns: Sequence[PortableColumn]) -> tuple[int, str]:
        """Send a table, in the open transaction, and compare it with the one here.

        Returns:
            number and hash of the rows.

        Raises:
            PrivacyViolation: the rows that arrived differ.
        """
        here, there = transfer_of(self.source), reception_of(self.target)
        with self.watch.stage("publish"):
            stream = here.stream_arrow(origin, columns) if there.reads_arrow else None
            if stream is not None:
                there.load_arrow(copy, columns, stream)
            else:
                asked_columns = [column.parameters() for column in columns]
                rows = statement("sent/rows", self.source.dialect, target=origin, columns=asked_columns)
                there.load_texts(copy, columns, here.stream_rows(rows, BLOCK))
        with self.watch.stage("verify"):
            return verify_equal(self.source, origin, self.target, copy, columns)


def _suggest(kind: str, type_text: str) -> str:
    """A type that every engine has for the values of a column."""
    if kind == "decimal":
        return "DECIMAL(38, 9)"
    return "TIMESTAMP" if type_text == "TIMESTAMP_NS" else "TEXT"


def transfer_of(engine: Engine) -> Transfer:
    """The ability of an engine that sends rows."""
    assert engine.transfer is not None
    return engine.transfer


def reception_of(engine: Engine) -> Reception:
    """The ability of an engine that takes rows."""
    assert engine.reception is not None
    return engine.reception
