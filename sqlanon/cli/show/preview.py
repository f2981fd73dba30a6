"""A preview: rows of the source side by side with their published form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.cli.show.run import warn_of_exposure
from sqlanon.cli.show.text import clean, make_sheet, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.release.preview import Preview


def preview_report(screen: Screen, preview: Preview, following: str) -> None:
    """Show the rows; ``following`` is the command that publishes."""
    screen.show(
        f"release {clean(preview.release)}: {len(preview.pairs)} of {things(preview.rows, 'row')} of "
        f"{clean(preview.source)}, drawn at random",
        f"  {things(preview.classes, 'class')}, the smallest of {things(preview.min_class, 'row')}; nothing was "
        "published",
        "  This shows the source. A run draws anew, so that its classes may differ.",
        *warn_of_exposure(preview.exposed, preview.min_class),
        "",
    )
    # Where the screen is too narrow, columns that are published as they are go first, then the last ones.
    same = [
        names == (name,) and all(after is None or before[name] == after[name] for before, after in preview.pairs)
        for name, names in preview.columns
    ]
    headings: list[tuple[str, str, int]] = [("row", "right", 0)]
    headings += [(name, "wrap", place + 1000 * same[place]) for place, (name, _) in enumerate(preview.columns)]
    rows = [
        [str(number), *(_cell(name, names, before, after) for name, names in preview.columns)]
        for number, (before, after) in enumerate(preview.pairs, 1)
    ]
    screen.show(make_sheet(headings, rows), "", f"next: {following}")


def _cell(name: str, names: Sequence[str], before: Mapping[str, object], after: Mapping[str, object] | None) -> str:
    if after is None:
        return f"{_text(before[name])} -> (left out)"
    if not names:
        return f"{_text(before[name])} -> (in another table)"
    return f"{_text(before[name])} -> {_format_published(name, names, after)}"


def _format_published(name: str, names: Sequence[str], after: Mapping[str, object]) -> str:
    values = {column.removeprefix(name).removeprefix("_"): after[column] for column in names}
    if "lo" in values and "hi" in values:
        low, high = _text(values.pop("lo")), _text(values.pop("hi"))
        box = low if low == high else f"{low} .. {high}"
        return ", ".join([box, *(f"{part} {_text(value)}" for part, value in values.items())])
    return ", ".join(f"{part} {_text(value)}".strip() for part, value in values.items())


def _text(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(_text, value)) + "}"
    return str(value)
