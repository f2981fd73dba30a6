"""Markup of reports in notebooks: short HTML in the manner of the pages of `sqlanon.report`, every text escaped.

There is no style sheet and no script: a notebook has a style, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sqlanon.results.figures import clean, count

MOST = 50
"""Rows of a table, at most."""

_CELL = "padding:.2em 1em .2em 0;border-bottom:1px solid #8886"
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_BAD = "color:#c0392b;font-weight:600"


def warnings(texts: Iterable[str]) -> list[str]:
    """Warnings, each a paragraph."""
    return [f'<p style="{_BAD};margin:.3em 0">{_text(text)}</p>' for text in texts]


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};text-align:left;font-weight:400;opacity:.7">{_text(name)}</th>'
        f'<td style="{_CELL};text-align:left">{_text(value)}</td></tr>'
        for name, value in pairs
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], wrong: Sequence[int] = ()) -> str:
    """A table; ``>`` before a title is a column of numbers. Nothing where there are no rows."""
    if not rows:
        return ""
    sides = ["right" if title.startswith(">") else "left" for title in titles]
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side};opacity:.7">{_text(title.removeprefix(">"))}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    body = "".join(
        f'<tr style="{_BAD if i in wrong else ""}">'
        + "".join(
            f'<td style="{_CELL};text-align:{side}">{_text(cell)}</td>' for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for i, row in enumerate(rows[:MOST])
    )
    more = f"<p>and {count(len(rows) - MOST)} more</p>" if len(rows) > MOST else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def block(title: str, *parts: str) -> str:
    """A title above the parts."""
    return (
        '<div style="overflow-x:auto"><p style="margin:.3em '
        f'0"><strong>{_text(title)}</strong></p>{"".join(parts)}</div>'
    )


def _text(value: str) -> str:
    return escape(clean(value))
