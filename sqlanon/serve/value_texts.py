"""Values as texts, as PostgreSQL writes them: lists in braces, intervals in days and hours, zones in hours."""

from __future__ import annotations

import datetime
import json
import re
from decimal import Decimal

_QUOTED = re.compile(r'[\s{}",\\]|^null\Z|^\Z', re.IGNORECASE | re.ASCII)
"""Items of a list with such texts are in quotation marks."""


def write_text(value: object) -> str:
    """The text of a value.

    Records and maps, of which PostgreSQL has none of that shape, are written as JSON.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = str(value).removesuffix(".0")
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(text, text)
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, datetime.timedelta):
        return _write_interval(value)
    if isinstance(value, datetime.datetime):
        return f"{value.date()} {_write_time(value.timetz())}"
    if isinstance(value, datetime.time):
        return _write_time(value)
    if isinstance(value, list | tuple):
        return f"{{{','.join(map(_write_item, value))}}}"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=write_text)
    return str(value)


def _write_item(value: object) -> str:
    """An item of a list."""
    if value is None:
        return "NULL"
    text = ("f", "t")[value] if isinstance(value, bool) else write_text(value)
    if isinstance(value, list | tuple) or not _QUOTED.search(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write_time(value: datetime.time) -> str:
    zone = value.isoformat()[len(value.replace(tzinfo=None).isoformat()) :]
    text = value.replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if value.microsecond else text) + zone.removesuffix(":00")


def _write_interval(value: datetime.timedelta) -> str:
    """Days and hours with one sign; Python has no months."""
    sign, length = ("-", -value) if value < datetime.timedelta() else ("", value)
    time = (datetime.datetime.min + datetime.timedelta(seconds=length.seconds, microseconds=length.microseconds)).time()
    days = f"{sign}{length.days} day{'' if (sign, length.days) == ('', 1) else 's'}" if length.days else ""
    hours = f"{sign}{_write_time(time)}" if time != datetime.time() or not days else ""
    return f"{days} {hours}".strip()
