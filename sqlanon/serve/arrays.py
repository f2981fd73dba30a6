"""Lists of one dimension in PostgreSQL's binary form."""

from __future__ import annotations

import struct
from collections.abc import Callable

_HEAD, _DIMENSION, _LENGTH = struct.Struct("!iiI"), struct.Struct("!ii"), struct.Struct("!i")
MOST = 10_000
"""Items of a list."""


def write_list(items: list[object], element: int, write: Callable[[object], bytes | None]) -> bytes:
    """A list in binary form.

    Args:
        items: None is NULL.
        element: the number of the items' type.
        write: writes an item.
    """
    if not items:
        return _HEAD.pack(0, 0, element)
    parts = [write(item) for item in items]
    head = _HEAD.pack(1, int(None in parts), element) + _DIMENSION.pack(len(items), 1)
    return head + b"".join(_LENGTH.pack(-1) if part is None else _LENGTH.pack(len(part)) + part for part in parts)


def read_list(data: bytes, element: int, read: Callable[[bytes], object]) -> list[object]:
    """The items of a list in binary form.

    Args:
        data: the bytes from the client.
        element: the required number of the items' type.
        read: reads an item.

    Raises:
        ValueError: it is no such list.
        struct.error: it is too short.
    """
    dimensions, _, kind = _HEAD.unpack_from(data)
    if kind != element or dimensions not in (0, 1):
        raise ValueError("a list of another type")
    count = _DIMENSION.unpack_from(data, _HEAD.size)[0] if dimensions else 0
    offset = _HEAD.size + dimensions * _DIMENSION.size
    if not 0 <= count <= MOST:
        raise ValueError("too many items")
    items: list[object] = []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(data, offset)
        offset += _LENGTH.size
        if length < -1 or length > len(data) - offset:
            raise ValueError("another length")
        items.append(None if length == -1 else read(data[offset : offset + length]))
        offset += max(length, 0)
    if offset != len(data):
        raise ValueError("another length")
    return items
