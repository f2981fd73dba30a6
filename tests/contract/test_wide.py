"""Tables of many columns and of long texts: right, linear in their columns, or refused before anything is made."""

from __future__ import annotations

import tracemalloc
from collections import Counter, defaultdict
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.declared import METHODS
from sqlanon.declared.cost import COLUMNS, ROWS, K
from sqlanon.engines.base import Statement
from sqlanon.loss.extents import measure_extents
from sqlanon.release.prepare.width_limits import COPIES
from sqlanon.spec import MethodSpec
from sqlanon.table.scratch import Scratch
from sqlanon.testing.assignment import prepare_source
from tests.engines import ENGINES, PAIR, read_table

MOST_JOINS = 20
"""Joins in one statement: both ends of a range for each of a few columns."""


def wide(db: Any, columns: int, rows: int = 24) -> list[str]:
    """A table of so many quasi columns: numbers, numbers with NULLs, few words, and a key."""
    kinds = (
        "CAST((i * {c} + 3 * i * i) % {m} AS INTEGER)",
        "CASE WHEN (i + {c}) % 7 > 0 THEN CAST((i * {c}) % {m} AS INTEGER) END",
        "CHR(CAST(97 + (i * {c}) % 5 AS INTEGER))",
    )
    names = [f"c{c}" for c in range(columns)]
    listed = ", ".join(f"{kinds[c % 3].format(c=c + 1, m=3 + c % 11)} AS {name}" for c, name in enumerate(names))
    db.engine.execute("DROP TABLE IF EXISTS wide CASCADE")
    db.engine.execute(f"CREATE TABLE wide AS SELECT i AS id, {listed} FROM generate_series(1, {rows}) AS g(i)")
    return names


def spec_of(names: list[str], **changes: Any) -> Any:
    asked = {
        "source": "wide",
        "name": "wide",
        "publish": "release.wide",
        "quasi": names,
        "insensitive": "id",
        "accept_unique": "id",
        "k": 3,
        "seed": 1,
    }
    return policy.release(**{**asked, **changes})


@pytest.mark.thorough
def test_levels_of_many_columns_are_measured_as_those_of_few(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes of a few columns each are joined with the levels that are published of them."""
    spec, found = spec_of(wide(shared_db, 5), method={"name": "fulldomain", "search": "global"}, metrics="all"), []
    for few in (8, 2):
        monkeypatch.setattr("sqlanon.table.wide_tables.FEW", few)
        report = shared_db.run(spec, full=True)
        found.append((report.loss, Counter(map(repr, read_table(shared_db, ("release", "wide"))))))
    assert found[0] == found[1]


@pytest.mark.parametrize(("columns", "few"), [(9, 8), (20, 3)])
def test_many_columns_are_released_as_few_are(
    shared_db: Any, columns: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every box is that of its rows, recounted here.

    No statement joins more tables than an engine plans at once.
    """
    names = wide(shared_db, columns)
    joins = []

    def counting(kind: str) -> Any:
        run = getattr(shared_db.engine, kind)

        def counted(statement: Any, *rest: Any, **how: Any) -> Any:
            text = statement.text if isinstance(statement, Statement) else statement
            joins.append(text.upper().count("JOIN "))
            return run(statement, *rest, **how)

        return counted

    with monkeypatch.context() as patched:
        patched.setattr("sqlanon.table.wide_tables.FEW", few)  # so that parts of parts are joined
        for kind in ("execute", "fetch", "fetch_arrays"):
            patched.setattr(shared_db.engine, kind, counting(kind))
        shared_db.run(spec_of(names), full=True)
    assert max(joins) <= MOST_JOINS
    source = {row[0]: row[1:] for row in shared_db.engine.fetch(f"SELECT id, {', '.join(names)} FROM wide")}
    shown = [column.name for column in shared_db.engine.relation("release.wide").columns]
    released = [dict(zip(shown, row, strict=True)) for row in shared_db.engine.fetch("SELECT * FROM release.wide")]
    classes = defaultdict(list)
    for row in released:
        key = tuple(str(row[name]) for name in shown if name != "id")
        classes[key].append(row)
    assert len(released) == len(source) == 24
    for rows in classes.values():
        assert len(rows) >= 3
        for at, name in enumerate(names):
            values = [source[row["id"]][at] for row in rows]
            known = [value for value in values if value is not None]
            if at % 3 == 2:
                assert sorted(rows[0][name]) == sorted(set(known))
            elif len(known) == len(values):
                assert (rows[0][f"{name}_lo"], rows[0][f"{name}_hi"]) == (min(known), max(known))
            else:
                assert rows[0][f"{name}_null"] == ("some" if known else "all")
                ends = (min(known), max(known)) if known else (None, None)
                assert (rows[0][f"{name}_lo"], rows[0][f"{name}_hi"]) == ends


def test_too_many_columns_for_postgres(connect: Any) -> None:
    """A row of it holds 8 kB: `plan` refuses what `run` could not store, and DuckDB takes it."""
    db = connect(PAIR[1])
    names = wide(db, 300, 12)
    with pytest.raises(sqlanon.PolicyError, match=r"300 quasi columns are too many .* About (\d+) quasi") as refused:
        db.plan(spec_of(names))
    most = int(str(refused.value).split("About ")[1].split()[0])
    assert 100 < most < 300
    assert not db.releases()


def test_long_texts_do_not_fit(shared_db: Any) -> None:
    """DuckDB holds 2,048 rows at once however wide they are; PostgreSQL one."""
    shared_db.engine.execute("DROP TABLE IF EXISTS fat CASCADE")
    shared_db.engine.execute(
        "CREATE TABLE fat AS SELECT i AS id, i % 4 AS q, repeat(chr(97 + CAST(i % 3 AS INTEGER)), 100000) AS note "
        "FROM generate_series(1, 400) AS g(i)"
    )
    spec = policy.release(
        source="fat",
        name="fat",
        publish="release.fat",
        quasi="q",
        insensitive="note",
        identifiers="id",
        k=2,
        memory="64MiB",
    )
    if shared_db.engine.capabilities.block_rows == 1:
        assert shared_db.plan(spec).rows == 400
        return
    enough = (400 * 100_000 * COPIES >> 20) + 1
    reported = rf"400 rows.*have 38 MiB.*may use 64 MiB: raise memory to {enough}MiB.*note"
    for what in (shared_db.plan, shared_db.run):
        with pytest.raises(sqlanon.PolicyError, match=reported):
            what(spec)
    assert not [row for row in shared_db.releases() if row.release == "fat"]


@pytest.mark.thorough
def test_no_text_comes_to_python(connect: Any) -> None:
    """What is released as it is stays in the database: Python's own memory does not grow with it."""
    db = connect(ENGINES[0])
    db.engine.execute(
        "CREATE TABLE fat AS SELECT i AS id, i % 4 AS q, repeat(chr(97 + CAST(i % 3 AS INTEGER)), 200000) AS note "
        "FROM range(100) AS g(i)"
    )
    db.engine.execute("CREATE TABLE thin AS SELECT id, q, 'a' AS note FROM fat")
    db.anonymize("thin", quasi="q", insensitive="note", identifiers="id", k=2)  # what is imported and loaded once
    tracemalloc.start()
    db.anonymize("fat", quasi="q", insensitive="note", identifiers="id", k=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # all texts together


def test_every_method_says_what_it_costs() -> None:
    """At the stated table the stated seconds; more rows, columns and memory never cost less."""
    for name, kind in METHODS.items():
        cost = kind.cost
        assert cost.time(ROWS, COLUMNS, K) == pytest.approx(cost.start + cost.seconds), name
        assert cost.time(100 * ROWS, COLUMNS, K) > 10 * cost.seconds
        assert cost.time(ROWS, 4 * COLUMNS, K) > cost.time(ROWS, COLUMNS, K)
        assert cost.memory(ROWS, 2 * COLUMNS) > cost.memory(ROWS, COLUMNS) > 0
        assert cost.worst >= 1
    slow, fast = METHODS["topdown"].cost, METHODS["tree"].cost
    assert slow.time(30_000, 8, 10) * slow.worst > 60  # it took 98 s there
    assert slow.time(30_000, 8, 10) > 20 * fast.time(30_000, 8, 10)


def test_plan_says_it(shared_db: Any) -> None:
    names = wide(shared_db, 4)
    reported = {name: shared_db.plan(spec_of(names, method=name)).to_dict()["estimate"] for name in ("tree", "topdown")}
    for guess in reported.values():
        assert 0 < guess["seconds"] <= guess["most_seconds"]
        assert guess["memory"] > 0
        assert 0 < guess["sql_seconds"] <= guess["most_sql_seconds"]
    assert MethodSpec("tree").name in reported


@pytest.mark.thorough
def test_many_columns_along_the_curve_in_sql(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of the curve are made of a few columns at a time, and are those of all at once."""
    spec, made = spec_of(wide(shared_db, 9), method="hilbert", execution="pushdown"), []
    for few in (20, 4):
        with monkeypatch.context() as patched:
            patched.setattr("sqlanon.table.wide_tables.FEW", few)
            shared_db.run(spec, full=True)
        made.append(sorted(map(repr, shared_db.engine.fetch("SELECT * FROM release.wide"))))
    assert made[0] == made[1]


def test_widest_classes_of_many_columns_are_measured_a_few_at_a_time(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One class of all rows: its extent in a column of numbers is the column's range."""
    monkeypatch.setattr("sqlanon.table.wide_tables.FEW", 2)
    spec, text = spec_of(wide(shared_db, 7)), shared_db.engine.capabilities.text_type
    with Scratch(shared_db.engine) as scratch:
        ready = prepare_source(scratch, spec, memory=1 << 30)
        kinds = (("lo", "INTEGER"), ("hi", "INTEGER"), ("size", "INTEGER"), ("null", text))
        columns = [(f"{part}_{d.code}", kind) for d in ready.quasi for part, kind in kinds]
        box = [cell for d in ready.quasi for cell in (int(d.has_null), d.codes - 1, d.size, "none")]
        boxes = scratch.table("boxes")
        shared_db.engine.load_rows(boxes, columns, [tuple(box)])
        found = measure_extents(scratch, boxes, ready.quasi)
    for domain in ready.quasi:
        name = domain.reading.name
        ends = "count(DISTINCT {0})" if domain.reading.treatment == "nominal" else "max({0}) - min({0})"
        ((widest,),) = shared_db.engine.fetch(f"SELECT {ends.format(name)} FROM wide")
        assert (int(found[name].largest), found[name].unbounded) == (int(str(widest)), 0), name


def test_cuts_in_sql_of_many_columns_are_refused(shared_db: Any) -> None:
    spec = spec_of(wide(shared_db, 33), method="mondrian", execution="pushdown")
    with pytest.raises(sqlanon.PolicyError, match=r"at most 32 quasi columns, here are 33: about \d+ minutes"):
        shared_db.plan(spec)


def test_plan_estimates_the_execution_that_is_asked(shared_db: Any) -> None:
    """SQL cuts a tree many times slower than the kernel; both grow with the square of the columns."""
    names = wide(shared_db, 6)
    kernel, pushed = (
        shared_db.plan(spec_of(names, method="mondrian", execution=how)).estimate.seconds
        for how in ("kernel", "pushdown")
    )
    assert pushed > 20 * kernel
    for name in ("tree", "mondrian"):
        few, many = (METHODS[name].cost.time(ROWS, columns, K) for columns in (300, 3000))
        assert many > 60 * few, name


@pytest.mark.thorough
def test_one_tree_is_the_same_however_many_threads_grow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that threads take down to the leaves make the order that one thread makes."""
    made = []
    for threads, worth in ((1, 50_000), (3, 1)):
        monkeypatch.setattr("sqlanon.methods.mondrian.tree._WORTH", worth)
        with sqlanon.connect("duckdb:///:memory:", threads=threads) as db:
            drawn = ", ".join(f"CAST(hash(i * 31 + {c}) % 50 AS INTEGER) AS c{c}" for c in range(4))
            db.engine.execute(f"CREATE TABLE t AS SELECT {drawn} FROM range(1200) AS r(i)")
            db.anonymize("t", quasi=[f"c{c}" for c in range(4)], k=3, method="tree", publish="release.t", seed=1)
            made.append(sorted(map(repr, db.engine.fetch("SELECT * FROM release.t"))))
    assert made[0] == made[1]
