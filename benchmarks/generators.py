"""Synthetic tables from a seed, made chunk by chunk with NumPy and loaded into DuckDB or PostgreSQL.

`ADMISSIONS` is a realistic hospital table of mixed types, `INTEGERS` a census-like table of small integers, `REGISTER`
the same with an identifier and an unpublished column, and `lefevre` the generator of LeFevre et al. (their Figure 9). A
table depends on its seed and number of rows alone: chunk i is drawn from ``default_rng([seed, i])``, so memory stays
small at any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import duckdb
    import psycopg

CHUNK = 250_000
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A table that can be generated, and the roles a release gives its columns.

    Attributes:
        columns: name and SQL type (spelled so that DuckDB and PostgreSQL both take it), in order.
        draw: makes rows ``start .. start + rows`` from a random generator.
        unpublished: columns without a role, which are left out.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    draw: Callable[[np.random.Generator, int, int], Columns]
    quasi: tuple[str, ...]
    sensitive: str
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    accept_unique: tuple[str, ...] = ()
    accept_repeats: tuple[str, ...] = ()
    unpublished: tuple[str, ...] = ()

    def roles(self) -> dict[str, Any]:
        """Keyword arguments for ``Database.anonymize``."""
        names = ("quasi", "sensitive", "identifiers", "insensitive", "accept_unique", "accept_repeats")
        roles = {name: getattr(self, name) for name in names if getattr(self, name)}
        return roles | ({"rest": "drop"} if self.unpublished else {})

    def chunks(self, rows: int, seed: int) -> Iterator[Columns]:
        """The table's rows, `CHUNK` at a time."""
        for number, start in enumerate(range(0, rows, CHUNK)):
            yield self.draw(np.random.default_rng([seed, number]), start, min(CHUNK, rows - start))


_DEPARTMENTS = np.array(
    [
        "cardiology",
        "dermatology",
        "emergency",
        "endocrinology",
        "gastroenterology",
        "geriatrics",
        "gynecology",
        "nephrology",
        "neurology",
        "obstetrics",
        "oncology",
        "ophthalmology",
        "orthopedics",
        "pediatrics",
        "psychiatry",
        "pulmonology",
        "surgery",
        "urology",
    ],
    dtype=object,
)
_INSURANCES = np.array(["self-paid", "public", "private", "company", "student", "pensioner"], dtype=object)
_SEXES = np.array(["female", "male"], dtype=object)
_FIRST = np.array(
    [
        "Ada",
        "Alan",
        "Barbara",
        "Carl",
        "Dana",
        "Emil",
        "Fatima",
        "Georg",
        "Hana",
        "Ivan",
        "Jana",
        "Kofi",
        "Lena",
        "Milan",
        "Nora",
        "Omar",
    ],
    dtype=object,
)
_LAST = np.array(
    [
        "Adler",
        "Bauer",
        "Costa",
        "Diaz",
        "Evans",
        "Fischer",
        "Garcia",
        "Haddad",
        "Ito",
        "Jansen",
        "Kim",
        "Lopez",
        "Moreau",
        "Novak",
        "Okafor",
    ],
    dtype=object,
)
_DIAGNOSES = np.array([f"{group}{number:02d}" for group in "ABCDEFGHIJKLMNOPQR" for number in range(4)], dtype=object)
_ZIPS = 10_000 + 7 * np.sort(np.random.default_rng(7).choice(10_000, 900, replace=False))
_FIRST_DAY = np.datetime64("2022-01-01", "D")


def _pick(rng: np.random.Generator, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """One category a row, by that row's weights."""
    sums = np.cumsum(weights, axis=1)
    at = rng.random(len(weights)) * sums[:, -1]
    return np.asarray((at[:, None] >= sums[:, :-1]).sum(axis=1))


def _admissions(rng: np.random.Generator, start: int, rows: int) -> Columns:
    """Rows in which age and sex steer the department, and those the stay, the diagnosis, the payer and the cost."""
    group = rng.random(rows)
    age = np.where(group < 0.14, rng.gamma(1.2, 4, rows), rng.normal(np.where(group < 0.55, 38, 71), 13))
    age = np.clip(np.abs(age), 0, 99).astype(np.int64)
    female = rng.random(rows) < 0.54
    decade = age // 10
    tilt = np.random.default_rng(11).gamma(0.6, 1.0, (10, 2, len(_DEPARTMENTS)))
    tilt[2:, :, 13] = tilt[:6, :, 5] = 0.0  # no pediatrics for adults, no geriatrics for the young
    tilt[:, 1, [6, 9]] = tilt[5:, :, 9] = tilt[0, :, 9] = 0.0
    department = _pick(rng, tilt[decade, female.astype(np.int64) ^ 1])
    stay = 1 + rng.poisson(0.5 + age / 25 + (department % 5) * 0.8) + rng.geometric(0.5, rows) - 1
    payer = np.ones((10, len(_INSURANCES))) * [0.3, 5, 1.5, 2, 0, 0]
    payer[1:3, 4], payer[6:, 5], payer[6:, 3] = 3, 6, 0.2
    insurance = _pick(rng, payer[decade])
    near = (len(_ZIPS) * rng.beta(0.7, 1.6, rows)).astype(np.int64)
    season = rng.random(rows) * 3 + 0.08 * np.sin(2 * np.pi * rng.random(rows))
    day = np.clip(season * 365, 0, 1_094).astype(np.int64)
    severity = rng.geometric(0.45, rows).clip(1, 4) - 1
    other = rng.random(rows) < 0.12
    family = np.where(other, rng.integers(0, len(_DEPARTMENTS), rows), department)
    cost = np.exp(rng.normal(5.5, 0.5, rows)) * stay * (1 + severity / 2)
    return {
        "id": np.arange(start + 1, start + rows + 1, dtype=np.int64),
        "name": _FIRST[rng.integers(0, len(_FIRST), rows)] + " " + _LAST[rng.integers(0, len(_LAST), rows)],
        "age": age,
        "zip": _ZIPS[near],
        "stay": stay.astype(np.int64),
        "admitted": (_FIRST_DAY + day).astype("datetime64[us]"),
        "sex": _SEXES[female.astype(np.int64) ^ 1],
        "department": _DEPARTMENTS[department],
        "insurance": _INSURANCES[insurance],
        "diagnosis": _DIAGNOSES[family * 4 + severity],
        "cost": np.round(cost, 2),
    }


ADMISSIONS = Synthetic(
    name="admissions",
    columns=(
        ("id", "BIGINT"),
        ("name", "TEXT"),
        ("age", "INTEGER"),
        ("zip", "INTEGER"),
        ("stay", "INTEGER"),
        ("admitted", "DATE"),
        ("sex", "TEXT"),
        ("department", "TEXT"),
        ("insurance", "TEXT"),
        ("diagnosis", "TEXT"),
        ("cost", "DOUBLE PRECISION"),
    ),
    draw=_admissions,
    quasi=("age", "zip", "stay", "admitted", "sex", "department", "insurance"),
    sensitive="diagnosis",
    identifiers=("id", "name"),
    insensitive=("cost",),
    accept_unique=("cost",),
    accept_repeats=("name",),
)
"""A hospital's admissions: number, name, 3 integer, 1 date and 3 text quasi-identifiers, a diagnosis and a cost."""

_SHAPES = {
    "age": (78, 1.0),
    "sex": (2, 1.0),
    "education": (17, 1.4),
    "marital": (6, 2.0),
    "race": (9, 9.0),
    "workclass": (10, 4.0),
    "country": (83, 30.0),
    "salary": (50, 1.2),
}
"""Per column: values of the domain, and how strongly they lean to the first ones."""


def _integers(rng: np.random.Generator, start: int, rows: int) -> Columns:
    """Integers from 0, skewed, all leaning on one hidden wealth."""
    del start
    wealth = rng.normal(size=rows)
    table: Columns = {}
    for place, (name, (size, skew)) in enumerate(_SHAPES.items()):
        lean = 0.45 + 0.1 * (place % 3)
        z = lean * wealth + np.sqrt(1 - lean * lean) * rng.normal(size=rows)
        share = (1 / (1 + np.exp(-1.7 * z))) ** skew
        table[name] = np.minimum(share * size, size - 1).astype(np.int16)
    return table


INTEGERS = Synthetic(
    name="integers",
    columns=tuple((name, "SMALLINT") for name in _SHAPES),
    draw=_integers,
    quasi=tuple(name for name in _SHAPES if name != "salary"),
    sensitive="salary",
)
"""A census-like table: 7 small-integer quasi-identifiers (domains of 2 to 83 values) and a salary class."""

_REMARKS = np.array(["", "moved house", "called twice", "letter returned", "see file"], dtype=object)


def _register(rng: np.random.Generator, start: int, rows: int) -> Columns:
    """The rows of `INTEGERS` with a number of the person, which identifies, and a remark, which is not published."""
    numbers = np.arange(start + 1, start + rows + 1, dtype=np.int64)
    columns = _integers(rng, start, rows)
    return {"person": numbers, **columns, "remark": _REMARKS[rng.integers(0, len(_REMARKS), rows)]}


REGISTER = Synthetic(
    name="register",
    columns=(("person", "BIGINT"), *INTEGERS.columns, ("remark", "TEXT")),
    draw=_register,
    quasi=INTEGERS.quasi,
    sensitive=INTEGERS.sensitive,
    identifiers=("person",),
    unpublished=("remark",),
)
"""The table of `INTEGERS` with an identifier and an unpublished text, as registers have them."""

_NESTED = {
    "born": (30, 12, 10, 8),
    "home": (10, 10, 9),
    "admitted": (30, 12, 3),
    "ward": (6, 6, 5),
    "procedure": (8, 5, 4),
    "job": (4, 6, 8),
    "origin": (5, 5, 8),
    "payer": (3, 3, 4),
    "physician": (5, 3, 2),
}
"""Per column of `NESTED`: how many nodes a node of each level has under it, from the lowest level up."""


def _nested(rng: np.random.Generator, start: int, rows: int) -> Columns:
    """Codes of leaves, all leaning on one hidden severity; nearly all rows differ."""
    del start
    severity = rng.normal(size=rows)
    table: Columns = {}
    for place, (name, branches) in enumerate(_NESTED.items()):
        size = int(np.prod(branches))
        z = 0.4 * severity + np.sqrt(1 - 0.16) * rng.normal(size=rows)
        share = (1 / (1 + np.exp(-1.7 * z))) ** (1 + place % 3)
        table[name] = np.minimum(share * size, size - 1).astype(np.int32)
    table["diagnosis"] = (72 * rng.random(rows) ** 2).astype(np.int16)
    return table


NESTED = Synthetic(
    name="nested",
    columns=(*((name, "INTEGER") for name in _NESTED), ("diagnosis", "SMALLINT")),
    draw=_nested,
    quasi=tuple(_NESTED),
    sensitive="diagnosis",
)
"""A hospital's table for lattices.

It has 9 columns with nested hierarchies of 327,680 nodes together, for `nested_hierarchies`.
"""


def nested_hierarchies(folder: Path) -> dict[str, Path]:
    """Write the hierarchies of `NESTED` into a folder; the file of each column."""
    files = {}
    for name, branches in _NESTED.items():
        sizes = np.cumprod(branches)
        lines = []
        for leaf in range(int(sizes[-1])):
            inner = [f"{level}-{leaf // int(size)}" for level, size in enumerate(sizes[:-1], 1)]
            lines.append(";".join([str(leaf), *inner, "*"]))
        files[name] = folder / f"{name}.csv"
        files[name].write_text("\n".join(lines) + "\n")
    return files


TABLES = {table.name: table for table in (ADMISSIONS, INTEGERS, REGISTER)}


def lefevre(
    rows: int,
    attributes: int,
    *,
    distribution: Literal["uniform", "skewed"],
    seed: int,
    sigma: float = 0.2,
    cardinality: int = 8,
) -> NDArray[np.int16]:
    """LeFevre et al., Figure 9: discrete uniform or discrete skewed attributes with values 0 .. cardinality - 1.

    The skewed ones are multivariate normal, then cut into ``cardinality`` equal-width ranges. The paper gives the mean
    (3.5 for 8 values: the middle) and sigma (.2), not the width of the ranges; here the ranges divide an interval of
    width 1 with the mean at its middle, so that sigma is a share of the domain, which is the reading under which the
    paper's own examples (50 values, sigma .2, Figures 15 and 16) spread over the domain. Attributes are independent,
    and a value outside the interval is drawn again.
    """
    rng = np.random.default_rng(seed)
    if distribution == "uniform":
        return rng.integers(0, cardinality, (rows, attributes), dtype=np.int16)
    points = rng.normal(0.5, sigma, rows * attributes)
    while (outside := (points < 0) | (points >= 1)).any():
        points[outside] = rng.normal(0.5, sigma, int(outside.sum()))
    return np.asarray((points * cardinality).reshape(rows, attributes), dtype=np.int16)


def _declare(name: str, columns: tuple[tuple[str, str], ...]) -> str:
    return f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in columns)})"


def load_duckdb(connection: duckdb.DuckDBPyConnection, table: Synthetic, rows: int, seed: int = 1) -> None:
    """Create the table in a DuckDB database and fill it."""
    connection.execute(_declare(table.name, table.columns))
    for chunk in table.chunks(rows, seed):
        connection.register("chunk", chunk)
        connection.execute(f"INSERT INTO {table.name} SELECT {', '.join(chunk)} FROM chunk")
        connection.unregister("chunk")
    connection.execute("CHECKPOINT")


def load_postgres(connection: psycopg.Connection[Any], table: Synthetic, rows: int, seed: int = 1) -> None:
    """Create the table in a PostgreSQL database, fill it with COPY and ANALYZE it."""
    with connection.cursor() as cursor:
        cursor.execute(_declare(table.name, table.columns).encode())
        for chunk in table.chunks(rows, seed):
            with cursor.copy(f"COPY {table.name} FROM STDIN".encode()) as copy:
                for row in zip(*(values.tolist() for values in chunk.values()), strict=True):
                    copy.write_row(row)
        cursor.execute(f"ANALYZE {table.name}".encode())
    connection.commit()
