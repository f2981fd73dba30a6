"""Method fulldomain: the lattice search against all nodes, one by one; both executions, both engines."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import make_method
from sqlanon.policy import release as spec_of
from sqlanon.progress import SilentProgress
from sqlanon.spec import SuppressionSpec
from sqlanon.table.scratch import Scratch
from sqlanon.testing.assignment import rows_by_id
from tests.contract.assigned import Sample, encoded_sample
from tests.contract.cases import QI, Case, release_rows
from tests.contract.lattices import CITY, case
from tests.engines import PAIR, create_table
from tests.oracle import lattice
from tests.oracle.requirements import Privacy

METRICS = ("loss", "entropy", "height", "dm", "c_avg")
LIMITS = (Fraction(0), Fraction(1, 10), Fraction(3, 10))


def pair() -> Case:
    """Two classes, {a, b} and {b}: with l = 2 one row is suppressed apart, and three together."""
    return Case(
        "pair",
        {"city": "TEXT", "sa": "TEXT"},
        (("oslo", "a"), ("oslo", "b"), ("bergen", "b"), ("rome", "c"), ("rome", "a"), ("pisa", "d")),
        {"city": QI("hierarchy", levels=CITY)},
        ("sa",),
        Privacy(k=1, l=Fraction(2)),
    )


CASES = (
    case(1, Privacy(k=2)),
    case(2, Privacy(k=4)),
    case(3, Privacy(k=1, l=Fraction(2))),
    case(4, Privacy(k=3, l=Fraction(3, 2))),
    case(5, Privacy(k=2, distinct_l=2)),
    pair(),
)


@dataclass(frozen=True)
class Found:
    """What a search assigns: the level of every column, the classes, and the suppressed rows."""

    node: tuple[int, ...]
    classes: set[frozenset[int]]
    gone: set[int]
    notes: tuple[str, ...]


def found(sample: Sample, execution: str, options: dict[str, str], limit: Fraction, rows: str) -> Found:
    spec = spec_of(**{**sample.arguments, "method": {"name": "fulldomain", **options}, "seed": 1})
    suppression = SuppressionSpec(limit, rows)  # type: ignore[arg-type]
    with Scratch(sample.scratch.engine) as scratch:
        context = Context(
            scratch,
            sample.encoded,
            sample.ready.requirements,
            execution,
            sys.maxsize,
            2,
            SilentProgress(),
            0,
            suppression=suppression,
            most_unassigned=suppression.most(sample.encoded.rows),
        )
        made: Assignment = make_method(spec.method).assign(context)
        assert made.execution == execution
        of_row = {int(rid): int(number) for rid, number in rows_by_id(scratch, made.table, ["rid", "class"])}
        assert made.levels is not None
        codes = [domain.code for domain in sample.encoded.quasi]
        text = f'SELECT class, {", ".join(codes)} FROM "{made.levels.name}"'
        levels = {int(row[0]): tuple(map(int, row[1:])) for row in scratch.engine.fetch(text)}
    rids = [int(rid) for (rid,) in rows_by_id(sample.scratch, sample.encoded.work, ["rid"])]
    members: dict[int, set[int]] = {}
    for place, rid in enumerate(rids):
        members.setdefault(of_row.get(rid, -1), set()).add(place)
    gone = members.pop(-1, set()) if made.unassigned else set()
    assert -1 not in members
    if made.starred is not None:
        gone = members.pop(made.starred)
        top = tuple(lattice.height(column) for column in sample.table.quasi)
        assert levels.pop(made.starred) == top
    assert set(levels) == set(members)
    (node,) = set(levels.values())
    return Found(node, {frozenset(rows) for rows in members.values()}, gone, made.notes)


@pytest.fixture(scope="module", params=CASES, ids=lambda one: one.name)
def table(request: pytest.FixtureRequest) -> Case:
    chosen: Case = request.param
    return chosen


@pytest.fixture(params=PAIR, ids=lambda engine: engine.name)
def sample(request: pytest.FixtureRequest, connect_module: Any, table: Case, tmp_path: Path) -> Iterator[Sample]:
    with encoded_sample(connect_module(request.param), table, tmp_path) as made:
        yield made


@pytest.mark.thorough
@pytest.mark.cover
def test_the_best_of_all_nodes(sample: Sample, table: Case) -> None:
    """Every metric, limits, and what becomes of suppressed rows; both executions."""
    turn = 0
    for metric in METRICS:
        for limit in LIMITS:
            for rows in ("starred", "left_out") if limit else ("starred",):
                most = int(limit * sample.table.rows)
                expected = lattice.best(sample.table, table.privacy, metric, most, rows == "starred")
                for execution in ("kernel", "pushdown"):
                    turn += 1
                    if execution == "pushdown" and turn % 8:
                        continue
                    one = found(sample, execution, {"search": "global", "metric": metric}, limit, rows)
                    where = (metric, limit, rows, execution)
                    assert one.node == expected.node, where
                    assert one.classes == {frozenset(rows) for rows in expected.classes}, where
                    assert one.gone == set(expected.gone), where


@pytest.mark.cover
def test_every_minimal_node(sample: Sample, table: Case) -> None:
    diverse = table.privacy.l is not None or table.privacy.distinct_l is not None
    for limit, rows in product(LIMITS[: 1 if diverse else 3], ("starred", "left_out")):
        most, starred = int(limit * sample.table.rows), rows == "starred"
        expected = lattice.minimal(sample.table, table.privacy, most, starred)
        chosen = min(
            (lattice.published(sample.table, table.privacy, node, "loss", most, starred) for node in expected),
            key=lambda one: one.key,  # type: ignore[union-attr]
        )
        assert chosen is not None
        for execution in ("kernel", "pushdown"):
            one = found(sample, execution, {"search": "all"}, limit, rows)
            listed = "; ".join(" ".join(map(str, node)) for node in expected)
            assert one.notes[1].endswith(f": {listed}"), (limit, rows, execution)
            assert f"{len(expected)} minimal nodes" in one.notes[1]
            assert any("search=global" in note for note in one.notes) == (most > 0)
            assert one.node == chosen.node


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
def test_a_finer_node_whose_suppressed_rows_are_no_class(connect_module: Any, tmp_path: Path, execution: str) -> None:
    """One row is alone at (0, 0), and no class joins it within the limit.

    The least nodes are those without suppressed rows.
    """
    values = ((1, "u"),) * 4 + ((2, "u"),) + ((1, "w"),) * 3
    one = Case("alone", {"q": "INTEGER", "n": "TEXT"}, values, {"q": QI(), "n": QI("nominal")}, (), Privacy(k=2))
    assert lattice.minimal(one.table, one.privacy, 1, starred=True) == [(1, 0)]
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        made = found(sample, execution, {"search": "all"}, Fraction(1, 8), "starred")
    assert (made.node, made.gone) == ((1, 0), set())


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
@pytest.mark.parametrize(("search", "rows"), list(product(("global", "all"), ("left_out", "starred"))))
def test_a_node_that_suppresses_every_row_is_none(
    connect_module: Any, tmp_path: Path, search: str, rows: str, execution: str
) -> None:
    """Rows of 8 different values, or 7 with two of a value.

    The node of least height would suppress them all, and lose as much.
    """
    for number, values in enumerate((range(8), (0, 0, *range(1, 7)))):
        one = Case(f"apart_{number}", {"x": "INTEGER"}, tuple((i,) for i in values), {"x": QI()}, (), Privacy(k=3))
        expected = lattice.best(one.table, one.privacy, "loss", 8, starred=rows == "starred")
        assert (expected.node, len(expected.classes), expected.gone) == ((1,), 1, [])
        assert lattice.minimal(one.table, one.privacy, 8, starred=rows == "starred") == [(1,)]
        with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
            made = found(sample, execution, {"search": search}, Fraction(1), rows)
        assert (made.node, made.classes, made.gone) == ((1,), {frozenset(range(8))}, set())


@pytest.mark.parametrize(
    ("privacy", "values", "search", "limit", "rows", "said"),
    [
        (Privacy(k=1, l=Fraction(2)), "aaab", "global", "1/5", "starred", r"largest feasible value is 1.25"),
        (
            Privacy(k=1, l=Fraction(2)),
            "a",
            "global",
            "1",
            "left_out",
            r"; the whole table reaches l = 1 of sa: ask for less$",
        ),
        (
            Privacy(k=1, l=Fraction(2)),
            "aaab",
            "global",
            "1/5",
            "left_out",
            r"l = 1.25 of sa: raise limit, or ask for less$",
        ),
        (
            Privacy(k=1, l=Fraction(2)),
            "a",
            "local",
            "1",
            "left_out",
            r"; the whole table reaches l = 1 of sa: ask for less$",
        ),
        (
            Privacy(k=1, l=Fraction(2)),
            "aaab",
            "local",
            "1/5",
            "left_out",
            r"l = 1.25 of sa: raise limit, or ask for less$",
        ),
        (
            Privacy(k=1, distinct_l=3),
            "ab",
            "local",
            "1/5",
            "left_out",
            r"distinct_l = 2 of sa: raise limit, or ask for less$",
        ),
    ],
)
def test_where_no_node_will_do_only_options_not_yet_set_are_named(
    connect_module: Any, tmp_path: Path, privacy: Privacy, values: str, search: str, limit: str, rows: str, said: str
) -> None:
    """The table itself has too many rows of one value."""
    table = tuple((0, values[i % len(values)]) for i in range(5))
    one = Case("none", {"x": "INTEGER", "sa": "TEXT"}, table, {"x": QI()}, ("sa",), privacy)
    asked = {"method": f"fulldomain:search={search}", "suppression": {"limit": limit, "rows": rows}}
    with pytest.raises(InfeasibleError, match=said):
        release_rows(connect_module(PAIR[0]), one, tmp_path, **asked)


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
@pytest.mark.parametrize(("k", "asked"), [(2, {"l": 1}), (2, {"distinct_l": 1}), (1, {"l": 1})])
def test_what_every_row_meets_counts_no_values(
    connect_module: Any, execution: str, k: int, asked: dict[str, int]
) -> None:
    """With k alone cells have no sensitive values, and a requirement that any row meets asks for none."""
    for engine in PAIR:
        db = connect_module(engine)
        name = f"every_{uuid.uuid4().hex[:10]}"
        create_table(db, name, {"a": "INTEGER", "s": "TEXT"}, [(i % 2, "xy"[i % 3 == 0]) for i in range(9)])
        release = db.anonymize(
            name,
            quasi="a",
            sensitive="s",
            k=k,
            method="fulldomain:search=global",
            execution=execution,
            **asked,
        )
        assert (release.report.verified, release.report.classes) == (True, 2)


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("rows", ["starred", "left_out"])
def test_a_whole_run_publishes_the_levels_and_suppresses_within_the_limit(
    connect_module: Any, engine: Any, rows: str, tmp_path: Path
) -> None:
    one = case(9, Privacy(k=3), rows=31)
    limit = Fraction(3, 10)
    expected = lattice.best(one.table, one.privacy, "loss", int(limit * one.table.rows), rows == "starred")
    assert expected.gone
    shown, report = release_rows(
        connect_module(engine),
        one,
        tmp_path,
        method="fulldomain:search=global",
        format="labels",
        suppression={"limit": "3/10", "rows": rows},
    )
    assert report.verified
    assert report.suppressed == len(expected.gone)
    assert len(shown) == one.table.rows - (len(expected.gone) if rows == "left_out" else 0)
    hidden = [row for row in shown if all(row[name] == "*" for name in one.quasi)]
    assert len(hidden) == (len(expected.gone) if rows == "starred" else 0)
    assert report.classes == len(expected.classes) + (rows == "starred")
    cities = {row["city"] for row in shown} - {"*", "NULL"}
    labels = {path[expected.node[0]] for path in CITY}
    assert cities <= labels
