"""Ends beside NULLs through the whole product.

They are verified, and read by audit, attack and queries, next to releases of earlier versions without them.
"""

from __future__ import annotations

import json
import math
import random
import uuid
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import sqlanon.release.divide.classes as making
from sqlanon.errors import PrivacyViolation
from sqlanon.evaluate.divergence import measure_divergence
from sqlanon.evaluate.subject import find_subject
from tests.engines import create_table
from tests.oracle import sources
from tests.oracle.attacks import Column, bayes, linkage

ROWS = [(None if i in (3, 11, 12, 20, 27) else i * 7 % 31, i % 3, "xyz"[i % 3], i) for i in range(30)]
"""Of 30 rows five have no ``a``: too few for classes of their own."""
TYPES = {"a": "INTEGER", "b": "INTEGER", "d": "TEXT", "c": "INTEGER"}


def source(db: Any, rows: Sequence[tuple[Any, ...]] = ROWS) -> str:
    name = f"b{uuid.uuid4().hex[:12]}"
    create_table(db, name, TYPES, rows)
    return name


def release(db: Any, table: str, **more: Any) -> Any:
    asked = {"quasi": ["a", "b"], "sensitive": "d", "insensitive": ["c"], "accept_unique": ["c", "d"], "k": 4}
    return db.anonymize(table, **{**asked, **more})


def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are as those of earlier versions: without ends beside NULLs."""
    monkeypatch.setattr("sqlanon.formats.ranges._has_ends_beside_null", lambda _: False)


def published(db: Any, name: str) -> list[dict[str, Any]]:
    return [dict(row) for row in sources.rows_of(db, f"release.{name}")]


def of_class(db: Any, name: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The released rows by what they publish of the quasi columns."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in published(db, name):
        found.setdefault(tuple(row[c] for c in row if c not in "dc"), []).append(row)
    return found


def check_ends(db: Any, name: str, rows: Sequence[tuple[Any, ...]] = ROWS) -> int:
    """The ends of every class are those of its own rows, by plain Python; how many classes have some NULLs."""
    value = {row[3]: row[0] for row in rows}
    some = 0
    for members in of_class(db, name).values():
        values = [value[row["c"]] for row in members]
        known = [one for one in values if one is not None]
        state = "none" if len(known) == len(values) else "some" if known else "all"
        ends = (min(known), max(known)) if known else (None, None)
        assert (members[0]["a_lo"], members[0]["a_hi"], members[0]["a_null"]) == (*ends, state)
        some += state == "some"
    return some


@pytest.mark.parametrize("method", ["tree", "mondrian", "hilbert", "mdav"])
def test_ends_are_those_of_the_values_that_are_there(shared_db: Any, method: str) -> None:
    name = source(shared_db)
    release(shared_db, name, method=method)
    assert check_ends(shared_db, name)


@pytest.mark.thorough
def test_kernel_and_pushdown_and_both_engines_publish_the_same(both_dbs: Any) -> None:
    found = []
    for db in both_dbs:
        for execution in ("kernel", "pushdown"):
            name = source(db)
            release(db, name, method="mondrian", execution=execution)
            assert check_ends(db, name)
            found.append(Counter(tuple(row.values()) for row in published(db, name)))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("DOUBLE PRECISION", ["-0.0", "1.5", "'Infinity'", "'NaN'"]),
        ("DATE", ["'2024-02-29'", "'1950-01-01'"]),
        ("BOOLEAN", ["TRUE", "FALSE"]),
        ("NUMERIC(6, 2)", ["1.10", "-3.5"]),
        ("TIMESTAMP", ["'2024-01-01 10:00:00'", "'2024-01-01 10:00:00.5'"]),
    ],
)
def test_every_kind_of_value(shared_db: Any, kind: str, values: list[str]) -> None:
    """Of one class: the ends are what the engine itself has for least and greatest."""
    name = f"b{uuid.uuid4().hex[:12]}"
    cells = ", ".join(f"(CAST({one} AS {kind}), '{'xy'[i % 2]}')" for i, one in enumerate([*values, "NULL"]))
    shared_db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {cells}) AS v(a, d)")
    shared_db.anonymize(name, quasi=["a"], sensitive="d", k=len(values) + 1, accept_unique=["d"])
    order = "CAST(a AS INTEGER)" if kind == "BOOLEAN" else "a"
    known = f"FROM {name} WHERE a IS NOT NULL ORDER BY {order}"
    (same,) = shared_db.engine.fetch(
        f"SELECT count(*) FROM release.{name} WHERE a_null = 'some' AND a_lo = (SELECT a {known} LIMIT 1) AND a_hi = "
        f"(SELECT a {known} DESC LIMIT 1)"
    )
    assert same[0] == len(values) + 1


def test_a_value_next_to_null_counts_as_half(shared_db: Any) -> None:
    """In the estimates of aggregates of its column, as in those of conditions, and in intervals."""
    name = f"b{uuid.uuid4().hex[:12]}"
    create_table(shared_db, name, {"a": "INTEGER", "d": "TEXT"}, [(3, "x"), (5, "y"), (None, "x"), (None, "y")])
    shared_db.anonymize(name, quasi=["a"], sensitive="d", k=4, accept_unique=["d"])
    asked = "count(a) AS n, count(*) FILTER (WHERE a IS NOT NULL) AS f, sum(a) AS s, avg(a) AS m"
    (row,) = shared_db.query(f"SELECT {asked} FROM {name}").rows
    assert [row[item].estimate for item in "nfsm"] == [2, 2, 8, 4]
    (row,) = shared_db.query(f"SELECT count(a) AS n FROM {name}", interval=0.9).rows
    assert (row["n"].interval.low, row["n"].interval.high) == (0, 4)


def test_an_order_of_texts(shared_db: Any) -> None:
    name = f"b{uuid.uuid4().hex[:12]}"
    create_table(shared_db, name, {"o": "TEXT", "d": "TEXT"}, [("high", "x"), (None, "y"), ("low", "x"), ("mid", "y")])
    shared_db.anonymize(
        name, quasi=["o"], sensitive="d", k=4, accept_unique=["d"], ordered={"o": ["low", "mid", "high", "top"]}
    )
    assert {(row["o_lo"], row["o_hi"], row["o_null"]) for row in published(shared_db, name)} == {
        ("low", "high", "some")
    }
    cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE o = 'top'").rows[0]["n"]
    assert (cell.low, cell.high) == (0, 0)


TAMPERED = {
    "narrower": ("a_lo = a_lo + 1", True),
    "narrower above": ("a_hi = a_hi - 1", True),
    "one end": ("a_lo = NULL", True),
    "no NULL": ("a_null = 'none'", True),
    "only NULL": ("a_null = 'all'", True),
    "wider": ("a_hi = a_hi + 1", False),
    "no ends": ("a_lo = NULL, a_hi = NULL", False),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_ends_are_verified(shared_db: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """What does not cover every row is refused; wider ends are not called values of rows."""
    change, refused = TAMPERED[how]
    real = making.verify_staged

    def tampered(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        made = recoded.released
        place = ".".join(f'"{part}"' for part in (made.database, made.schema, made.name) if part)
        scratch.engine.execute(f"UPDATE {place} SET {change} WHERE a_null = 'some'")
        return real(scratch, classed, recoded, form)

    monkeypatch.setattr(making, "verify_staged", tampered)
    name = source(shared_db)
    if refused:
        with pytest.raises(PrivacyViolation):
            release(shared_db, name)
        return
    release(shared_db, name)
    (facts,) = (row for row in sources.rows_of(shared_db, f"release.{name}_metadata") if not row["column_name"])
    assert ("a" in json.loads(facts["published"])["attained"]) == (how == "no ends")


@pytest.mark.parametrize("before", [False, True], ids=["with ends", "of an earlier version"])
def test_attack_audit_and_queries_read_both(shared_db: Any, monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    draw = random.Random(1)
    made = [
        (None if draw.random() < 0.2 else draw.randrange(12), draw.randrange(3), draw.choice("xxyz"), i)
        for i in range(30)
    ]
    name = source(shared_db, made)
    with monkeypatch.context() as patch:
        if before:
            as_before(patch)
        release(shared_db, name)
    rows = published(shared_db, name)
    assert {row["a_lo"] is None for row in rows if row["a_null"] == "some"} == {before}
    assert shared_db.audit(f"release.{name}", quasi=["a_lo", "a_hi", "a_null", "b_lo", "b_hi"]).k >= 4
    victims = [dict(zip(TYPES, row, strict=True)) for row in made]
    columns = [Column("a", "number"), Column("b", "number")]
    expected = linkage("ranges", columns, rows, victims)
    by_size: dict[int, list[float]] = {}
    for known, chances in expected.items():
        by_size.setdefault(len(known), []).append(sum(map(float, chances)) / len(victims))
    report = shared_db.attack(name)
    for one in report.linkage:
        if not one.errors:
            sums = by_size[one.known]
            assert one.mean == pytest.approx(sum(sums) / len(sums))
            assert not one.exceeded
    domains = {column.name: list({row[column.name] for row in victims}) for column in columns}
    guessed = bayes("ranges", columns, [(row, {row["d"]: Fraction(1)}) for row in rows], victims, "d", domains)
    (learnt,) = report.bayes
    assert (learnt.accuracy, learnt.in_class, learnt.baseline) == pytest.approx(tuple(map(float, guessed)))
    cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE a > 100").rows[0]["n"]
    assert (cell.high == 0) != before


def test_a_refresh_and_a_rollback_of_an_earlier_version(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = source(shared_db)
    with monkeypatch.context() as patch:
        as_before(patch)
        release(shared_db, name)
    old = published(shared_db, name)
    shared_db.engine.execute(f"INSERT INTO {name} VALUES (5, 1, 'x', 90), (NULL, 1, 'y', 91)")
    release(shared_db, name)
    assert check_ends(shared_db, name, [*ROWS, (5, 1, "x", 90), (None, 1, "y", 91)])
    assert shared_db.diff(f"{name}@1", f"{name}@2")
    shared_db.rollback(name)
    assert Counter(map(repr, published(shared_db, name))) == Counter(map(repr, old))
    assert shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE a > 100").rows[0]["n"].high > 0


def test_half_of_such_a_class_is_null_to_a_reader(shared_db: Any) -> None:
    """By hand: of NULL, 1 and three times 3 a reader expects one half NULL and a sixth each of 1, 2 and 3.

    The estimate of a count is the same.
    """
    name = f"b{uuid.uuid4().hex[:12]}"
    create_table(shared_db, name, {"a": "INTEGER", "d": "TEXT"}, [(None, "x"), (1, "x"), *[(3, "x")] * 3])
    shared_db.anonymize(name, quasi=["a"], sensitive="d", k=5)
    (found,) = measure_divergence(shared_db.engine, find_subject(shared_db.engine, name), [["a"]], None)
    assert found.kld == pytest.approx((math.log(2 / 5) + math.log(6 / 5) + 3 * math.log(18 / 5)) / 5)
    row = shared_db.query(
        f"SELECT count(*) FILTER (WHERE a IS NULL) AS n, count(*) FILTER (WHERE a < 3) AS m FROM {name}"
    ).rows[0]
    assert (row["n"].estimate, row["m"].estimate) == pytest.approx((2.5, 5 / 3))
    assert (row["n"].low, row["n"].high, row["m"].low, row["m"].high) == (1, 3, 1, 3)


def test_what_means_any_value_has_no_ends(shared_db: Any) -> None:
    """Starred rows, and intervals of a column that are the same in all classes."""
    name = source(shared_db, [*ROWS, (500, 40, "x", 98), (None, 41, "y", 99)])
    release(shared_db, name, method={"name": "fulldomain", "search": "global"}, suppression={"limit": 0.5})
    for row in published(shared_db, name):
        assert row["a_null"] != "some" or (row["a_lo"], row["a_hi"]) == (None, None)
    name = source(shared_db)
    release(shared_db, name, method={"name": "koptimize"}, suppression={"limit": 0.5})
    for row in published(shared_db, name):
        assert row["a_null"] != "some" or (row["a_lo"], row["a_hi"]) == (None, None)


@pytest.mark.thorough
def test_the_loss_is_that_of_any_value(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """NULLs beside values never lower a figure: each is as without ends."""
    name = source(shared_db)
    found = []
    for before in (True, False):
        with monkeypatch.context() as patch:
            if before:
                as_before(patch)
            found.append(
                release(
                    shared_db, name, metrics="all", name=f"{name}_{before}", publish=f"release.{name}_{before}"
                ).report.loss
            )
    rows = published(shared_db, f"{name}_False")
    lost = sum(row["a_null"] == "some" for row in rows) / len(rows)
    assert lost
    for figure in ("gcp", "ncp", "lm", "columns"):
        assert getattr(found[0], figure) == getattr(found[1], figure)
    # Threads add floats in another order each time.
    assert found[0].more == pytest.approx(found[1].more, rel=1e-12)
    assert found[1].columns["a"]["ncp"] >= lost
