"""Audits and intersections of releases, recounted in Python from the rows themselves."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Connect
from tests.contract.cases import Case, plain, release_rows
from tests.contract.samples import JOINT, MIXED
from tests.engines import PAIR, create_table, quote, read_table
from tests.oracle.requirements import Privacy
from tests.shelf import MAKERS, Shelf


def groups(rows: list[dict[str, Any]], names: list[str]) -> dict[Any, list[dict[str, Any]]]:
    """Rows by their values of some columns; NULL is a value, -0.0 is 0.0, NaN is NaN."""
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[tuple(plain(row[name]) for name in names)].append(row)
    return found


def diversity(classes: list[list[Any]]) -> tuple[int, Fraction]:
    """Distinct and frequency l over classes of sensitive values."""
    counts = [Counter(map(plain, members)) for members in classes]
    return min(map(len, counts)), min(Fraction(c.total(), max(c.values())) for c in counts)


def check_audit(report: Any, rows: list[dict[str, Any]], quasi: list[str], sensitive: tuple[str, ...]) -> None:
    """An `AuditReport` against the rows of its table."""
    classes = groups(rows, quasi)
    sizes = [len(members) for members in classes.values()]
    others = [name for name in rows[0] if name not in sensitive]
    assert report.rows == len(rows)
    assert set(report.quasi) == set(quasi)
    assert set(report.left_out) == set(others) - set(quasi)
    assert (report.classes, report.k, report.max_class) == (len(sizes), min(sizes), max(sizes))
    assert report.k_all == min(len(members) for members in groups(rows, others).values())
    alone = {name: min(map(len, groups(rows, [*quasi, name]).values())) for name in set(others) - set(quasi)}
    assert {one.column: one.k for one in report.lowering} == {name: k for name, k in alone.items() if k < report.k}
    assert bool(report.lowering or report.lowering_together) == (report.k_all < report.k)
    assert report.unique_rows == sizes.count(1)
    assert report.highest_risk == pytest.approx(1 / min(sizes))
    assert report.average_risk == pytest.approx(len(sizes) / len(rows))
    reported = {s.column: s for s in report.sensitive}
    for name in sensitive:
        distinct, frequency = diversity([[row[name] for row in members] for members in classes.values()])
        assert reported[name].distinct_l == distinct
        assert reported[name].frequency_l == pytest.approx(float(frequency))


def events(db: Any, name: str, column: str, **more: Any) -> None:
    """Release one column of a table of events."""
    db.anonymize(
        quote(name),
        quasi=[column],
        sensitive=["s"],
        identifiers=["person"],
        rest="drop",
        k=4,
        rows_are="events",
        name=f"{name}_{column}",
        publish=f"release.{name}_{column}",
        **more,
    )


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "suppressed"])
def test_audit_of_a_release(shelf: Shelf, connect_module: Connect, sample: Case, kind: str, tmp_path: Path) -> None:
    """Without ``quasi`` every column but the sensitive ones makes the classes."""
    if kind == "ranges" and sample.name in MAKERS:
        made, db = shelf.take(sample.name), shelf.db
        source, rows = made.name, made.rows
    else:
        db = connect_module(shelf.engine)
        source = sample.create(db)
        rows, _ = release_rows(db, sample, tmp_path, source=source, format=kind)
    report = db.audit(f"release.{source}", sensitive=sample.sensitive)
    check_audit(report, rows, [n for n in rows[0] if n not in sample.sensitive], sample.sensitive)
    assert report.k >= sample.privacy.k


def test_audit_of_a_source(shared_db: Any, sample: Case) -> None:
    """A raw table: rows alone in their class, columns left out, and k over all of them."""
    rows = [dict(zip(sample.columns, row, strict=True)) for row in sample.rows]
    report = shared_db.audit(sample.create(shared_db), quasi=list(sample.quasi)[:2], sensitive=sample.sensitive)
    check_audit(report, rows, list(sample.quasi)[:2], sample.sensitive)


@pytest.mark.cover("first second")
@pytest.mark.parametrize(("first", "second"), list(product(["strict", "relaxed"], repeat=2)))
def test_together_counts_the_intersections(shared_db: Any, first: str, second: str, tmp_path: Path) -> None:
    """Two releases of one source with different columns and requirements."""
    source = JOINT.create(shared_db)
    ways = {
        "a": ({"quasi": ["p"], "k": 5, "l": None, "distinct_l": None, "joint": False}, first),
        "b": ({"quasi": ["q"], "k": 7, "l": None, "distinct_l": None, "joint": False}, second),
    }
    for name, (options, variant) in ways.items():
        shared_db.anonymize(
            source,
            **{
                **JOINT.arguments(tmp_path),
                **options,
                "name": f"{source}_{name}",
                "publish": f"release.{source}_{name}",
                "method": {"name": "mondrian", "variant": variant, "cut": "median"},
            },
        )
    report = shared_db.together(f"{source}_a", f"{source}_b")
    assert report.matched + report.unmatched == len(JOINT.rows)
    assert report.unmatched == 0
    assert (report.k_first >= 5, report.k_second >= 7) == (True, True)
    if (first, second) != ("strict", "strict"):
        assert 1 <= report.k <= min(report.k_first, report.k_second)
        return
    # Strict releases are functions of the quasi values, so the intersections can be recounted.
    label = {}
    for column, k in (("p", 5), ("q", 7)):
        case = replace(JOINT, quasi={column: JOINT.quasi[column]}, privacy=Privacy(k=k))
        for number, members in enumerate(case.classes("strict", "median")):
            label.update({(column, row): number for row in members})
    sizes = Counter((label["p", row], label["q", row]) for row in range(len(JOINT.rows)))
    assert report.k == min(sizes.values())
    assert report.classes == len(sizes)
    assert report.unique_rows == list(sizes.values()).count(1)
    smaller = min(report.k_first, report.k_second)
    assert report.rows_below == sum(size for size in sizes.values() if size < smaller)
    for one in report.sensitive:
        found: dict[Any, list[Any]] = defaultdict(list)
        for row, value in enumerate(JOINT.values(one.column)):
            found[label["p", row], label["q", row]].append(value)
        assert (one.distinct_l, one.frequency_l) == pytest.approx(diversity([*found.values()]))


def test_hostile_names_of_tables_schemas_and_views(connect: Any, tmp_path: Path) -> None:
    schema, name = 'we"ird. schéma', 'ta"ble; drop %s'
    for engine in PAIR:
        db = connect(engine)
        create_table(db, (schema, name), MIXED.columns, MIXED.rows)
        release = db.anonymize(
            f"{quote(schema)}.{quote(name)}",
            **{**MIXED.arguments(tmp_path), "publish": f"{quote('Öut.')}.{quote('Vi ew')}", "name": "plain"},
        )
        assert release.report.verified
        assert len(read_table(db, ("Öut.", "Vi ew"))) == len(MIXED.rows)


def test_together_of_events_pairs_the_same_row(shared_db: Any) -> None:
    """Identifiers repeat, so rows are linked whole.

    The truth is read from the releases, by a column that identifies rows.
    """
    drawn = random.Random(5)
    rows = [(i // 2, drawn.randrange(40), drawn.randrange(40), drawn.choice("abc"), i) for i in range(300)]
    columns = {"person": "INTEGER", "x": "INTEGER", "y": "INTEGER", "s": "TEXT", "mark": "INTEGER"}
    name = f"events_{uuid4().hex[:8]}"
    create_table(shared_db, name, columns, rows)
    shown: list[dict[int, tuple[Any, ...]]] = []
    for column in ("x", "y"):
        events(shared_db, name, column, insensitive=["mark"], accept_unique=["mark"])
        read = read_table(shared_db, ("release", f"{name}_{column}"))
        shown.append({row["mark"]: (row[f"{column}_lo"], row[f"{column}_hi"]) for row in read})
    groups = Counter((shown[0][mark], shown[1][mark]) for mark in shown[0])
    reported = shared_db.together(f"{name}_x", f"{name}_y")
    assert (reported.matched, reported.unmatched) == (300, 0)
    assert (reported.classes, reported.k) == (len(groups), min(groups.values()))
    assert reported.unique_rows == sum(1 for n in groups.values() if n == 1)
    held = {column: defaultdict(list) for column in ("person", "s")}
    for person, _, _, value, mark in rows:
        held["person"][shown[0][mark], shown[1][mark]].append(person)
        held["s"][shown[0][mark], shown[1][mark]].append(value)
    (one,) = reported.sensitive
    assert (one.distinct_l, one.frequency_l) == pytest.approx(diversity([*held["s"].values()]))
    assert reported.min_identifiers == {"person": min(len(set(them)) for them in held["person"].values())}


def test_four_equal_intersections_and_none_once_all_rows_are_gone(shared_db: Any) -> None:
    """Each has six persons with the values a, a, a, b, b, c."""
    name = f"gone_{uuid4().hex[:8]}"
    columns = {"person": "INTEGER", "x": "INTEGER", "y": "INTEGER", "s": "TEXT"}
    rows = [(i, i % 2, i // 2 % 2, "aaabbc"[i // 4]) for i in range(24)]
    source = create_table(shared_db, name, columns, rows)
    for column in ("x", "y"):
        events(shared_db, name, column)
    for matched, k, identifiers, distinct, frequency in ((24, 6, 6, 3, 2), (0, 0, 0, 0, 0)):
        found = shared_db.together(f"{name}_x", f"{name}_y")
        assert (found.matched, found.unmatched, found.k) == (matched, 24 - matched, k)
        assert (found.classes, found.unique_rows) == (4 if matched else 0, 0)
        assert found.rows_below == matched
        assert found.min_identifiers == {"person": identifiers}
        assert [(one.distinct_l, one.frequency_l) for one in found.sensitive] == [(distinct, frequency)]
        shared_db.engine.execute(f"UPDATE {source} SET person = person + 100")


def test_columns_that_lower_k_together_only(shared_db: Any) -> None:
    """x and y lower it, none alone; z can be spared, and w is the same in every row."""
    rows = [(q, x, y, (x + y) % 2, 0) for q in (1, 2) for x in (0, 1) for y in (0, 1)]
    table = create_table(shared_db, f"parity_{uuid4().hex[:6]}", dict.fromkeys("qxyzw", "INTEGER"), rows * 1)
    report = shared_db.audit(table, quasi=["q"])
    assert (report.k, report.k_all) == (4, 1)
    assert {one.column: one.k for one in report.lowering} == {"x": 2, "y": 2, "z": 2}
    twice = create_table(
        shared_db,
        f"twice_{uuid4().hex[:6]}",
        dict.fromkeys("qxyw", "INTEGER"),
        [(0, 0, 0, 7), (0, 0, 1, 7), (0, 1, 0, 7), (0, 1, 1, 7)] + [(1, 0, 0, 7)] * 2,
    )
    report = shared_db.audit(twice, quasi=["q"])
    assert (report.k, report.k_all, report.lowering) == (2, 1, ())
    assert report.lowering_together == ("x", "y")


def test_neighbours_are_one_warning(shared_db: Any) -> None:
    """A warning a release each would hide the others."""
    from sqlanon import policy

    name = f"shared_{uuid4().hex[:6]}"
    table = create_table(shared_db, name, {"q": "INTEGER", "s": "TEXT"}, [(i % 2, "ab"[i // 2 % 2]) for i in range(12)])
    specs = [
        policy.release(source=table, quasi="q", sensitive="s", k=2, name=f"{name}_{at}", publish=f"release.{name}_{at}")
        for at in "abcd"
    ]
    for spec in specs[:3]:
        shared_db.run(spec)
    (warning,) = [line for line in shared_db.plan(specs[3]).warnings if "together" in line]
    assert warning == (
        f"releases {name}_a, {name}_b, {name}_c show the same source to the same readers; together they may reveal "
        f"more than each: sqlanon audit --together {name}_a {name}_d, and so for each"
    )
    readers = [replace(spec, readers=("analyst",)) for spec in specs]
    reported = [line for line in shared_db.plan(readers[3], readers).warnings if "of one source" in line]
    assert "; ".join(reported) == (
        f"releases {name}_d, {name}_a, {name}_b and {name}_c of one source all go to analyst; together they may reveal "
        f"more than each: sqlanon audit --together {name}_a {name}_d, and so for each"
    )


def test_a_policy_is_judged_over_its_own_columns(shared_db: Any) -> None:
    """Whatever columns are named: k over the release's classes, and l of every sensitive column."""
    from sqlanon import policy

    rows = [(row % 4, "ab"[row % 2], "xyz"[row % 3], row) for row in range(24)]
    table = f"t{uuid4().hex[:12]}"
    create_table(shared_db, table, {"q": "INTEGER", "dx": "TEXT", "dy": "TEXT", "seen": "INTEGER"}, rows)
    spec = policy.release(
        source=table,
        quasi="q",
        sensitive=["dx", "dy"],
        insensitive="seen",
        accept_unique="seen",
        k=2,
        l=2,
        publish=f"release.{table}",
    )
    shared_db.run(spec)
    view = f"release.{table}"
    plain = shared_db.audit(view, spec=spec)
    assert plain.satisfied
    assert {(one.name, one.column) for one in plain.requirements} >= {("k", None), ("l", "dx"), ("l", "dy")}
    for named in ({"sensitive": ["dx"]}, {"sensitive": ["dy"], "quasi": ["dx"]}, {"sensitive": ["seen"]}):
        assert shared_db.audit(view, spec=spec, **named).requirements == plain.requirements, named
    # Without a policy the catalog knows the roles.
    assert shared_db.audit(view, sensitive=["dx"]).classes == plain.classes


def test_a_view_is_judged_by_the_promise_in_the_catalog(shared_db: Any) -> None:
    """The published view is replaced by one of the source's own values.

    An audit without a policy finds what was promised.
    """
    name = f"promised_{uuid4().hex[:10]}"
    rows = [(20 + i // 2, i % 2) for i in range(40)]
    create_table(shared_db, name, {"age": "INTEGER", "ill": "INTEGER"}, rows)
    view = f"release.of_{name}"
    shared_db.anonymize(name, quasi="age", sensitive="ill", k=10, l=2, name=name, publish=view)
    report = shared_db.audit(view)
    assert [(one.name, one.asked, one.satisfied) for one in report.requirements] == [("k", 10, True), ("l", 2, True)]
    assert report.satisfied
    source = shared_db.engine.relation(name).ref
    shared_db.engine.execute(
        f"CREATE OR REPLACE VIEW {view} AS SELECT age AS age_lo, age AS age_hi, ill FROM {source.schema}.{source.name}"
    )
    report = shared_db.audit(view)
    found = [(one.name, one.asked, one.reached, one.satisfied) for one in report.requirements]
    assert found == [("k", 10, 2, False), ("l", 2, 2, True)]
    assert not report.satisfied
