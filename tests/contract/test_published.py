"""What a published table is like: its types, and that its order says nothing about the source's."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import Case, multiset, release_rows
from tests.contract.samples import DATES, MIXED, NUMBERS, TREES
from tests.engines import PAIR, create_table, read_table, text_literal


def sql_types(db: Any, schema: str, table: str) -> dict[str, str]:
    """Column to type, as the system catalog has it."""
    return dict(
        db.engine.fetch(
            "SELECT column_name, CASE data_type WHEN 'ARRAY' THEN udt_name WHEN 'USER-DEFINED' THEN udt_name "
            "ELSE data_type END FROM information_schema.columns "
            f"WHERE table_schema = {text_literal(schema)} AND table_name = {text_literal(table)}"
        )
        if db.engine.dialect != "duckdb"
        else db.engine.fetch(
            "SELECT column_name, data_type FROM information_schema.columns "
            f"WHERE table_schema = {text_literal(schema)} AND table_name = {text_literal(table)}"
        )
    )


@pytest.mark.cover("engine kind", "engine case")
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed"])
@pytest.mark.parametrize("case", [MIXED, NUMBERS, DATES, TREES], ids=lambda case: case.name)
def test_types_are_the_sources(shared_db: Any, case: Case, kind: str, tmp_path: Path) -> None:
    """Ranges, points and suppressed values keep the type; sets are arrays of text; labels are text."""
    db = shared_db
    duckdb = db.engine.dialect == "duckdb"
    text, array = ("VARCHAR", "VARCHAR[]") if duckdb else ("text", "_text")
    source = case.create(db)
    release_rows(db, case, tmp_path, source=source, format=kind)
    before, after = sql_types(db, "main" if duckdb else "public", source), sql_types(db, "release", source)
    for name, qi in case.quasi.items():
        if kind == "labels":
            assert after[name] == text
        elif kind in ("points", "suppressed"):
            assert after[name] == before[name], (kind, name)
        elif qi.kind in ("number", "text"):
            assert after[f"{name}_lo"] == after[f"{name}_hi"] == before[name]
        else:
            assert after[name] == (array if qi.kind == "nominal" else text)
    for name in case.sensitive:
        assert after[name] == before[name]
    assert not set(after) & (set(case.columns) - set(case.quasi) - set(case.sensitive))


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed"])
def test_stored_order_is_independent_of_the_sources(shared_db: Any, kind: str, tmp_path: Path) -> None:
    for case in (MIXED, TREES):
        order = random.Random(8).sample(range(len(case.rows)), len(case.rows))
        first, second = (
            [multiset([row]) for row in release_rows(shared_db, c, tmp_path, format=kind)[0]]
            for c in (case, case.shuffled(order))
        )
        assert first == second


@pytest.mark.cover("way execution")
@pytest.mark.parametrize("way", ["tree", "hilbert", "mondrian:variant=relaxed", "anatomy"])
@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
def test_rows_that_only_other_columns_distinguish(shared_db: Any, way: str, execution: str) -> None:
    """Of each pair at an odd x one row goes left, one right.

    Which one does the secret decide, not the source's order.
    """
    name = f"pairs {way} {execution}"
    rows = [(100 * b + x, "ab"[b % 2], f"{b} {x} {i}") for b in range(20) for x in (0, 1, 2) for i in (0, 1)]
    if way == "anatomy":
        rows = [(x // 100, "abcd"[i % 4], note) for i, (x, _, note) in enumerate(rows)]
    asked = {"quasi": "x", "sensitive": "s", "insensitive": "note", "accept_unique": "note", "method": way, "seed": 1}
    asked |= {"l": 2, "format": "anatomy", "presence": "disclosed"} if way == "anatomy" else {"k": 3}
    found = []
    for order in (rows, rows[::-1], random.Random(3).sample(rows, len(rows))):
        source = create_table(shared_db, name, {"x": "INTEGER", "s": "TEXT", "note": "TEXT"}, order)
        shared_db.anonymize(source, publish=f'release."{name}"', execution=execution, **asked)
        found.append(sorted(tuple(row.values()) for row in read_table(shared_db, ("release", name))))
        shared_db.engine.execute(f"DROP TABLE {source}")
    assert found[0] == found[1] == found[2]
    if way in ("tree", "hilbert"):
        left = [note for _, high, _, note in found[0] if high % 100 == 1]
        firsts = sum(note.endswith("1 0") for note in left)
        assert 0 < firsts < sum(note.split()[1] == "1" for note in left)


def test_rows_that_only_the_look_of_a_value_distinguishes(shared_db: Any) -> None:
    """0.0 and -0.0 are equal, as 1.0 and 1.00 are: which of two goes left does not show the source's order either."""
    pairs = [("0.0", "-0.0")] * 20 if shared_db.engine.dialect == "duckdb" else [("1.0", "1.00")] * 20
    kind = "DOUBLE" if shared_db.engine.dialect == "duckdb" else "NUMERIC"
    found = []
    for turn in (1, -1):
        values = ", ".join(
            f"({100 * b + x}, CAST('{value}' AS {kind}))"
            for b, pair in enumerate(pairs)
            for x in (0, 1, 2)
            for value in pair[::turn]
        )
        shared_db.engine.execute(f"CREATE TABLE looks AS SELECT * FROM (VALUES {values}) AS v(x, note)")
        shared_db.anonymize("looks", quasi="x", insensitive="note", k=3, accept_unique="note", seed=1)
        shared_db.engine.execute("DROP TABLE looks")
        found.append(sorted(tuple(map(str, row.values())) for row in read_table(shared_db, ("release", "looks"))))
    assert found[0] == found[1]


def test_stored_order_of_values_that_are_equal_and_look_different(shared_db: Any) -> None:
    """In two orders of the source, all in one class."""
    looks = {"DOUBLE PRECISION": ("0.0", "-0.0"), "INTERVAL": ("30 days", "1 month")}
    if shared_db.engine.dialect == "postgres":
        looks["NUMERIC"] = ("1.0", "1.00")
    found = []
    for order in ((0, 1, 0, 1, 1), (1, 1, 0, 0, 1)):
        columns = ", ".join(
            f"CAST(CASE o.n WHEN 0 THEN '{one}' ELSE '{other}' END AS {kind}) AS v{i}"
            for i, (kind, (one, other)) in enumerate(looks.items())
        )
        values = ", ".join(f"({n})" for n in order)
        shared_db.engine.execute(f"CREATE TABLE alike AS SELECT 1 AS x, {columns} FROM (VALUES {values}) AS o(n)")
        shared_db.anonymize("alike", quasi="x", rest="keep", k=2)
        shared_db.engine.execute("DROP TABLE alike")
        shown = ", ".join(f"CAST(v{i} AS TEXT)" for i in range(len(looks)))
        found.append(shared_db.engine.fetch(f"SELECT {shown} FROM release.alike"))
    assert found[0] == found[1]


def test_stored_order_is_that_of_all_released_columns(shared_db: Any) -> None:
    """Partitions whose boxes are equal are one class to a reader, and nothing distinguishes their rows."""
    rows = [(5, "abcd"[i * 7 % 4]) for i in range(24)]
    create_table(shared_db, "one_box", {"x": "INTEGER", "s": "TEXT"}, rows)
    shared_db.anonymize("one_box", quasi="x", sensitive="s", k=4, distinct_l=2, method="mondrian:variant=relaxed")
    stored = [row["s"] for row in read_table(shared_db, ("release", "one_box"))]
    assert stored == sorted(stored)


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_a_name_that_leaves_no_room_for_its_suffix(connect: Any, engine: Any) -> None:
    """63 bytes are PostgreSQL's most: there such a column is refused in words, never cut short; DuckDB takes it."""
    from sqlanon.errors import SqlanonError

    db = connect(engine)
    long, twin = "x" * 63, "x" * 62 + "y"
    create_table(db, "long_names", {long: "INTEGER", twin: "INTEGER"}, [(i // 3, i // 4) for i in range(12)])
    if engine.family == "postgres":
        with pytest.raises(SqlanonError, match="63"):
            db.anonymize("long_names", quasi=[long, twin], k=2)
        return
    release = db.anonymize("long_names", quasi=[long, twin], k=2)
    rows = read_table(db, ("release", "long_names"))
    assert len(rows[0]) == 4 == len(release.report.columns)
    assert len(rows) == 12


def test_metadata_have_a_bound_and_what_it_allowed(shared_db: Any) -> None:
    """What the policy says, and the k and l that are counted here in the view."""
    rows = [(20 + i // 3, "abb"[i % 3]) for i in range(24)]
    table = create_table(shared_db, "declared bound", {"age": "INTEGER", "s": "TEXT"}, rows)
    view = table.strip('"')
    given: dict[str, Any] = {"quasi": "age", "sensitive": "s", "method": "hilbert"}
    asked: dict[str, Any] = {
        "maximize": "l",
        "at_least": {"k": 2, "l": "5/4"},
        "max_loss": 0.3,
        "max_extent": {"age": "5/2"},
    }

    def facts() -> dict[str, Any]:
        reported = {row["column_name"]: row for row in read_table(shared_db, ("release", f"{view}_metadata"))}
        found: dict[str, Any] = json.loads(reported[""]["published"])
        return found

    shared_db.anonymize(table, **given, **asked)
    classes: dict[Any, Counter[str]] = {}
    for row in read_table(shared_db, ("release", view)):
        classes.setdefault((row["age_lo"], row["age_hi"]), Counter())[row["s"]] += 1
    assert {key: value for key, value in facts().items() if key in (*asked, "k", "l", "reached")} == {
        "k": 2,
        "l": "5/4",
        "maximize": "l",
        "at_least": {"k": 2, "l": "5/4"},
        "max_loss": "3/10",
        "max_extent": {"age": "5/2"},
        "reached": [
            {"name": "k", "column": None, "reached": min(one.total() for one in classes.values())},
            {"name": "l", "column": "s", "reached": min(one.total() / max(one.values()) for one in classes.values())},
        ],
    }
    shared_db.anonymize(table, **given, k=3, allow_weaker=True)
    assert not facts().keys() & {*asked, "reached"}
