"""PostgreSQL's dates and times that Python lacks: infinite dates, years before 1 or after 9999, and 24:00.

They are returned as texts.
"""

from __future__ import annotations

import psycopg
from psycopg.adapt import Buffer, Loader
from psycopg.types.datetime import DateLoader, TimeLoader, TimestampLoader, TimestamptzLoader, TimetzLoader


def keep_texts(connection: psycopg.Connection) -> None:
    """Let a connection return values without a Python equivalent as text, in place of an error.

    Examples are ``infinity`` and ``0044-03-15 BC``.
    """
    loaders = {"date": _Date, "timestamp": _Timestamp, "timestamptz": _Timestamptz, "time": _Time, "timetz": _Timetz}
    for name, loader in loaders.items():
        connection.adapters.register_loader(name, loader)


class _OrText(Loader):
    def load(self, data: Buffer) -> object:
        try:
            return super().load(data)  # type: ignore[safe-super]
        except psycopg.DataError:
            return bytes(data).decode()


class _Date(_OrText, DateLoader):  # type: ignore[misc]
    pass


class _Timestamp(_OrText, TimestampLoader):  # type: ignore[misc]
    pass


class _Timestamptz(_OrText, TimestamptzLoader):  # type: ignore[misc]
    pass


class _Time(_OrText, TimeLoader):  # type: ignore[misc]
    pass


class _Timetz(_OrText, TimetzLoader):  # type: ignore[misc]
    pass
