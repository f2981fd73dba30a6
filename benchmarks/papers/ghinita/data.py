"""The tables: samples of OCC and SAL with the census' hierarchies, and the paper's correlated synthetic data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples.census.hierarchies import convert
from examples.sources import SAL, data_folder, duckdb_url, load_csv

OCC = "census/occ100k.csv"
QUASI = ("age", "sex", "education", "marital", "race", "workclass", "country")
BETA = (1, 3, 7, 9)
DOMAIN = 10


@dataclass(frozen=True, slots=True)
class Data:
    """A family of tables, one for every number of rows (or every alpha).

    Attributes:
        rows: the default N.
        sizes: N where it is varied.
    """

    name: str
    quasi: tuple[str, ...]
    sensitive: str
    rows: int
    sizes: tuple[int, ...] = ()
    file: str | None = None


CENSUS = (
    Data("occ", QUASI, "occupation", 100_000, (25_000, 50_000, 100_000), OCC),
    Data("sal", QUASI, "salary", 200_000, (50_000, 100_000, 200_000, 400_000), SAL),
)
"""The paper's SA is Occupation, of which 100,000 rows are at hand; SAL reaches its sizes.

Table III's default N is lost in the text; TopDown's times (8 minutes for 50,000 rows, 6 hours for 400,000, "around 2
hours" at the default) say 200,000.
"""

SYNTHETIC = Data("synthetic", ("a1", "a2", "a3", "a4"), "sa", 100_000)


@dataclass(slots=True)
class Loaded:
    """A database with the tables asked for, and the hierarchies' files by column."""

    url: str
    hierarchies: Mapping[str, Path] = field(default_factory=dict)

    def of(self, quasi: Iterable[str]) -> dict[str, Path]:
        """The hierarchies that these columns have."""
        return {column: self.hierarchies[column] for column in quasi if column in self.hierarchies}


def table(data: Data, rows: int, alpha: float | None = None) -> str:
    """The name of one table of a family."""
    return f"{data.name}_{rows}" + ("" if alpha is None else f"_{round(alpha * 100)}")


@contextmanager
def census(data: Data, sizes: Iterable[int], seed: int) -> Iterator[Loaded]:
    """Random samples without replacement, the smaller ones inside the larger ones, and the hierarchies.

    As in the paper ordered codes (age, education) are numeric and the others have a taxonomy.
    """
    import duckdb

    assert data.file is not None
    folder = data_folder()
    with duckdb_url() as url, TemporaryDirectory(prefix="sqlanon-hierarchies-") as made:
        convert(folder / "census" / "hierarchies", Path(made), (*data.quasi, data.sensitive))
        load_csv(url, data.name, folder / data.file)
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            whole = {n: np.asarray(v) for n, v in connection.execute(f"FROM {data.name}").fetchnumpy().items()}
            order = np.random.default_rng(seed).permutation(len(whole[data.sensitive]))
            for rows in sorted(set(sizes)):
                arrays = {name: values[order[:rows]] for name, values in whole.items()}
                _store(connection, table(data, rows), arrays)
        yield Loaded(url, {file.stem: file for file in Path(made).glob("*.csv")})


def correlated(rows: int, alpha: float, seed: int) -> dict[str, NDArray[Any]]:
    """The data of Figure 28: four uniform attributes and an SA that follows them with probability ``alpha``.

    The paper's formula: SA = (1 A1 + 3 A2 + 7 A3 + 9 A4) mod 10 if rand() < alpha, else 10 rand(). "Numerical values
    between 0 and 9" are read as the integers 0 to 9: the formula takes the sum mod 10, and an SA of reals would have no
    repeated values; so 10 rand() is rounded down. The two rand() are independent. The coefficients have an inverse mod
    10, so that a step of 1 in any attribute changes the SA.
    """
    rng = np.random.default_rng([seed, round(alpha * 100)])
    points = rng.integers(0, DOMAIN, (rows, len(BETA)))
    follows = rng.random(rows) < alpha
    value = np.where(follows, points @ np.array(BETA) % DOMAIN, (DOMAIN * rng.random(rows)).astype(np.int64))
    columns = {f"a{place + 1}": points[:, place].astype(np.int16) for place in range(len(BETA))}
    return {**columns, "sa": value.astype(np.int16)}


@contextmanager
def synthetic(rows: int, alphas: Iterable[float], seed: int) -> Iterator[Loaded]:
    """One table for every alpha; no hierarchies."""
    import duckdb

    with duckdb_url() as url:
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            for alpha in alphas:
                _store(connection, table(SYNTHETIC, rows, alpha), correlated(rows, alpha, seed))
        yield Loaded(url)


def _store(connection: Any, name: str, arrays: dict[str, NDArray[Any]]) -> None:
    arrays = {column: np.ascontiguousarray(values) for column, values in arrays.items()}
    connection.register("arrays", arrays)
    connection.execute(f"CREATE TABLE {name} AS SELECT {', '.join(arrays)} FROM arrays")
    connection.unregister("arrays")
