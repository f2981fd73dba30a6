"""Finds columns of classes with few different values, so that a sort carries small numbers in place of the values.

The numbers of several columns share a word: a sort takes as long for each column that it carries as for the rows.
See sql/duckdb/publish/table.sql.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlanon.engines.rows import read_integer
from sqlanon.formats import RecodedClasses
from sqlanon.table.scratch import Scratch

MANY_ROWS = 100_000
"""Rows below which a sort is cheap whatever it carries."""
FEW_VALUES = 8192
"""Largest number of different values of a column in a list that every block of rows carries.

8192 arrays cost about a tenth of the saving.
"""
FEW_COLUMNS = 32
"""Columns with a list, at most: each is a join of the classes, and an engine plans some joins at a time."""
_WORD, _SPAN = 62, 1 << 24
"""Bits of a word; and integers from the least to the greatest, at most, which need no list."""
_INTEGER = re.compile(r"(?:TINY|SMALL|BIG)INT|INTEGER")
_EXACT = re.compile(r"U(?:TINY|SMALL|BIG)INT|UINTEGER|BOOLEAN|DATE|TIMESTAMP")
"""Types of which equal values look alike."""


def find_repeated(scratch: Scratch, recoded: RecodedClasses, rows: int) -> dict[str, dict[str, Any]]:
    """Published columns that come from the class and have few different values.

    Args:
        scratch: the run.
        recoded: the classes.
        rows: number of rows of the release.

    Returns:
        places of their numbers, see `place_numbers`; an integer's is how much it is above a ``base``, and NULL's 0:
        such a column has its ``type``, and no list (0).

    Cost: a scan of the classes.
    """
    engine = scratch.engine
    if rows < MANY_ROWS or not engine.capabilities.ordered_product:
        return {}
    of_class = recoded.layout.of_class
    columns = [c for c in engine.look_up([recoded.released]).columns(recoded.released) if c.name in of_class]
    listed = [column.name for column in columns if column.type.endswith("[]")]
    exact = [column.name for column in columns if _EXACT.fullmatch(column.type)]
    if len(listed) + len(exact) <= FEW_COLUMNS:
        listed += exact
    integers = {column.name: column.type for column in columns if _INTEGER.fullmatch(column.type)}
    if not listed and not integers:
        return {}
    row = scratch.fetch("publish/different", released=recoded.released, listed=listed, integers=list(integers))[0]
    few = {name: count for name, count in zip(listed, map(read_integer, row), strict=False) if count <= FEW_VALUES}
    ends = row[len(listed) :]
    spans = {
        name: (read_integer(low), read_integer(high))
        for name, low, high in zip(integers, ends[::2], ends[1::2], strict=True)
        if low is not None
    }
    near = {name: (low, high) for name, (low, high) in spans.items() if high - low < _SPAN and abs(low) < 1 << _WORD}
    places = place_numbers([*few, *near], [*few.values(), *(high - low + 1 for low, high in near.values())])
    for name, (low, _) in near.items():
        places[name] |= {"list": 0, "base": low - 1, "type": integers[name]}
    return places


def place_numbers(names: Sequence[str], counts: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Places for numbers of values in words of 62 bits.

    Args:
        names: the columns.
        counts: how many values each has besides NULL.

    Returns:
        for every column the number of its ``list``, from 1; of its ``word``, from 1; the bits before it there
        (``shift``), and the ``mask`` of its own.
    """
    places: dict[str, dict[str, Any]] = {}
    word, shift = 1, 0
    for number, (name, count) in enumerate(zip(names, counts, strict=True), 1):
        bits = (count + 1).bit_length()  # from 1; NULL has a number too
        if shift + bits > _WORD:
            word, shift = word + 1, 0
        places[name] = {"list": number, "word": word, "shift": shift, "mask": (1 << bits) - 1}
        shift += bits
    return places
