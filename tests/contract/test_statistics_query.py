"""Answers over counts: exact where shown cells give them, and no wider than all tables that agree with the view."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.query.answer import Bounded
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import begin
from sqlanon.statistics.program import ProgramResult
from sqlanon.statistics.reach import Reach
from tests.contract.counted import Made, Rows, stays
from tests.oracle.table_reader import tables

pytest.importorskip("highspy")

WHERE = (
    "",
    "WHERE region = 'north'",
    "WHERE region <> 'north' AND sex = 'F'",
    "WHERE region IS NULL OR sex = 'M'",
    "WHERE age > 25",
    "WHERE age BETWEEN 20 AND 44 AND region IN ('north', 'south')",
    "WHERE region LIKE '%th' AND NOT (age = 30)",
    "WHERE age IS NULL",
    "WHERE region = 'nowhere'",
    "WHERE length(region) = 5",
)
ITEMS = (
    "count(*) AS a",
    "sum(n) AS a",
    "count(age) AS a",
    "sum(age) AS a",
    "sum(30 - age) AS a",
    "count(*) FILTER (WHERE sex = 'F') AS a",
    "sum(age) FILTER (WHERE region = 'south') AS a",
    "sum(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS a",
    "count(*) AS a, sum(age) AS b",
)
GROUPS = ("", "region", "sex", "region, sex", "age > 25", "coalesce(region, 'none')")


@pytest.fixture(autouse=True)
def _same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of equal levels are chosen in the same order each time, so that the tests ask the same."""
    monkeypatch.setattr(begin, "secret_of", lambda _: "0" * 64)


def rows_of(seed: object, columns: int) -> Rows:
    """Few persons, so that every table can be tried; enough, so that totals are shown."""
    draw = random.Random(str(seed))
    cells: list[tuple[Any, ...]] = list(itertools.product(("north", "south", None), "FM", (20,)))
    if columns == 3:
        # Of each age one region and sex or two.
        cells = [(region, sex, age) for region, sex, _ in cells for age in draw.sample((20, 30, 45, None), 1)]
    numbers = [1, 2, 4, 5, 6, 7]
    draw.shuffle(numbers)
    return [(*cell, 100 * at + pid) for at, cell in enumerate(cells) for pid in range(numbers[at])]


class Reader:
    """Every table that agrees with a view, in a database of its own, asked by the same SQL."""

    def __init__(self, view: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
        keys = [tuple((row[f"level_{name}"], row[name]) for name in columns) for row in view]
        cells = {key: row["n"] for key, row in zip(keys, view, strict=True)}
        leaves = [key for key in keys if not any(level for level, _ in key)]
        ages = {"20": "20..39", "30": "20..39", "45": "40..59", None: None}

        def inside(leaf: Any, cell: Any) -> bool:
            for name, (_, own), (level, label) in zip(columns, leaf, cell, strict=True):
                if level == (2 if name == "age" else 1):
                    continue
                if label != (ages[own] if level == 1 else own):
                    return False
            return True

        within = {cell: [at for at, leaf in enumerate(leaves) if inside(leaf, cell)] for cell in cells}
        # Leaves of no shown cell have any number: what is greater with one more allowed to them is bounded by nothing.
        most = max(n for n in cells.values() if n is not None) + 1
        self.found = [one for one in tables(leaves, cells, within, most) if min(one) > 0]
        loose = [at for at in range(len(leaves)) if all(cells[c] is None or at not in own for c, own in within.items())]
        self.lesser = {w for w, one in enumerate(self.found) if all(one[at] < most for at in loose)}
        self.db = duckdb.connect()
        self.db.execute("CREATE TABLE t (region TEXT, sex TEXT, age INTEGER, n INTEGER)")
        for leaf in leaves:
            values = dict(zip(columns, (label for _, label in leaf), strict=True))
            age = values.get("age")
            self.db.execute(
                "INSERT INTO t VALUES (?, ?, ?, 0)",
                [values.get("region"), values.get("sex"), None if age is None else int(age)],
            )

        self.db.execute("CREATE TABLE worlds (w INTEGER, i INTEGER, k INTEGER)")
        every = [f"({w}, {i}, {k})" for w, table in enumerate(self.found) for i, k in enumerate(table)]
        self.db.execute(f"INSERT INTO worlds VALUES {', '.join(every)}")

    def ask(self, text: str, keys: int) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
        """Of each group its numbers in every table, and which table it is."""
        rows = "(SELECT worlds.w, t.* FROM t JOIN worlds ON t.rowid = worlds.i, range(worlds.k))"
        head, _, by = text.replace("sum(n)", "sum(1)").partition("GROUP BY ")
        body = head.removeprefix("SELECT ").replace("FROM t", f", {{}} FROM {rows} AS t")
        found = self.db.execute(f"SELECT {body.format('w')} GROUP BY {', '.join(filter(None, ('w', by)))}").fetchall()
        if not found and not by:  # one row of no rows
            found = self.db.execute(f"SELECT {body.format(0)}").fetchall()
        answers: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for row in found:
            answers.setdefault(row[:keys], []).append(row[keys:])
        return answers

    def ends(self, numbers: Sequence[tuple[int, int]]) -> tuple[int | None, int | None]:
        """The least and the greatest of numbers in tables; None: nothing bounds them."""
        lesser = [number for number, world in numbers if world in self.lesser]
        (low, high), every = (min(lesser), max(lesser)), [number for number, _ in numbers]
        return (low if low == min(every) else None, high if high == max(every) else None)


def queries(seed: object, many: int, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    draw = random.Random(str(seed))
    wheres, items, groups = (
        [one for one in some if "age" in columns or "age" not in one] for some in (WHERE, ITEMS, GROUPS)
    )
    for _ in range(many):
        where, item, group = draw.choice(wheres), draw.choice(items), draw.choice(groups)
        keys = [f"{one} AS k{at}" for at, one in enumerate(group.split(", ") if group and "(" not in group else [])]
        keys = keys or ([f"{group} AS k0"] if group else [])
        by = f"GROUP BY {group}" if group else ""
        yield f"SELECT {', '.join([*keys, item])} FROM t {where} {by}", len(keys)
    every = [f"{name} AS k{at}" for at, name in enumerate(columns)]
    yield f"SELECT {', '.join(every)}, count(*) AS a FROM t GROUP BY {', '.join(columns)}", len(columns)


def check(made: Made, seed: object, many: int, columns: Sequence[str]) -> tuple[int, int]:
    """How many numbers were compared, and how many of them have bounds that are apart."""
    reader = Reader(made.rows(), columns)
    assert 1 < len(reader.found) < 5000
    compared = wide = 0
    for text, keys in queries(seed, many, columns):
        answer = made.db.query(text.replace("FROM t", f"FROM release.{made.view}"))
        truth = reader.ask(text, keys)
        found = {tuple(row[f"k{at}"] for at in range(keys)): row for row in answer.rows}
        assert set(found) == set(truth), text
        assert all(answer.certain)
        for group, numbers in truth.items():
            for at, name in enumerate(answer.aggregates):
                cell, seen = found[group][name], [(one[at], one[-1]) for one in numbers]
                if None in {number for number, _ in seen}:
                    assert {number for number, _ in seen} == {None}
                    assert cell.undefined_possible
                    continue
                low, high = reader.ends(seen)
                assert (cell.low, cell.high) == (low, high), text
                assert cell.tight == (None not in (low, high))
                assert cell.exact == (low is not None and low == high)
                compared, wide = compared + 1, wide + (not cell.exact)
    return compared, wide


@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_those_of_every_table_of_two_columns(seed: int, shared_db: Any, tmp_path: Path) -> None:
    asked = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]", "protect": "{persons: 3}"}
    made = Made(shared_db, tmp_path, rows_of(("two", seed), 2), **asked)
    made.run()
    compared, wide = check(made, seed, 12, ("region", "sex"))
    assert compared > 10
    assert wide


@pytest.mark.every_engine
def test_bounds_are_those_of_every_table_with_a_hierarchy(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, rows_of("three 2", 3), protect="{persons: 3}")
    made.run()
    compared, wide = check(made, "three", 12, ("region", "sex", "age"))
    assert compared > 10
    assert wide


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_those_of_every_table(seed: int, shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, rows_of(("many", seed), 3), protect="{persons: 3}")
    made.run()
    check(made, seed, 60, ("region", "sex", "age"))


def test_shown_cells_are_answers_without_a_solver(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = stays("shown")
    made = Made(shared_db, tmp_path, rows)
    made.run()
    shown = [row for row in made.rows() if row["status"] == "shown" and row["level_age"] == 2]
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    for row in shown:
        conditions = [
            f"{name} IS NULL" if row[name] is None else f"{name} = '{row[name].replace(chr(39), 2 * chr(39))}'"
            for name in ("region", "sex")
            if row[f"level_{name}"] == 0
        ]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        (found,) = shared_db.query(f"SELECT count(*) AS c FROM release.{made.view} {where}").rows
        assert found["c"].exact
        assert found["c"].low == row["n"]


def test_the_name_of_the_source_means_the_release(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("named")
    made = Made(shared_db, tmp_path, rows)
    made.run()
    answer = shared_db.query(
        f"SELECT s.sex, count(*) AS c FROM {made.source} AS s GROUP BY s.sex ORDER BY 2 DESC LIMIT 1"
    )
    counts = {sex: sum(row[1] == sex for row in rows) for sex in "FM"}
    assert [(row["sex"], row["c"].estimate) for row in answer.rows] == [("F", counts["F"])]
    assert answer.certain == (True,)


def test_of_linked_tables_the_one_that_has_the_columns_is_asked(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("linked query")
    linked = "[{name: a, by: [region, sex]}, {name: b, by: [sex, age]}]"
    made = Made(shared_db, tmp_path, rows, tables=linked, protect="{persons: 3}")
    made.run()
    for keys in (("region", "sex"), ("sex", "age"), ("age",)):
        answer = shared_db.query(
            f"SELECT {', '.join(keys)}, count(*) AS c FROM release.{made.view} GROUP BY {', '.join(keys)}"
        )
        for row in answer.rows:
            at = [{"region": 0, "sex": 1, "age": 2}[key] for key in keys]
            own = sum(all(one[place] == row[key] for place, key in zip(at, keys, strict=True)) for one in rows)
            assert row["c"].low <= own <= row["c"].high
    with pytest.raises(UnsupportedError, match="no table of the release has these columns together: age, region"):
        shared_db.query(f"SELECT region, count(*) FROM release.{made.view} WHERE age = 20 GROUP BY region")


def test_persons_are_asked_by_their_measure(shared_db: Any, tmp_path: Path) -> None:
    rows = [(region, "F", 20, pid) for pid, region in enumerate("aaaaaabbbbccccc") for _ in range(2)]
    made = Made(
        shared_db, tmp_path, rows, columns="{region: {}}", tables="[{name: a, by: [region]}]", measures="{p: persons}"
    )
    made.run()
    answer = shared_db.query(f"SELECT region, sum(p) AS c FROM release.{made.view} GROUP BY region")
    assert {row["region"]: row["c"].estimate for row in answer.rows} == {"a": 6, "b": 4, "c": 5}
    for rows_of in ("count(*)", "count(region)", "sum(CASE WHEN region = 'a' THEN 1 ELSE 0 END)"):
        with pytest.raises(UnsupportedError, match=r"the release counts persons, and no rows: ask sum\(p\)"):
            shared_db.query(f"SELECT {rows_of} FROM release.{made.view}")
    answer = shared_db.query(f"SELECT region, count(DISTINCT pid) AS c FROM release.{made.view} GROUP BY region")
    assert {row["region"]: row["c"].estimate for row in answer.rows} == {"a": 6, "b": 4, "c": 5}
    text = f"SELECT count(DISTINCT pid) FILTER (WHERE region = 'a') AS a, count(DISTINCT PID) AS c FROM {made.source}"
    (row,) = shared_db.query(f"{text} WHERE region <> 'b'").rows
    assert [(row[name].low, row[name].high, row[name].exact) for name in "ac"] == [(6, 6, True), (11, 11, True)]
    (row,) = shared_db.query(f"{text} WHERE region = 'none'").rows
    assert [(row[name].low, row[name].high) for name in "ac"] == [(0, 0), (0, 0)]


@pytest.mark.parametrize("how", ["one", "distinct"])
def test_persons_of_rows_without_one_are_no_distinct_values(how: str, shared_db: Any, tmp_path: Path) -> None:
    rows = [(region, "F", 20, pid or None) for pid, region in enumerate("aaaaaabbbb")]
    columns, tables = "{region: {}}", "[{name: a, by: [region]}]"
    made = Made(shared_db, tmp_path, rows, columns=columns, tables=tables, measures="{p: persons}")
    made.file.write_text(made.file.read_text().replace("person: pid\n", f"person: pid\n    null_person: {how}\n"))
    made.run()
    (row,) = shared_db.query(f"SELECT sum(p) AS c FROM release.{made.view}").rows
    assert row["c"].estimate == 10
    with pytest.raises(UnsupportedError, match=r"rows without a pid are counted as persons .*: ask sum\(p\)"):
        shared_db.query(f"SELECT count(DISTINCT pid) FROM release.{made.view}")


REFUSED = {
    "SELECT * FROM {view}": "has no rows",
    "SELECT region FROM {view}": "has no rows",
    "SELECT avg(age) FROM {view}": "over counts ask",
    "SELECT max(age) FROM {view}": "over counts ask",
    "SELECT count(DISTINCT region) FROM {view}": "over counts ask",
    "SELECT count(DISTINCT pid) FROM {view}": r"no measure of persons: it has n \(count\); publish one",
    "SELECT sum(DISTINCT age) FROM {view}": "over counts ask",
    "SELECT max(pid) FROM {view}": "has no column",
    "SELECT pid, count(*) FROM {view} GROUP BY pid": "has no column",
    "SELECT count(*) + 1 FROM {view}": "over counts ask",
    "SELECT sex, count(*) FROM {view} GROUP BY region": "does not accept this query",
    "SELECT count(*) FROM {view} WHERE n > 3": "n is a number of cells",
    "SELECT n, count(*) FROM {view} GROUP BY n": "n is a number of cells",
    "SELECT sum(n + 1) FROM {view}": "n is a number of cells",
    "SELECT count(*) FROM {view} WHERE pid = 3": "has no column",
    "SELECT count(*) FROM {view} WHERE level_region = 1": "has no column",
    "SELECT count(*) FROM {view} GROUP BY region HAVING count(*) > 3": "HAVING",
    "SELECT region, count(*), rank() OVER (ORDER BY count(*)) FROM {view} GROUP BY region": "over counts ask",
    "SELECT count(*) FROM {view} a JOIN {view} b USING (sex)": "joins are not answered",
    "SELECT count(*) FROM {view} WHERE age > (SELECT count(*) FROM {view})": "subqueries",
    "SELECT count(*) FROM (SELECT DISTINCT region, sex FROM {view}) AS q": "groups of groups",
    "SELECT sum(age * 0.5) FROM {view}": "sums are of whole numbers",
    "SELECT sum(CAST(age AS BIGINT) * 100000000) FROM {view}": "sums are of whole numbers",
    "SELECT count(*) FROM {view} WHERE strange(age) = 1": "this function is not answered",
}


def test_what_has_no_answer_is_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("refused query"))
    made.run()
    for text, reason in REFUSED.items():
        with pytest.raises(UnsupportedError, match=reason) as raised:
            shared_db.query(text.format(view=f"release.{made.view}"))
        assert raised.value.problems


def test_a_query_out_of_time_has_wider_bounds_and_no_wrong_ones(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, stays("late"))
    made.run()
    text = f"SELECT region, sex, age, count(*) AS c FROM release.{made.view} GROUP BY region, sex, age"

    def found() -> dict[tuple[Any, ...], Bounded]:
        return {(row["region"], row["sex"], row["age"]): row["c"] for row in shared_db.query(text).rows}

    sharp = found()
    monkeypatch.setattr(Reach, "_solve", lambda *_: ProgramResult())
    wide = found()
    assert any(not cell.tight for cell in wide.values())
    for key, cell in wide.items():
        assert cell.low <= sharp[key].low
        assert cell.high >= sharp[key].high


def test_a_view_that_lacks_a_cell_is_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("changed"))
    made.run()
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    shared_db.engine.execute(f"DELETE FROM _sqlanon.{entry.physical} WHERE region = 'north' AND level_sex = 1")
    with pytest.raises(PolicyError, match="lacks cells"):
        shared_db.query(f"SELECT count(*) FROM release.{made.view}")
