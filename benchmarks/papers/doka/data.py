"""OCC with all 8 columns and Adult, in the paper's measure.

Extents of numbers are by value, those of the others (count - 1) / (|A| - 1).

The rows are read from the files: solvers are functions of arrays, and a release has other guards, another time and its
own measure of sets.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.loss import ADULT
from examples.sources import data_folder
from sqlanon.kernels.extent import ORDERED, SCALE, SET, Geometry
from sqlanon.methods.shared.kernel_input import rows_of
from sqlanon.papers.matchings.kernels.cost import Coordinates, prepare_rows

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Source:
    """A table: its file, its columns in the paper's order, those that are numbers."""

    name: str
    file: str
    columns: tuple[str, ...]
    numbers: tuple[str, ...]


SOURCES = {
    "occ": Source(
        "occ",
        "census/occ100k.csv",
        ("age", "sex", "education", "marital", "race", "workclass", "country", "occupation"),
        ("age", "education"),
    ),
    "adult": Source("adult", ADULT.file, ADULT.quasi, ("age", "education_num")),
}
"""The paper's table is the census' 500,000 rows with Occupation as the eighth column, of which 100,000 are at hand."""


@dataclass(frozen=True, slots=True)
class Rows:
    """n rows of d columns.

    Attributes:
        codes: int32[d, n]; those of columns that are no numbers are by descending frequency.
        geometry: the columns, with the domains of the whole table.
    """

    codes: Ints
    geometry: Geometry

    @property
    def size(self) -> int:
        """How many rows."""
        return self.codes.shape[1]

    def picked(self, numbers: Longs) -> Rows:
        """Some of the rows, in this order."""
        return Rows(np.ascontiguousarray(self.codes[:, numbers]), self.geometry)

    def columns(self, d: int) -> Rows:
        """The first d columns."""
        return Rows(np.ascontiguousarray(self.codes[:d]), self.geometry._replace(facts=self.geometry.facts[:d]))

    def coordinates(self) -> Coordinates:
        """As solvers take them."""
        rows = rows_of(self.codes, np.arange(self.size, dtype=np.int32), self.geometry)
        return prepare_rows(rows.places, rows.sets, rows.codes, self.geometry)

    def gcp(self, total: int) -> float:
        """The paper's GCP of a sum of extents over all boxes: a mean over rows and columns."""
        return total / (self.size * len(self.codes) * SCALE)


def load(source: Source) -> Rows:
    """The whole table, in the order of its file."""
    with (data_folder() / source.file).open(newline="") as file:
        lines = list(csv.DictReader(file))
    found = [_column([line[name] for line in lines], number=name in source.numbers) for name in source.columns]
    return table([codes for codes, _ in found], [positions for _, positions in found])


def _column(values: list[str], *, number: bool) -> tuple[Ints, Longs | int]:
    """Codes, and positions of a number's values or how many values there are."""
    if number:
        known, codes = np.unique(np.array(values, float), return_inverse=True)
        return codes.astype(np.int32), ((known - known[0]) * SCALE // (known[-1] - known[0])).astype(np.int64)
    _, codes, counts = np.unique(np.array(values), return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int32)
    rank[np.lexsort((np.arange(len(counts)), -counts))] = np.arange(len(counts))
    return rank[codes], len(counts)


def table(columns: list[Ints], domains: list[Longs | int]) -> Rows:
    """Rows from codes and domains: positions of an ordered domain, or the size of a nominal one.

    A set's extent grows by the same whole number with every value, so that it is SCALE less than one value's at most.
    """
    facts, parts, start, bit = np.zeros((len(columns), 9), np.int64), [], 0, 0
    for a, domain in enumerate(domains):
        if isinstance(domain, int):
            own = np.maximum(np.arange(domain + 2) - 1, 0) * (SCALE // max(domain - 1, 1))
            if bit % 64 + domain > 64:
                bit = -(-bit // 64) * 64
            facts[a] = (SET, domain, 0, 1, start, 0, bit // 64, -(-(bit + domain) // 64), bit % 64)
            bit = bit + domain if domain <= 64 else -(-(bit + domain) // 64) * 64
        else:
            own = domain
            facts[a] = (ORDERED, len(domain), 0, 1, start, 0, 0, 0, 0)
        parts.append(own)
        start += len(own)
    return Rows(np.array(columns, np.int32), Geometry(facts, np.concatenate(parts)))
