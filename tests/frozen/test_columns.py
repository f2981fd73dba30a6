"""Columns of frozen releases may be in any order, and be reordered between two nights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, permutations
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import GuardError, PrivacyViolation
from tests.engines import create_table

FRESH = count()
TYPES = {"id": "INTEGER", "age": "INTEGER", "ill": "TEXT", "drug": "TEXT", "cost": "INTEGER"}
POLICY = """
version: 1
releases:
  - name: {table}
    source: {table}
    publish: release.{table}
    columns:
      id: identifier
      age: quasi
      ill: {{role: sensitive, accept_unique: true}}
      drug: {{role: sensitive, accept_unique: true}}
      cost: {{role: insensitive, accept_unique: true}}
    key: [id]
    privacy: {{k: 3, l: 2}}
    refresh: {{mode: frozen, cohort: {{rows: 6}}}}
"""
KEPT = ("ill", "drug", "cost")
"""In the order of the roles: two sensitive columns and an insensitive one."""


def _spec(table: str) -> Any:
    return policy.loads(POLICY.format(table=table), {}).releases[0]


def _rows(first: int, rows: int) -> list[dict[str, Any]]:
    """Both sensitive columns take each of three values equally often, and the columns differ in every row."""
    return [
        {"id": i, "age": i % 11, "ill": "abc"[i % 3], "drug": "bca"[i % 3], "cost": i % 5}
        for i in range(first, first + rows)
    ]


def _write(db: Any, table: str, order: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    create_table(db, table, {name: TYPES[name] for name in order}, [tuple(row[name] for name in order) for row in rows])


def _seen(db: Any, table: str) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, db.engine.fetch(f"SELECT ill, drug, cost FROM release.{table}")))


def _said(rows: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((row["ill"], row["drug"], row["cost"]) for row in rows)


def _shown(db: Any, table: str) -> list[str]:
    """The names of the view's columns, but for the ends of age."""
    shown = db.engine.relation(f"release.{table}").columns
    return [column.name for column in shown if not column.name.startswith("age")]


@pytest.mark.thorough
@pytest.mark.parametrize("order", list(permutations(KEPT)), ids="-".join)
def test_kept_columns_may_be_in_any_order(shared_db: Any, order: tuple[str, ...]) -> None:
    """The first version, a cohort, and rows that leave: the version before is compared as well."""
    table, columns = f"order_{next(FRESH)}", ("id", order[0], "age", *order[1:])
    spec, rows = _spec(table), _rows(0, 12)
    _write(shared_db, table, columns, rows)
    shared_db.run(spec)
    assert (_seen(shared_db, table), _shown(shared_db, table)) == (_said(rows), list(order))
    rows += _rows(12, 6)
    _write(shared_db, table, columns, rows)
    assert shared_db.run(spec).lineage.entered == 6
    assert _seen(shared_db, table) == _said(rows)


@pytest.mark.thorough
def test_columns_that_are_reordered_between_two_nights(shared_db: Any) -> None:
    """No cell has changed; the view has the order of the source; and the version before is still compared."""
    table = f"order_{next(FRESH)}"
    spec, rows = _spec(table), _rows(0, 12)
    orders = (("id", "age", *KEPT), (*reversed(KEPT), "age", "id"), ("cost", "ill", "age", "id", "drug"))
    for night, order in enumerate(orders):
        _write(shared_db, table, order, rows)
        found = shared_db.run(spec).lineage
        assert (found.published, found.stale, found.retained) == (12 + 6 * night, 0, 0)
        assert _seen(shared_db, table) == _said(rows)
        assert _shown(shared_db, table) == [name for name in order if name in KEPT]
        rows += _rows(12 + 6 * night, 6)
    name = shared_db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' "
        f"AND table_name LIKE '{table}%\\_lineage1' ESCAPE '\\'"
    )[0][0]
    private = f'_sqlanon."{name}"'
    # Two cells of a row change places, which no count sees.
    shared_db.engine.execute(f"UPDATE {private} SET ill = drug, drug = ill WHERE _sqlanon_since = 1")
    _write(shared_db, table, orders[0], rows)
    with pytest.raises(PrivacyViolation, match="does not say what version 3 published"):
        shared_db.run(spec)


@pytest.mark.cover
@pytest.mark.parametrize("column", ["id", "age", "ill", "cost"])
def test_a_column_that_is_spelled_otherwise_needs_a_new_lineage(shared_db: Any, column: str) -> None:
    """Also where the engine takes both spellings for one name; spelled as before all is as before."""
    table = f"order_{next(FRESH)}"
    spec, rows = _spec(table), _rows(0, 12)
    _write(shared_db, table, tuple(TYPES), rows)
    shared_db.run(spec)
    _rename(shared_db, table, column, column.upper())
    for does in (shared_db.plan, shared_db.run):
        with pytest.raises(GuardError, match=rf"column {column}: now {column.upper()}.*--new-lineage") as refused:
            does(spec)
        assert refused.value.options == ("--new-lineage",)
    assert _seen(shared_db, table) == _said(rows)
    _rename(shared_db, table, column.upper(), column)
    assert shared_db.run(spec).outcome == "unchanged"
    _rename(shared_db, table, column, column.upper())
    assert shared_db.run(spec, new_lineage=True).lineage.published == 12
    assert shared_db.run(spec).outcome == "unchanged"


def test_a_key_whose_columns_are_spelled_otherwise_publishes_no_row_twice(shared_db: Any) -> None:
    """The columns of a key are hashed in the order of their names, in which capital letters come first."""
    table = f"order_{next(FRESH)}"
    spec = policy.loads(
        POLICY.format(table=table)
        .replace("id: identifier", "id: identifier\n      part: identifier")
        .replace("[id]", "[id, part]"),
        {},
    ).releases[0]
    rows, kinds = _rows(0, 12), {"id": "INTEGER", "part": "INTEGER"} | TYPES
    create_table(shared_db, table, kinds, [(r["id"], 100 + r["id"], *list(r.values())[1:]) for r in rows])
    shared_db.run(spec)
    _rename(shared_db, table, "part", "PART")
    with pytest.raises(GuardError, match="column part: now PART"):
        shared_db.run(spec)
    assert _seen(shared_db, table) == _said(rows)


def test_erased_keys_are_recognized_by_a_key_that_is_spelled_otherwise(shared_db: Any) -> None:
    table = f"order_{next(FRESH)}"
    spec = _spec(table)
    _write(shared_db, table, tuple(TYPES), _rows(0, 12))
    shared_db.run(spec)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    _rename(shared_db, table, "id", "ID")
    found = shared_db.run(spec, new_lineage=True).lineage
    assert (found.published, found.erased) == (11, 1)


def test_a_column_beside_the_key_that_differs_by_capital_letters(shared_db: Any) -> None:
    """Where the engine has both, the key is the one that it was."""
    if shared_db.engine.dialect == "duckdb":
        pytest.skip("DuckDB takes both for one name")
    table = f"order_{next(FRESH)}"
    spec = replace(_spec(table), rest="drop")
    _write(shared_db, table, tuple(TYPES), _rows(0, 12))
    shared_db.run(spec)
    shared_db.engine.execute(f'ALTER TABLE {table} ADD COLUMN "ID" INTEGER')
    rows = _seen(shared_db, table)
    done = shared_db.erase(spec, [{"id": 3}], confirmed=True)
    left = _seen(shared_db, table)
    assert (done.published, sum(left.values()), left - rows) == (1, 12 - done.rows, Counter())
    assert shared_db.run(spec).outcome == "unchanged"


def _rename(db: Any, table: str, old: str, new: str) -> None:
    """In two steps: DuckDB takes both for one name."""
    for name, other in ((old, "between"), ("between", new)):
        db.engine.execute(f'ALTER TABLE {table} RENAME COLUMN "{name}" TO "{other}"')
