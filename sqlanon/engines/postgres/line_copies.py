"""COPY of lines with the rows of another engine, of which the server's log shows no value.

Of a COPY that is cancelled or refused the log shows the first 100 bytes of the line that was read last. So each line
begins with the value of a boolean that is 100 bytes long, in a column that is dropped afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from psycopg import sql

from sqlanon.engines.base import TableRef
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.postgres.tables import Tables, ident
from sqlanon.errors import DatabaseError, UnsupportedError

_PAD = "f".rjust(100)
"""PostgreSQL takes a boolean with spaces before it."""
_LATE = re.compile(r"\d{6}-| BC")
"""A year of six digits or more, or before our era."""
_YEAR = re.compile(r"(\d+)-")
_FIRST_YEAR = 4713
"""Before our era."""
_LAST_YEARS: Mapping[str, int] = {"date": 5_874_897, "timestamp": 294_276, "zoned": 294_276}


class LineCopies(Tables):
    """A session that takes lines."""

    own_columns = 1

    def _copy_lines(
        self,
        table: TableRef,
        columns: Sequence[tuple[PortableColumn, str]],
        blocks: Iterable[Sequence[str]],
        *,
        form: str,
        where: str,
        advice: str,
    ) -> None:
        """Make a table of lines.

        Args:
            table: the new table.
            columns: the columns, each with a type of PostgreSQL and a collation.
            blocks: lines, as ``sent/rows`` of an engine gives them.
            form: ``CREATE .. TABLE {table} ({columns}) ..``.
            where: begins the error about times.
            advice: ends it.

        Raises:
            DatabaseError: the server refuses a line, or did not take all.
            UnsupportedError: a time is in a year that PostgreSQL cannot hold.
        """
        names = {column.name for column, _ in columns}
        pad = sql.Identifier(next(name for name in map("pad{}".format, count()) if name not in names))
        typed = [(sql.Identifier(column.name), sql.SQL(type_text)) for column, type_text in columns]
        defined = sql.SQL(", ").join(sql.SQL("{} {}").format(*pair) for pair in [*typed, (pad, sql.SQL("boolean"))])
        self._new(table, sql.SQL(form).format(table=ident(table), columns=defined))
        fields = sql.SQL(", ").join([pad, *(name for name, _ in typed)])
        copy_in = sql.SQL("COPY {} ({}) FROM STDIN").format(ident(table), fields)
        dated = [(place, column) for place, (column, _) in enumerate(columns) if column.type.name in _LAST_YEARS]
        sent = 0
        with self._translate_errors(f"load {table}"), self._connection.cursor() as cursor:
            with cursor.copy(copy_in) as rows:
                for block in blocks:
                    text = "".join(f"{_PAD}\t{line}\n" for line in block)
                    if dated and _LATE.search(text) and (name := _find_unheld(dated, block)):
                        raise UnsupportedError(
                            f"{where}: column {name} has times in years that PostgreSQL cannot hold; {advice}"
                        )
                    rows.write(text)
                    sent += len(block)
            if cursor.rowcount != sent:
                raise DatabaseError(f"{table}: {sent} rows were read and {cursor.rowcount} arrived; run again")
            cursor.execute(sql.SQL("ALTER TABLE {} DROP COLUMN {}").format(ident(table), pad))


def _find_unheld(dated: Sequence[tuple[int, PortableColumn]], lines: Sequence[str]) -> str | None:
    """A column with a time that PostgreSQL cannot hold: its error would show the time in the server's log.

    Args:
        dated: the columns of times, each with a place.
        lines: rows.
    """
    for line in lines:
        fields = line.split("\t")
        for place, column in dated:
            for text in fields[place].strip("{}").replace('"', "").split(","):
                year = _YEAR.match(text)
                last = _FIRST_YEAR if text.endswith(" BC") else _LAST_YEARS[column.type.name]
                if year is not None and int(year[1]) > last:
                    return column.name
    return None
