"""Classes made in an engine's workers.

With one block they are the same as here; with several, borders are exact and no class is over one.
"""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DatabaseError, InfeasibleError, PrivacyViolation
from sqlanon.sqltext import table_name


class InPieces:
    """Workers in this process.

    Functions sent to them are pickled, each worker gets a few rows, and any of them is called again.
    """

    def __init__(self, engine: Any, above: int, block: int) -> None:
        self._engine, self.above, self.block = engine, above, block
        self.sizes: list[int] = []

    def map_arrays(self, read: Any, work: Any, table: Any, columns: Any, *, by: str | None = None) -> None:
        """See `sqlanon.engines.abilities.Workers`."""
        sent = pickle.dumps(work)
        names = len(self._engine.describe(read.text))
        arrays = self._engine.fetch_arrays(read, ["int64"] * names)
        of_row = arrays[0] if by else np.arange(len(arrays[0])) // 70
        kinds = {"integer": np.int32, "bigint": np.int64}
        self._engine.load_arrays(table, {name: np.zeros(0, kinds[kind]) for name, kind in columns})
        for number in np.unique(of_row):
            part = [array[of_row == number] for array in arrays]
            if by:
                self.sizes.append(len(part[0]))
            made, again = (pickle.loads(sent)(part) for _ in range(2))
            assert all((one == other).all() for one, other in zip(made, again, strict=True))
            self._engine.load_arrays(table, {name: array for (name, _), array in zip(columns, made, strict=True)})


class Faulty(InPieces):
    """Workers of which a table has lost its first row, or has it twice: the table with a column of some name."""

    def __init__(self, engine: Any, column: str, *, twice: bool) -> None:
        super().__init__(engine, 0, 160)
        self._column, self._twice, self.spoilt = column, twice, 0

    def map_arrays(self, read: Any, work: Any, table: Any, columns: Any, *, by: str | None = None) -> None:
        """See `InPieces.map_arrays`."""
        super().map_arrays(read, work, table, columns, by=by)
        if self._column in [name for name, _ in columns] and not self.spoilt:
            self.spoilt += 1
            name = table_name(table)
            first = f"rowid = (SELECT min(rowid) FROM {name})"
            self._engine.execute(
                f"INSERT INTO {name} SELECT * FROM {name} WHERE {first}"
                if self._twice
                else f"DELETE FROM {name} WHERE {first}"
            )


@pytest.fixture
def filled(tmp_path):
    duckdb.connect(str(tmp_path / "t.duckdb")).close()
    with sqlanon.connect(f"duckdb:///{tmp_path}/t.duckdb") as db:
        db.engine.execute(
            "CREATE TABLE t AS SELECT hash(i) % 50 AS a, hash(i, 1) % 7 AS b, nullif(hash(i, 2) % 5, 0) AS c, CASE "
            "WHEN i < 300 THEN 'x' ELSE 'y' || i % 3 END AS s, 'v' || hash(i, 3) % 70 AS d, nullif('w' || hash(i, 4) % "
            "4, 'w0') AS e, substr('pqrst', CAST(hash(i, 5) % 5 AS INT) + 1, 1) AS f FROM range(500) AS r(i)"
        )
        yield db


def released(db: Any, monkeypatch: Any, workers: InPieces | None, **options: Any) -> Any:
    """A release, and its rows with their classes."""
    monkeypatch.setattr(DuckDBEngine, "workers", workers)
    options = {"quasi": ["a", "b", "c"], "k": 5, "method": "tree", "seed": 7, "rest": "drop"} | options
    name = "there" if workers else "here"
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM t")
    made = db.anonymize(name, name=name, **options)
    return made, Counter(map(repr, db.engine.fetch(f"SELECT * FROM release.{name}")))


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"method": "hilbert", "sensitive": "s", "l": 1.5}])
def test_one_block_has_the_classes_of_the_whole_table(filled, monkeypatch, options):
    here, rows = released(filled, monkeypatch, None, **options)
    workers = InPieces(filled.engine, 0, 10_000)
    there, others = released(filled, monkeypatch, workers, **options)
    assert workers.sizes == [500]
    assert rows == others
    assert here.report.classes == there.report.classes > 10


def test_several_blocks(filled, monkeypatch):
    workers = InPieces(filled.engine, 0, 160)
    made, rows = released(filled, monkeypatch, workers)
    assert workers.sizes == [167, 167, 166]
    assert min(rows.values()) >= 5
    assert any("3 blocks" in note for note in made.report.notes)


SETS = {
    "quasi": ["a", "d", "e", "f"],
    "hierarchies": {"f": {"groups": {"low": ["p", "q"], "high": ["r", "s", "t"]}}},
}
"""A set of two words, one of NULL and few values, a tree."""


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sensitive": "s", "l": 1.5},
        SETS,
        {"sensitive": ["s", "e"], "l": 1.5, "distinct_l": 2},
        {"method": {"name": "mondrian", "cut": "median"}},
    ],
)
def test_partitions_below_levels_have_the_classes_of_the_whole_table(filled, monkeypatch, options):
    options = {"method": "mondrian"} | options
    here, rows = released(filled, monkeypatch, None, **options)
    workers = InPieces(filled.engine, 0, 160)
    there, others = released(filled, monkeypatch, workers, **options)
    assert len(workers.sizes) > 3
    assert max(workers.sizes) <= 160
    assert rows == others
    assert here.report.classes == there.report.classes > 10


def test_partitions_that_cannot_be_cut_are_no_blocks(filled, monkeypatch):
    options = {"method": "mondrian", "k": 90}
    _, rows = released(filled, monkeypatch, None, **options)
    workers = InPieces(filled.engine, 0, 120)
    _, others = released(filled, monkeypatch, workers, **options)
    assert rows == others
    assert max(rows.values()) > 120
    assert 0 < sum(workers.sizes) < 500


def test_a_block_that_cannot_meet_what_is_asked(filled, monkeypatch):
    """300 of 500 rows have one value: where values follow the quasi column, a block has nothing else."""
    filled.engine.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS a, i AS b, i AS c, CASE WHEN i < 250 THEN 'x' ELSE 'y' || i % 3 END "
        "AS s FROM range(500) AS r(i)"
    )
    with pytest.raises(InfeasibleError, match="blocks of near rows"):
        released(filled, monkeypatch, InPieces(filled.engine, 0, 160), sensitive="s", l=2)


@pytest.mark.parametrize(
    ("method", "column", "twice"),
    [
        ("mondrian", "slot", False),
        ("mondrian", "slot", True),
        ("mondrian", "open", False),
        ("mondrian", "class", True),
        ("tree", "key0", True),
        ("tree", "class", False),
    ],
)
def test_a_row_that_workers_lose_or_double_is_noticed(filled, monkeypatch, method, column, twice):
    workers = Faulty(filled.engine, column, twice=twice)
    with pytest.raises((DatabaseError, PrivacyViolation), match=r"lost or doubled|have a class|not the staged"):
        released(filled, monkeypatch, workers, method=method, sensitive="s", l=1.2)
    assert workers.spoilt == 1


@pytest.mark.parametrize("cut", ["loss", "median"])
def test_a_partition_that_no_worker_divides_is_a_defect(filled, monkeypatch, cut):
    """It met the requirements when it was cut: as one class, a whole partition would hide an error of a kernel."""

    def fails(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("sqlanon.methods.mondrian.method.Mondrian.assign", fails)
    workers = InPieces(filled.engine, 0, 160)
    with pytest.raises(DatabaseError, match="could not divide"):
        released(filled, monkeypatch, workers, method={"name": "mondrian", "cut": cut})
