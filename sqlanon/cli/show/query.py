"""The answer of a query as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlanon.cli.show.text import clean, make_sheet
from sqlanon.query.answer import Bounded, NoiseInterval

if TYPE_CHECKING:
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.query.answer import Answer


UNLISTED = "The source may have more groups: of values that the release shows nowhere (suppressed, or not declared)."
"""Note below an answer that may lack groups."""


UNSETTLED = "The source may have more groups: conditions on groups go by the estimates."
"""Note below an answer whose conditions on groups may leave groups out that the source has."""


LEFT_OUT = "Rows of the source that the release leaves out, and the bounds count in: {}."
"""Below an answer over a release that leaves rows out."""


AS_PUBLISHED = (
    "The bounds are about the rows as published: {} of them are no longer in the source, {} have other values there, "
    "and {} rows of the source are not published (refresh: frozen)."
)
"""Note below an answer over a release with rows that stay as they were published."""


OF_SOURCE = (
    "The bounds are about the source when the version was made: of the published rows {} were no longer in it, {} had "
    "other values there, and {} of its rows are not published (refresh: frozen)."
)
"""The same where bounds of the source are asked for."""


HELD = {"": "no end", "low": "the low end", "high": "the high end", "both": "both ends"}


def answer_table(answer: Answer, *, bounds: bool) -> Sheet:
    """A row for each group: the estimate with bounds, and whether the group is certain."""
    columns: list[tuple[str, str]] = []
    shown = next(
        (cell.interval for row in answer.rows for cell in row.values() if isinstance(cell, Bounded) and cell.interval),
        None,
    )
    noise = isinstance(shown, NoiseInterval)  # which has no bounds
    for name in answer.columns:
        columns.append((clean(name), "right" if name in answer.aggregates else "left"))
        if bounds and name in answer.aggregates:
            columns += [] if noise else [("low .. high", "left"), ("width", "right")]
            if shown is not None:
                columns.append((f"{shown.level:g} of {'noise' if noise else 'sources'}", "left"))
    if bounds:
        columns.append(("certain", "left"))
    rows = []
    for row, certain in zip(answer.rows, answer.certain, strict=True):
        cells: list[str] = []
        for name in answer.columns:
            cell = row[name]
            if not isinstance(cell, Bounded):
                cells.append("NULL" if cell is None else clean(cell))
                continue
            cells.append(_number(cell.estimate))
            if bounds:
                if not noise:
                    cells += [_bounds(cell), "" if cell.width is None else f"{100 * cell.width:,.1f} %"]
                if shown is not None:
                    cells.append(_interval(cell))
        rows.append([*cells, "yes" if certain else "no"] if bounds else cells)
    return make_sheet(columns, rows)


def describe_bounding(answer: Answer) -> str:
    """Remark of intervals of noisy statistics on the rows that bounding cuts; "": there are no such intervals."""
    ends_by_name: dict[str, str] = {}
    for row in answer.rows:
        for name in answer.aggregates:
            interval = row[name].interval
            if isinstance(interval, NoiseInterval):
                ends = HELD[interval.before_bounding]
                ends_by_name[name] = ends if ends_by_name.get(name, ends) == ends else HELD["low"]
    if not ends_by_name:
        return ""
    described = "; ".join(f"{clean(name)}: {ends}" for name, ends in ends_by_name.items())
    return f"Intervals are of what is counted of each person. Before bounding hold as well: {described}."


def _bounds(cell: Bounded) -> str:
    """``12 .. 30``, ``exact``; ``~`` where the bounds are not tight, ``or NULL`` where no row may qualify."""
    if cell.exact:
        return "exact"
    if cell.estimate is None and cell.low is None and cell.high is None and cell.undefined_possible:
        return "NULL"
    wide = "" if cell.tight else "~ "
    maybe = " or NULL" if cell.undefined_possible else ""
    return f"{wide}{_number(cell.low)} .. {_number(cell.high)}{maybe}"


def _interval(cell: Bounded) -> str:
    interval = cell.interval
    if interval is None or cell.exact:
        return ""
    error = f" (+- {interval.error:.2g})" if interval.error else ""
    return f"{_number(interval.low)} .. {_number(interval.high)}{error}"


def _number(value: Any) -> str:  # noqa: ANN401 - an engine's value
    if value is None:
        return "?"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else clean(value)
