"""Hierarchies of rules.

SQL finds the nodes of the values that occur (table/level_*), and this file writes their labels.

A node's label states the node's range, whatever values occur: `read_node` reads it back, which queries rely on.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlanon.column_spec import Hierarchy, Rule
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError
from sqlanon.table.text import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.engines.base import Kind, TableRef
    from sqlanon.table.reading import Reading
    from sqlanon.table.scratch import Scratch

ROOT = "*"
MOST_HIDDEN = 64
"""Characters of the longest text of a column with `mask`."""
LAST = "\U0010ffff" * 4
"""Suffix that no text continues with: a node of texts ends at the prefix and this."""
TAKES: dict[str, tuple[Kind, ...]] = {
    "steps": ("integer", "float", "decimal", "date", "timestamp"),
    "calendar": ("date", "timestamp"),
    "prefix": ("text",),
    "mask": ("text",),
}
"""The kinds of columns that each rule is for."""

_MOST = 50_000_000
_EPOCH = datetime.date(1970, 1, 1)
_DAY = r"\d{4}-\d\d-\d\d"
_NUMBER = r"-?\d+(?:\.\d+)?"
_NODES = {
    "days": re.compile(rf"({_DAY})\.\.({_DAY})"),
    "whole": re.compile(r"(-?\d+)\.\.(-?\d+)"),
    "below": re.compile(rf"({_NUMBER})\.\.<({_NUMBER})"),
    "calendar": re.compile(r"(\d{4})(?:(s)|-Q([1-4])|-(\d\d))?"),
}
"""The labels of nodes above the leaves, as `_written` writes them."""


def explain_refusal(rule: Rule, kind: Kind, type_of: str) -> str | None:
    """Why a rule is not for a column of this kind and type; None: it is."""
    if kind not in TAKES[rule.kind]:
        return f"{rule.kind} is for {', '.join(TAKES[rule.kind])}, and the column is {type_of}; cast it in a view"
    if rule.kind != "steps":
        return None
    dates = kind in ("date", "timestamp")
    if rule.origin and _is_date(rule.origin) != dates:
        return f"from is a {'number' if dates else 'date'}, and the column is {type_of}"
    if kind not in ("float", "decimal") and _scale(rule) > 1:
        return f"steps of {type_of} are whole {'days' if dates else 'numbers'}"
    return None


def resolve_rule(scratch: Scratch, reading: Reading, rule: Rule, values: TableRef) -> Hierarchy:
    """The hierarchy of the values that occur, the leaves in the order of the values within each node.

    Args:
        scratch: the run.
        reading: the column.
        rule: the rule of the column.
        values: the frequency set of the column.

    Raises:
        PolicyError: no node has some values, such as infinity; the text counts them.

    Cost: a scan of the frequency set; the values are held here, with a label for each level.
    """
    if rule.kind in ("prefix", "mask"):
        paths = _texts(scratch, reading, rule, values)
    else:
        paths = _lines(scratch, reading, rule, values)
    return Hierarchy(f"{rule} of {reading.name}", tuple((*labels, ROOT) for labels in paths))


def _lines(scratch: Scratch, reading: Reading, rule: Rule, values: TableRef) -> list[tuple[str, ...]]:
    """Paths below the root, of numbers and dates."""
    kind, zoned = reading.column.kind, reading.zoned
    if rule.kind == "calendar":
        units = list(rule.levels)
        statement = scratch.sql("table/level_calendar", values=values, units=units, zoned=zoned)
        names = units
    else:
        scale = _scale(rule)
        steps = [int(Fraction(step) * scale) for step in rule.levels]
        statement = scratch.sql(
            "table/level_steps",
            values=values,
            kind=kind,
            scale=scale,
            origin=_origin(rule, scale),
            steps=steps,
            zoned=zoned,
        )
        names = [str(step) for step in steps]
    rows = scratch.engine.fetch(statement, max_rows=_MOST)
    if unknown := sum(None in row[1:] for row in rows):
        problem = (
            "steps count to 10^15"
            if kind in ("integer", "float", "decimal")
            else "the calendar has the years 1 to 9999"
        )
        raise PolicyError(
            f"column {reading.name}: {unknown} of its values are in no node of its hierarchy ({rule}): they are "
            f"infinite, no number, or farther away than it goes ({problem}); make them NULL in a view"
        )
    rows.sort(key=lambda row: row[0])  # type: ignore[arg-type,return-value]
    nodes: dict[tuple[int, object], str] = {}
    paths = []
    for value, *lows in rows:
        labels = [text_of(value)]
        for level, low in enumerate(lows):
            if (level, low) not in nodes:
                nodes[level, low] = _node(rule, names[level], read_integer(low), kind)
            labels.append(nodes[level, low])
        paths.append(tuple(labels))
    return paths


def _texts(scratch: Scratch, reading: Reading, rule: Rule, values: TableRef) -> list[tuple[str, ...]]:
    """Paths below the root, of texts."""
    longest = scratch.count("table/longest", values=values)
    if rule.kind == "mask" and longest > MOST_HIDDEN:
        raise PolicyError(
            f"column {reading.name}: mask is for texts of at most {MOST_HIDDEN} characters, and the longest has "
            f"{longest}; use prefix"
        )
    lengths = [int(length) for length in rule.levels] if rule.kind == "prefix" else []
    hidden = list(range(1, longest)) if rule.kind == "mask" else []
    statement = scratch.sql("table/level_text", values=values, lengths=lengths, hidden=hidden)
    rows = [tuple(str(text) for text in row) for row in scratch.engine.fetch(statement, max_rows=_MOST)]
    if beyond := sum(LAST[0] in row[0] for row in rows):
        raise PolicyError(
            f"column {reading.name}: {beyond} of its values have the character U+10FFFF, which is no text; replace it "
            "in a view"
        )
    return sorted(rows, key=lambda row: row[::-1])


def _scale(rule: Rule) -> int:
    """10 to the number of decimals that steps and origin have."""
    numbers = [*rule.levels, *([rule.origin] if rule.origin and not _is_date(rule.origin) else [])]
    return int(10 ** max(len(number.partition(".")[2]) for number in numbers))


def _origin(rule: Rule, scale: int) -> int:
    if not rule.origin:
        return 0
    if _is_date(rule.origin):
        return (datetime.date.fromisoformat(rule.origin) - _EPOCH).days
    return int(Fraction(rule.origin) * scale)


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(_DAY, text))


def _node(rule: Rule, of: str, low: int, kind: str) -> str:
    """A node's label: of ``steps`` with a width, or of a unit of the calendar, from where it begins (table/level_*)."""
    if rule.kind == "steps":
        scale, width = _scale(rule), int(of)
        if kind in ("date", "timestamp"):
            return _days(low, low + width - 1)
        if kind == "integer":
            return f"{low}..{low + width - 1}"
        return f"{_decimal(low, scale)}..<{_decimal(low + width, scale)}"
    match of:
        case "day":
            return str(_date(low))
        case "week":
            return _days(low, low + 6)
        case "month":
            return f"{low // 12:04}-{low % 12 + 1:02}"
        case "quarter":
            return f"{low // 4:04}-Q{low % 4 + 1}"
        case "year":
            return f"{low:04}"
        case _:
            return f"{low:04}s"


def _days(first: int, last: int) -> str:
    return f"{_date(first)}..{_date(last)}"


def _date(days: int) -> datetime.date:
    """A day, or the first or last day that there is."""
    least, most = datetime.date.min, datetime.date.max
    return _EPOCH + datetime.timedelta(min(max(days, (least - _EPOCH).days), (most - _EPOCH).days))


def _decimal(number: int, scale: int) -> str:
    return format(Decimal(number).scaleb(1 - len(str(scale))).normalize() + 0, "f")


def read_node(rule: Rule, label: str, kind: str, step: Fraction | None) -> tuple[str, str] | None:
    """The least and the greatest value of a node, as texts of the column's type.

    None if the label is that of a value, or of the root.

    Args:
        rule: the rule of the hierarchy.
        label: of a node.
        kind: of the column.
        step: the distance of neighbouring values; None without a distance, as of floats.
    """
    if label == ROOT:
        return None
    if rule.kind in ("prefix", "mask"):
        return (label.rstrip(ROOT), label.rstrip(ROOT) + LAST) if label.endswith(ROOT) else None
    if kind in ("date", "timestamp"):
        ends = _ends_of_days(label)
        if ends is None or (kind == "date" and re.fullmatch(_DAY, label)):
            return None
        clock = ("", "") if kind == "date" else (" 00:00:00", " 23:59:59.999999" if step else " 23:59:59.999999999")
        return f"{ends[0]}{clock[0]}", f"{ends[1]}{clock[1]}"
    if kind == "integer":
        match = _NODES["whole"].fullmatch(label)
        return (match[1], match[2]) if match else None
    match = _NODES["below"].fullmatch(label)
    if not match:
        return None
    if step is not None:  # a value of the column is a multiple of it
        last = (math.ceil(Fraction(match[2]) / step) - 1) * step
        return match[1], _format_exact(last)
    return match[1], repr(math.nextafter(float(match[2]), -math.inf)) if kind == "float" else match[2]


def _format_exact(number: Fraction) -> str:
    return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


def _ends_of_days(label: str) -> tuple[datetime.date, datetime.date] | None:
    match = _NODES["days"].fullmatch(label)
    if match:
        return datetime.date.fromisoformat(match[1]), datetime.date.fromisoformat(match[2])
    if re.fullmatch(_DAY, label):
        day = datetime.date.fromisoformat(label)
        return day, day
    match = _NODES["calendar"].fullmatch(label)
    if not match:
        return None
    year, decade, quarter, month = int(match[1]), match[2], match[3], match[4]
    if decade:
        return datetime.date(max(year, 1), 1, 1), datetime.date(year + 9, 12, 31)
    first = int(month) if month else int(quarter) * 3 - 2 if quarter else 1
    last = int(month) if month else int(quarter) * 3 if quarter else 12
    after = datetime.date(year + 1, 1, 1) if last == 12 and year < 9999 else None
    end = (
        datetime.date(9999, 12, 31)
        if last == 12 and after is None
        else ((after or datetime.date(year, last + 1, 1)) - datetime.timedelta(1))
    )
    return datetime.date(year, first, 1), end


def write_rule(rule: Rule) -> dict[str, Any]:
    """A rule as metadata have it; `read` is the inverse."""
    definition: dict[str, Any] = {rule.kind: list(rule.levels)}
    return definition | ({"from": rule.origin} if rule.origin else {})


def read(metadata: dict[str, Any]) -> Rule:
    """A rule from metadata."""
    kind = next(key for key in metadata if key != "from")
    levels: Sequence[str] = metadata[kind]
    return Rule(kind, tuple(levels), metadata.get("from", ""))  # type: ignore[arg-type]
