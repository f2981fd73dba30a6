"""PostgreSQL's dates and times that Python lacks: infinite dates, and years before 1 or after 9999.

They are returned as texts.
"""

from __future__ import annotations

import psycopg
from psycopg.adapt import Buffer
from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader


def keep_texts(connection: psycopg.Connection) -> None:
    """Let a connection return values without a Python equivalent as text, in place of an error.

    Examples are ``infinity`` and ``0044-03-15 BC``.
    """
    for name, loader in (("date", _Date), ("timestamp", _Timestamp), ("timestamptz", _Timestamptz)):
        connection.adapters.register_loader(name, loader)


class _Date(DateLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


class _Timestamp(TimestampLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


class _Timestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()
