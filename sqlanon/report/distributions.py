"""The section that shows source and release side by side, by column and for the strongest pairs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.report.compare import Column, Pair
from sqlanon.report.document import Block, Picture, Section, Text, make_table
from sqlanon.report.pictures import draw_heat, draw_pairs
from sqlanon.results.figures import share

DRAWN = 3
"""Pairs that are drawn."""
LEAD = (
    "Shares of the rows at each value. The release's are what a reader expects: where a range or a set is published, "
    "its rows are spread evenly over the source's values in it."
)
READING = (
    ("difference", "Percentage points more or less in the release than in the source."),
    (
        "moved rows",
        (
            "The share of rows that would have to change the value for both distributions to agree: 0 % is the same "
            "distribution."
        ),
    ),
    (
        "association",
        "Cramer's V of two columns, 0 to 1: how much the value of one says about the other. It should stay.",
    ),
)
EXACT = "The columns that could identify somebody are published exactly: their distributions are those of the source."


def report_distributions(
    columns: Sequence[Column], strongest: Sequence[Pair], why: str = "", others: int = 0
) -> Section:
    """Each column, then the pairs; ``why``: the reason, where nothing was compared; ``others``: columns left out."""
    blocks: list[Block] = []
    rows: list[tuple[str, ...]]
    if why:
        blocks.append(Text(why))
    elif not columns:
        blocks.append(Text(EXACT))
    else:
        if others:
            rest = "1 other is" if others == 1 else f"{others:,} others are"
            blocks.append(Text(f"The columns that lost the most are compared; {rest} left out."))
        rows = [(column.name, _percent(column.apart)) for column in columns]
        blocks.append(make_table("Distance of the distributions", "column | >moved rows", rows))
    blocks += [_column(column) for column in columns]
    if strongest:
        rows = [(" and ".join(pair.names), f"{pair.source:.3f}", f"{pair.release:.3f}") for pair in strongest]
        blocks.append(make_table("Association of the strongest pairs", "columns | >source | >release", rows))
    blocks += [_pair(pair) for pair in strongest[:DRAWN]]
    return Section("distributions", "Source against release", LEAD, tuple(blocks), READING)


def _column(column: Column) -> Picture:
    rows = [(name, _percent(n), _percent(m), _points(m - n)) for name, n, m in column.bins]
    if column.beyond:
        rows.append(
            ("values that the source does not hold", _percent(0.0), _percent(column.beyond), _points(column.beyond))
        )
    most = max(column.bins, key=lambda item: abs(item[2] - item[1]))
    text = (
        f"{_percent(column.apart)} of the rows would have to move. The largest difference is at {most[0]}: "
        f"{_percent(most[1])} of the source, {_percent(most[2])} of the release."
    )
    figures = make_table(f"{column.name}: shares of rows", "value | >source | >release | >difference", rows)
    bars = [(short, n, m) for short, (_, n, m) in zip(column.short, column.bins, strict=True)]
    return Picture(
        f"{column.name}, source and release",
        text,
        draw_pairs(bars[:-1] if column.others else bars, column.name),
        figures,
    )


def _pair(pair: Pair) -> Picture:
    title = " and ".join(pair.names)
    rows = [
        (pair.labels[0][x], pair.labels[1][y], _percent(n), _percent(m))
        for x, y, n, m in sorted(pair.cells, key=lambda cell: (-max(cell[2:]), cell[:2]))[:12]
    ]
    text = (
        f"Association {pair.source:.3f} in the source, {pair.release:.3f} in the release. {pair.names[0]} across, "
        f"{pair.names[1]} down; the stronger the colour, the more rows."
    )
    figures = make_table(
        f"{title}: the largest cells", f"{_title(pair.names[0])} | {_title(pair.names[1])} | >source | >release", rows
    )
    return Picture(f"{title} together", text, draw_heat(pair.cells, *pair.short, pair.names[0]), figures)


def _title(name: str) -> str:
    return name.replace("|", "\N{BROKEN BAR}")


def _percent(value: float) -> str:
    return share(round(value, 6), 1)


def _points(value: float) -> str:
    return f"{100 * round(value, 6):+.2f}".replace("+0.00", "0.00").replace("-0.00", "0.00")
