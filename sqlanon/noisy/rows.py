"""Synthetic rows of a release: paid scores that choose the pairs of columns, tables of rows, and their verification."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Column, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.fit import draw_rows
from sqlanon.noisy.levels import Dimension
from sqlanon.noisy.pairs import choose_pairs, list_pairs, measure_gap
from sqlanon.noisy.shape import Shape
from sqlanon.noisy.split import Noise
from sqlanon.noisy_spec import BinsAs
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

Names = tuple[tuple[str, str], ...]
Labels = Mapping[str, TableRef]
MOST_APART = 3.0
"""Deviations of the noise by which rows and noisy numbers differ in a group, on average, at most. Correct rows differ
by about one: noise is what they do not have."""
ROUNDED = 3.0
"""Added to it, for whole numbers of rows."""


@dataclass(frozen=True, slots=True)
class PaidTable:
    """A noisy table of which rows are drawn: name, columns, number of groups, and the deviation of the noise."""

    name: str
    by: tuple[str, ...]
    groups: int
    deviation: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How far synthetic rows are from a noisy table.

    Attributes:
        rows: number of synthetic rows.
        mean: mean difference between the rows and the noisy number of a group.
        most: mean difference between the rows and the counted rows of a group, at most, with probability 0.95.
    """

    table: str
    rows: int
    mean: float
    most: float


def choose_tables(scratch: Scratch, shape: Shape, coded: TableRef, noise: Noise) -> Names:
    """The pairs of columns that paid scores choose, by names.

    Args:
        scratch: the run.
        shape: the measurements; the first series are the scores.
        coded: as `sqlanon.noisy.answers.code_rows` makes it.
        noise: the noise of the release.

    Raises:
        PrivacyViolation: a person has several rows where one is counted.

    Cost: a grouping of the rows for each pair.
    """
    scores = add_noise(read_scores(scratch, shape, coded), noise.law, noise.scales[0])
    names = [shape.groups[place].name for place in shape.others]
    return tuple((names[first], names[second]) for first, second in choose_pairs(scores, len(names)))


def read_scores(scratch: Scratch, shape: Shape, coded: TableRef) -> Longs:
    """The exact scores of all pairs of columns; of persons with several complete rows none is counted."""
    single = scratch.table("single")
    codes = [f"c{place + 1}" for place in shape.complete]
    scratch.execute("noisy/single", single=single, coded=coded, codes=codes)
    if scratch.count("noisy/verify_single", single=single, coded=coded, codes=codes):
        raise PrivacyViolation(f"{shape.release}: a person has several rows where one is counted")
    persons = scratch.count("table/count", source=single)
    target = next(place for place in shape.complete if place not in shape.others)
    scores = []
    for first, second in list_pairs(len(shape.others)):
        places = (shape.others[first], shape.others[second], target)
        query = scratch.sql("noisy/crossed", single=single, codes=[f"c{place + 1}" for place in places])
        *cells, many = scratch.fetch_arrays(query, ["int64"] * 4)
        counts = np.zeros([len(shape.groups[place].leaves) for place in places], np.int64)
        counts[tuple(cells)] = many
        if int(counts.sum()) != persons:
            raise PrivacyViolation(f"{shape.release}: a second query does not give the same number of rows")
        scores.append(measure_gap(counts))
    return np.array(scores, np.int64)


def list_paid_tables(shape: Shape, noise: Noise) -> list[PaidTable]:
    """The noisy tables of which rows are drawn."""
    measure = _find_count(shape)
    return [
        PaidTable(table.name, declared.by, table.leaves, noise.deviation(shape.find_series(place, 0, measure, "rows")))
        for place, (declared, table) in enumerate(zip(shape.spec.tables, shape.published, strict=True))
        if declared.of_rows
    ]


def _find_count(shape: Shape) -> int:
    return next(place for place, measure in enumerate(shape.spec.measures) if measure.quantity == "rows")


def measure_name(shape: Shape) -> str:
    """The measure that counts rows."""
    return shape.spec.measures[_find_count(shape)].name


def draw_table(scratch: Scratch, shape: Shape, stored: TableRef, columns: Sequence[Column], physical: TableRef) -> None:
    """Make the table of synthetic rows, of the stored noisy numbers alone: the same rows each time.

    Args:
        scratch: the run.
        shape: the measurements, with the pairs that were chosen.
        stored: the stored noisy numbers.
        columns: those of the source, whose order and whole numbers the rows have.
        physical: the table to make.

    Cost: a sort of the rows for each column.
    """
    of_rows = shape.spec.of_rows
    assert of_rows is not None
    numbers = {shape.groups[place].name: index for index, place in enumerate(shape.others)}
    pairs = [(numbers[first], numbers[second]) for first, second in of_rows.pairs]
    sizes = {group.name: len(group.leaves) for group in shape.groups}
    noisy = []
    for table in of_rows.tables:
        query = scratch.sql("noisy/counts", {"name": table.name}, drawn=stored, measure=measure_name(shape))
        (counts,) = scratch.fetch_arrays(query, ["int64"])
        noisy.append(counts.astype(np.int64).reshape([sizes[name] for name in table.by]))
    rows = draw_rows(pairs, noisy)
    codes = scratch.table("synthetic")
    arrays = {"place": np.arange(len(rows), dtype=np.int64)}
    arrays |= {f"c{index + 1}": np.ascontiguousarray(rows[:, index], np.int32) for index in range(rows.shape[1])}
    scratch.engine.load_arrays(codes, arrays)
    numbers[of_rows.target] = len(numbers)
    labels = load_labels(scratch, shape.groups, {column.name.lower(): column.kind for column in columns}, of_rows.bins)
    order = {column.name.lower(): place for place, column in enumerate(columns)}
    listed = [
        {"name": name, "code": f"c{numbers[name] + 1}", "shown": labels[name]}
        for name in sorted(numbers, key=lambda name: order[name.lower()])
    ]
    scratch.execute("noisy/synthetic", physical=physical, drawn=codes, columns=listed)


def load_labels(
    scratch: Scratch, dimensions: Sequence[Dimension], kinds: Mapping[str, str], bins: BinsAs
) -> dict[str, TableRef]:
    """Scratch tables of code, label and value of each column: the group's text, and what synthetic rows have of it."""
    text = scratch.engine.capabilities.text_type
    tables = {}
    for place, dimension in enumerate(dimensions):
        values, kind = list_shown_values(dimension, kinds.get(dimension.name.lower(), ""), bins)
        tables[dimension.name] = scratch.table(f"labels{place}")
        scratch.engine.load_rows(
            tables[dimension.name],
            [("code", "INTEGER"), ("label", text), ("value", text if kind == "text" else kind)],
            list(zip(range(len(values)), dimension.leaves, values, strict=True)),
        )
    return tables


def list_shown_values(dimension: Dimension, kind: str, bins: BinsAs) -> tuple[Sequence[object], str]:
    """What synthetic rows have of each group, and the type: whole numbers of a column of these, middles, or texts."""
    if dimension.values is None and bins == "middle":
        ends = dimension.ends
        return [float((ends[index] + ends[index + 1]) / 2) for index in range(len(ends) - 1)], "DOUBLE PRECISION"
    if dimension.values is not None and kind == "integer":
        try:
            numbers = [int(value) for value in dimension.values]
        except ValueError:
            return list(dimension.leaves), "text"
        if all(str(number) == value for number, value in zip(numbers, dimension.values, strict=True)) and all(
            abs(number) < 2**63 for number in numbers
        ):
            return numbers, "BIGINT"
    return list(dimension.leaves), "text"


def compare_rows(
    scratch: Scratch, measure: str, tables: Sequence[PaidTable], places: tuple[TableRef, TableRef], labels: Labels
) -> list[Difference]:
    """How far synthetic rows are from each noisy table, by SQL.

    Args:
        scratch: the run.
        measure: the column of the noisy numbers of rows.
        tables: the noisy tables.
        places: the synthetic rows, and the noisy numbers.
        labels: tables of `load_labels`.

    Raises:
        PrivacyViolation: rows are in no declared group, or differ from a table by more than its noise.

    Cost: a grouping of the rows for each table.
    """
    physical, drawn_table = places
    differences = []
    for table in tables:
        rows, undeclared, apart = scratch.numbers(
            "noisy/verify_synthetic",
            {"name": table.name},
            physical=physical,
            drawn=drawn_table,
            measure=measure,
            columns=[{"name": name, "shown": labels[name]} for name in table.by],
        )
        if undeclared:
            raise PrivacyViolation(f"synthetic rows are in no declared group of {table.name}")
        mean = apart / table.groups
        if mean > MOST_APART * table.deviation + ROUNDED:
            raise PrivacyViolation(f"synthetic rows differ from the noisy table {table.name} by more than its noise")
        # |rows - counted| is at most |rows - noisy| + |noise|; the mean of the latter is below the deviation, and the
        # deviation of this sum of independent numbers is below that of the noise times the root of their number.
        noise = table.deviation * (1 + 1.645 / math.sqrt(table.groups))
        differences.append(Difference(table.name, rows, mean, mean + noise))
    return differences
