"""PostgreSQL's dates and times that Python lacks: infinite dates, years before 1 or after 9999, and 24:00.

They are returned as texts.
"""

from __future__ import annotations

import psycopg
from psycopg.adapt import Buffer
from psycopg.types.datetime import DateLoader, TimeLoader, TimestampLoader, TimestamptzLoader, TimetzLoader


def keep_texts(connection: psycopg.Connection) -> None:
    """Let a connection return values without a Python equivalent as text, in place of an error.

    Examples are ``infinity`` and ``0044-03-15 BC``.
    """
    for name, loader in (("date", _Date), ("timestamp", _Timestamp), ("timestamptz", _Timestamptz)):
        connection.adapters.register_loader(name, loader)
    for name, time_loader in (("time", _Time), ("timetz", _Timetz)):
        connection.adapters.register_loader(name, time_loader)


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


class _Time(TimeLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


class _Timetz(TimetzLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()
