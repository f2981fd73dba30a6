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
from sqlanon.release.divide.block_tree import BlockTree
from sqlanon.release.divide.executor_blocks import BLOCKS_OF_PARTITION


class InPieces:
    """Workers in this process.

    Functions sent to them are pickled, each worker gets a few rows, and any of them is called again.
    """

    tasks = 8

    def __init__(self, engine: Any, above: int, block: int) -> None:
        self._engine, self.above, self.block = engine, above, block
        self.sizes: list[int] = []

    def map_arrays(
        self, read: Any, work: Any, table: Any, columns: Any, *, by: str | None = None, groups: int = 1
    ) -> None:
        """See `sqlanon.engines.abilities.Workers`."""
        names = len(self._engine.describe(read.text))
        arrays = self._engine.fetch_arrays(read, ["int64"] * names)
        if by:
            assert by == "block"
            self.sizes += [int(n) for n in np.unique(arrays[0][arrays[0] >= 0], return_counts=True)[1]]
        made = self._call(work, arrays, arrays[0] if by else np.arange(len(arrays[0])) // 70)
        if by:
            block_of = dict(zip(arrays[1].tolist(), arrays[0].tolist(), strict=True))
            of = {(int(one), block_of[int(rid)]) for rid, one in zip(*made[:2], strict=True) if block_of[int(rid)] >= 0}
            assert len(of) == len({one for one, _ in of}), "a class of two blocks"
        made = self._between(made, [name for name, _ in columns])
        kinds = {"integer": np.int32, "bigint": np.int64}
        self._engine.load_arrays(
            table, {name: array.astype(kinds[kind]) for (name, kind), array in zip(columns, made, strict=True)}
        )

    def _call(self, work: Any, arrays: Any, of_row: Any) -> Any:
        """Results of a function for rows, with a call for each number of ``of_row``."""
        sent, parts = pickle.dumps(work), []
        for number in np.unique(of_row):
            part = [array[of_row == number] for array in arrays]
            made, again = (pickle.loads(sent)(part) for _ in range(2))
            assert all((one == other).all() for one, other in zip(made, again, strict=True))
            parts.append(made)
        return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

    def _between(self, arrays: Any, names: list[str]) -> Any:
        """What becomes of the columns of these names on their way."""
        return arrays


class Faulty(InPieces):
    """Workers that lose the first row, or double it, of results with a column of some name."""

    def __init__(self, engine: Any, column: str, block: int, *, twice: bool) -> None:
        super().__init__(engine, 0, block)
        self._column, self._twice, self.spoilt = column, twice, 0

    def _between(self, arrays: Any, names: list[str]) -> Any:
        if self._column not in names or self.spoilt:
            return arrays
        self.spoilt += 1
        return [np.concatenate([array[:1], array]) if self._twice else array[1:] for array in arrays]


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
    assert len(workers.sizes) == 3
    assert sum(workers.sizes) == 500
    assert min(workers.sizes) > 120
    assert min(rows.values()) >= 5
    assert any("3 blocks" in note for note in made.report.notes)


def test_blocks_of_a_sample(filled, monkeypatch):
    """Cuts are those of the sample, here of about 50 of 500 rows; every row is in a block."""
    monkeypatch.setattr("sqlanon.release.divide.executor_blocks.SAMPLED", 16)
    workers = InPieces(filled.engine, 0, 160)
    made, rows = released(filled, monkeypatch, workers)
    assert len(workers.sizes) == 3
    assert sum(workers.sizes) == 500
    assert min(workers.sizes) > 80
    assert min(rows.values()) >= 5
    assert any("3 blocks" in note for note in made.report.notes)


def test_blocks_of_equal_rows(filled, monkeypatch):
    """Nearly all rows are equal, so that blocks have any of them; two codes recur with the row ids, but for a few rows.

    One of two blocks would have these few rows, which are fewer than k, if blocks were chosen by remainders.
    """
    filled.engine.execute(
        "CREATE OR REPLACE TABLE t AS SELECT CASE WHEN i IN (31, 77, 203) THEN 0 ELSE i % 2 END AS a, CASE WHEN "
        "hash(i) % 12 = 0 THEN hash(i, 1) % 40 ELSE 7 END AS b, 1 AS c FROM range(500) AS r(i)"
    )
    workers = InPieces(filled.engine, 0, 60)
    made, rows = released(filled, monkeypatch, workers)
    assert len(workers.sizes) == 8
    assert min(workers.sizes) > 40
    assert min(rows.values()) >= 5
    assert made.report.classes > 10


def test_a_block_of_fewer_rows_than_a_class_is_refused(filled, monkeypatch):
    """A sample may show rows where there are few."""

    def cut(*_: Any) -> BlockTree:
        return BlockTree([0, -1, -1], [99, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1])

    monkeypatch.setattr("sqlanon.release.divide.executor_blocks.cut_sample", cut)
    filled.engine.execute(
        "CREATE OR REPLACE TABLE t AS SELECT least(i, 100) AS a, 1 AS b, 1 AS c FROM range(104) AS r(i)"
    )
    with pytest.raises(InfeasibleError, match="1 of 2 blocks of near rows"):
        released(filled, monkeypatch, InPieces(filled.engine, 0, 26), k=5)


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
    workers = InPieces(filled.engine, 0, 160 // BLOCKS_OF_PARTITION)
    there, others = released(filled, monkeypatch, workers, **options)
    assert len(workers.sizes) > 3
    assert max(workers.sizes) <= 160
    assert rows == others
    assert here.report.classes == there.report.classes > 10


def test_partitions_that_cannot_be_cut_are_no_blocks(filled, monkeypatch):
    options = {"method": "mondrian", "k": 90}
    _, rows = released(filled, monkeypatch, None, **options)
    workers = InPieces(filled.engine, 0, 120 // BLOCKS_OF_PARTITION)
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
        ("mondrian", "part", False),
        ("mondrian", "class", True),
        ("tree", "class", True),
        ("tree", "class", False),
    ],
)
def test_a_row_that_workers_lose_or_double_is_noticed(filled, monkeypatch, method, column, twice):
    block = 160 // BLOCKS_OF_PARTITION if method == "mondrian" else 160
    workers = Faulty(filled.engine, column, block, twice=twice)
    with pytest.raises((DatabaseError, PrivacyViolation), match=r"lost or doubled|have a class|not the staged"):
        released(filled, monkeypatch, workers, method=method, sensitive="s", l=1.2)
    assert workers.spoilt == 1


@pytest.mark.parametrize("column", ["rid", "w0", "link"])
def test_rows_that_workers_exchange_are_noticed(filled, monkeypatch, column):
    """A row has the number, the codes or the link of the next one: of each there are as many as before."""

    class Mixed(InPieces):
        def _between(self, arrays: Any, names: list[str]) -> Any:
            mixed = column in names and names[1] == "class"
            return [np.roll(array, mixed and name == column) for name, array in zip(names, arrays, strict=True)]

    filled.engine.execute("CREATE OR REPLACE TABLE t AS SELECT 'p' || rowid AS name, a, b, c, s FROM t")
    with pytest.raises(DatabaseError, match="not the staged ones"):
        released(filled, monkeypatch, Mixed(filled.engine, 0, 160), sensitive="s", l=1.2, identifiers="name")


@pytest.mark.parametrize("cut", ["loss", "median"])
def test_a_partition_that_no_worker_divides_is_a_defect(filled, monkeypatch, cut):
    """It met the requirements when it was cut: as one class, a whole partition would hide an error of a kernel."""

    def fails(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("sqlanon.methods.mondrian.method.Mondrian.assign", fails)
    workers = InPieces(filled.engine, 0, 160 // BLOCKS_OF_PARTITION)
    with pytest.raises(DatabaseError, match="could not divide"):
        released(filled, monkeypatch, workers, method={"name": "mondrian", "cut": cut})
