"""The first records of a CSV file, and the character that divides the fields."""

from __future__ import annotations

import csv
from collections import Counter

DELIMITERS = ",;\t|"


def records_of(lines: list[str], delimiter: str) -> list[list[str]]:
    """The records of the first lines, as far as they can be read; a record that goes on below them is left out."""
    records: list[list[str]] = []
    reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
    try:
        records.extend(reader)
    except csv.Error:
        if not records:  # the header: that its quotes do not match is found when the file is read
            return list(csv.reader(lines[:1], delimiter=delimiter))
    return records


def likely_delimiter(lines: list[str]) -> str:
    """The delimiter: the character that gives most records the same number of fields."""

    def fits(char: str) -> tuple[bool, int, int]:
        records = [record for record in records_of(lines, char) if record]
        widths = Counter(len(record) for record in records[1:] or records)
        width, times = widths.most_common(1)[0] if widths else (1, 0)
        alike = len(records[0]) == width if records else False
        return (width > 1 and alike and len(widths) == 1, times if width > 1 else 0, width)

    best = max(DELIMITERS, key=fits)
    if fits(best)[1]:
        return best
    return max(DELIMITERS, key=lines[0].count)
