"""Source against release: how the rows of each spread over the values of a column, and of two columns together.

A reader knows of a value in a range, a set or a node only that it is one of them: the rows are spread evenly over the
values that the source holds of it. (`evaluate` spreads them over all values that it may be, also those that nobody
has.) All is counted in the database; bins come out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import number, read_integer
from sqlanon.evaluate.cubes import Cubes, read_cubes
from sqlanon.evaluate.subject import find_subject
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch

FINE, COARSE = 24, 6
"""Bins of a column by itself, and of one of two."""
MOST_COLUMNS = 24
"""Quasi columns that are compared: each takes a statement, and its picture a place on the page."""
PAIRED_COLUMNS = 8
"""Those of which pairs are made."""
PAIRS = 10
"""The strongest pairs that are kept."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: the source's.
        bins: (values, share of the source's rows, share of the release's that is expected), in the column's order.
        short: name of each bin in a picture.
        others: the last bin is of all values that are too many to be shown.
        apart: half the sum over the bins of the difference of the two shares: 0 the same, 1 nothing in common.
        beyond: share of the release's rows whose values the source does not hold.
    """

    name: str
    bins: tuple[tuple[str, float, float], ...]
    short: tuple[str, ...]
    others: bool
    apart: float
    beyond: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns together.

    Attributes:
        names: of the columns.
        labels: of the bins of each; ``short``: their names in a picture.
        cells: (place in the first, place in the second, share of the source's rows, share of the release's).
        source, release: Cramer's V, 0: the one says nothing of the other, 1: it decides it.
    """

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    short: tuple[tuple[str, ...], tuple[str, ...]]
    cells: tuple[tuple[int, int, float, float], ...]
    source: float
    release: float


@dataclass(frozen=True, slots=True)
class _Side:
    """A column in SQL: its codes, its parts in the release (None: it holds codes), and scratch tables."""

    name: str
    code: str
    part: str | None
    domain: Domain
    bins: TableRef
    even: TableRef | None
    reach: TableRef | None
    coarse: str


def choose_columns(engine: Engine, release: str, losses: Mapping[str, float]) -> tuple[str, ...]:
    """The quasi columns that are compared, in their order: of many those that lost the most."""
    quasi = find_subject(engine, release).quasi
    most = sorted(quasi, key=lambda name: -losses.get(name, 0.0))[:MOST_COLUMNS]
    return tuple(name for name in quasi if name in most)


def compare_release(
    engine: Engine, release: str, chosen: Sequence[str] | None = None
) -> tuple[tuple[Column, ...], tuple[Pair, ...]]:
    """Compare a published release with its source.

    It compares quasi columns, and the most associated pairs of them and the first sensitive column.

    Args:
        engine: where both are.
        release: the name.
        chosen: quasi columns; None: all.

    Raises:
        PolicyError: a table is empty, or the source has changed since the version was published.

    Cost: as a datacube of level 1, and for each pair a join of the distinct pairs of released parts with at most 36
    bins; a statement a column.
    """
    on = find_subject(engine, release)
    with Scratch(engine) as scratch, engine.snapshot():
        both = read_cubes(
            scratch, on, on.quasi if chosen is None else chosen, on.sensitive[0] if on.sensitive else None
        )
        sides = [_side(scratch, both, index) for index in range(len(both.columns))]
        columns = [_column(scratch, both, side, index) for index, side in enumerate(sides)] if both.spreads else []
        sides = sides[:PAIRED_COLUMNS]
        if both.value is not None:
            sides.append(_sensitive(scratch, both.value))
        scratch.fetch("datacube/planned")
        labels = {side.name: _labels(scratch, side.domain, side.bins, "coarse", side.coarse) for side in sides}
        pairs = [
            pair
            for index, side in enumerate(sides[:-1])
            for pair in _pairs(scratch, both, side, sides[index + 1 :], labels)
        ]
    pairs.sort(key=lambda pair: -pair.source)  # those of equal strength stay in the order of the columns
    return tuple(columns), tuple(pairs[:PAIRS])


def _side(scratch: Scratch, both: Cubes, index: int) -> _Side:
    domain, number = both.domains[index], index + 1
    bins, coarse = _bins(scratch, domain, f"bins{number}")
    even = reach = None
    if both.spreads:
        even, reach = scratch.table(f"even{number}"), scratch.table(f"reach{number}")
        scratch.execute("report/even", even=even, spread=both.spreads[index])
        scratch.execute("report/reach", reach=reach, spread=even, bins=bins)
    return _Side(both.columns[index], f"c{number}", f"p{number}" if reach else None, domain, bins, even, reach, coarse)


def _sensitive(scratch: Scratch, domain: Domain) -> _Side:
    bins, coarse = _bins(scratch, domain, "bins_s")
    return _Side(domain.reading.name, "s", None, domain, bins, None, None, coarse)


def _bins(scratch: Scratch, domain: Domain, name: str) -> tuple[TableRef, str]:
    """The table of a column's bins, and how the coarse ones are made."""
    table = scratch.table(name)
    kinds = [_kind(domain, most) for most in (FINE, COARSE)]
    fine, coarse = ({"kind": kind, "most": most} for kind, most in zip(kinds, (FINE, COARSE), strict=True))
    scratch.execute("report/bins", bins=table, domain=domain.table, fine=fine, coarse=coarse)
    return table, kinds[1]


def _kind(domain: Domain, most: int) -> str:
    if domain.distinct + domain.has_null <= most:
        return "each"
    line = domain.reading.treatment == "ordered" and domain.reading.column.kind not in ("text", "enum", "other")
    return "line" if line or isinstance(domain.reading.spec.ordered, tuple) else "top"


_Labels = dict[int, tuple[str, str]]
"""Values of each bin, and its name in a picture."""


def _labels(scratch: Scratch, domain: Domain, bins: TableRef, bin_: str, kind: str) -> _Labels:
    by_bin: _Labels = {}
    for place, many, low, high in scratch.fetch("report/labels", bins=bins, domain=domain.table, bin=bin_):
        values, first = read_integer(many), _format_value(low)
        if values > 1 and kind == "line":
            by_bin[read_integer(place)] = f"{first} to {_format_value(high)}", first
        else:
            by_bin[read_integer(place)] = (
                (first, first) if values == 1 else (f"{values:,} others", f"{values:,} others")
            )
    return by_bin


def _format_value(value: object) -> str:
    if value is None:
        return "NULL"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _column(scratch: Scratch, both: Cubes, side: _Side, index: int) -> Column:
    kind = _kind(side.domain, FINE)
    names = _labels(scratch, side.domain, side.bins, "fine", kind)
    rows = [
        (read_integer(bin_), round_steady(number(n) / both.rows), round_steady(number(m) / both.released_rows))
        for bin_, n, m in scratch.fetch(
            "report/marginal",
            cells=both.cells,
            released=both.released,
            spread=side.even,
            bins=side.bins,
            number=index + 1,
        )
    ]
    beyond = max(1 - math.fsum(m for _, _, m in rows), 0.0)
    return Column(
        name=side.name,
        bins=tuple((names[bin_][0], n, m) for bin_, n, m in rows),
        short=tuple(names[bin_][1] for bin_, _, _ in rows),
        others=kind == "top",
        apart=round_steady((math.fsum(abs(n - m) for _, n, m in rows) + beyond) / 2),
        beyond=round_steady(beyond) if beyond > 1e-8 else 0.0,
    )


def _pairs(
    scratch: Scratch, both: Cubes, column: _Side, others: Sequence[_Side], labels: dict[str, _Labels]
) -> Iterator[Pair]:
    """A column with each of some others, asked in one statement."""

    def read(side: _Side) -> dict[str, object]:
        return {"code": side.code, "part": side.part, "bins": side.bins, "reach": side.reach}

    rows = scratch.fetch(
        "report/joint",
        cells=both.cells,
        released=both.released,
        pairs=[[read(column), read(second)] for second in others],
    )
    by_pair = {
        pair: [(read_integer(x), read_integer(y), number(n), number(m)) for _, x, y, n, m in some]
        for pair, some in groupby(rows, lambda row: read_integer(row[0]))
    }
    for index, second in enumerate(others, 1):
        yield _pair(both, column, second, labels, by_pair.get(index, []))


def _pair(
    both: Cubes, column: _Side, two: _Side, labels: dict[str, _Labels], rows: Sequence[tuple[int, int, float, float]]
) -> Pair:
    places = [{bin_: place for place, bin_ in enumerate(labels[side.name])} for side in (column, two)]
    cells = [(places[0][x], places[1][y], n / both.rows, m / both.released_rows) for x, y, n, m in rows]
    return Pair(
        (column.name, two.name),
        _label_pair(column, two, labels, 0),
        _label_pair(column, two, labels, 1),
        tuple((x, y, round_steady(n), round_steady(m)) for x, y, n, m in cells),
        round_steady(measure_association([(x, y, n) for x, y, n, _ in cells])),
        round_steady(measure_association([(x, y, m) for x, y, _, m in cells])),
    )


def _label_pair(
    column: _Side, two: _Side, labels: dict[str, _Labels], index: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = (tuple(label[index] for label in labels[side.name].values()) for side in (column, two))
    return first, second


def measure_association(cells: Sequence[tuple[int, int, float]]) -> float:
    """Cramer's V of a table of shares, each (row, column, share).

    V = sqrt(sum (p - p_x p_y)^2 / (p_x p_y) / (min(rows, columns) - 1)), Cramer 1946, section 21.9; 0 where a side has
    one value.

    >>> measure_association([(0, 0, 0.5), (1, 1, 0.5)])
    1.0
    >>> measure_association([(0, 0, 0.25), (0, 1, 0.25), (1, 0, 0.25), (1, 1, 0.25)])
    0.0
    """
    across: dict[int, float] = {}
    down: dict[int, float] = {}
    shares: dict[tuple[int, int], float] = {}
    total = math.fsum(share for _, _, share in cells)
    for x, y, share in cells:
        if share > 0:
            shares[x, y] = share / total
            across[x] = across.get(x, 0.0) + share / total
            down[y] = down.get(y, 0.0) + share / total
    fewest = min(len(across), len(down))
    if fewest < 2:
        return 0.0
    chi = math.fsum(
        (shares.get((x, y), 0.0) - px * py) ** 2 / (px * py) for x, px in across.items() for y, py in down.items()
    )
    return min(math.sqrt(chi / (fewest - 1)), 1.0)


def round_steady(value: float) -> float:
    """Without the last digits of a sum, which may depend on its order."""
    return round(value, 10)
