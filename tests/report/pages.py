"""Tables for reports, and a reader of their HTML that shares no code with what writes it."""

from __future__ import annotations

import re
import uuid
from html.parser import HTMLParser
from typing import Any

from tests.engines import create_table

COLUMNS = {"id": "INTEGER", "age": "INTEGER", "zip": "VARCHAR(20)", "ill": "VARCHAR(20)"}
ILL = ("flu", "asthma", "ulcer")


def people(rows: int = 60) -> list[tuple[Any, ...]]:
    """Rows whose illnesses are spread evenly."""
    return [(1000 + n, 20 + n * 7 % 41, f"zip{n % 5}", ILL[n % 3]) for n in range(rows)]


def released(db: Any, rows: list[tuple[Any, ...]] | None = None, **options: Any) -> str:
    """Release a table; gives the name, which is that of the release and of the source."""
    name = f"p{uuid.uuid4().hex[:10]}"
    release_people(db, name, rows, **options)
    return name


def release_people(db: Any, name: str, rows: list[tuple[Any, ...]] | None = None, **options: Any) -> Any:
    """As `released`, by a name; returns the report of the run."""
    create_table(db, name, COLUMNS, people() if rows is None else rows)
    asked: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "ill", "identifiers": "id", "k": 5, "l": 2} | options
    return db.anonymize(name, name=name, publish=f"release.{name}", **asked).report


class Read(HTMLParser):
    """A page: its text, its tables by caption, its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._caption = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th", "caption"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._rows[-1].append("".join(self._cell or ()))
        elif tag == "caption":
            self._caption = "".join(self._cell or ())
        elif tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell is not None:
            self._cell.append(data)

    def column(self, caption: str, title: str) -> dict[str, str]:
        """A column of a table by the first cell of each row."""
        head, *rows = self.tables[caption]
        place = head.index(title)
        return {row[0]: row[place] for row in rows}


def number(text: str) -> float:
    """What a cell says: a count, a share in percent."""
    found = re.match(r"([\d,.]+)( %)?", text)
    assert found, text
    return float(found[1].replace(",", "")) / (100 if found[2] else 1)
