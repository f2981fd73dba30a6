"""Method fulldomain: the lattice search against all nodes, one by one; both executions, both engines."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import refusals
from sqlanon.declared.combinations import remarks
from sqlanon.declared.method import Asked
from sqlanon.declared.methods import FULLDOMAIN
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods import method
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain import sieve
from sqlanon.policy import release as spec_of
from sqlanon.progress import Silent
from sqlanon.spec import SuppressionSpec
from sqlanon.table.scratch import Scratch
from tests.contract.assigned import Sample, _fetch, encoded_sample
from tests.contract.cases import QI, Case, release_rows
from tests.engines import PAIR
from tests.oracle import lattice
from tests.oracle.requirements import Privacy

METRICS = ("loss", "entropy", "height", "dm")
LIMITS = (Fraction(0), Fraction(1, 10), Fraction(3, 10))
CITY = (
    ("oslo", "norway", "*"),
    ("bergen", "norway", "*"),
    ("rome", "italy", "*"),
    ("pisa", "italy", "*"),
    ("nowhere", "italy", "*"),
)


def case(seed: int, privacy: Privacy, rows: int = 17) -> Case:
    """Three columns: with a hierarchy and NULLs, nominal, numbers."""
    rng = random.Random(seed)
    values = tuple(
        (rng.choice(["oslo", "bergen", "rome", "rome", "pisa", None]), rng.choice("xxyz"), rng.choice([1, 1, 2]), rng.choice("aabcd"))
        for _ in range(rows)
    )  # fmt: skip
    return Case(
        f"lattice_{seed}",
        {"city": "TEXT", "kind": "TEXT", "n": "INTEGER", "sa": "TEXT"},
        values,
        {"city": QI("hierarchy", levels=CITY), "kind": QI("nominal", weight=2), "n": QI()},
        ("sa",),
        privacy,
    )


def pair() -> Case:
    """Two classes, {a, b} and {b}: with l = 2 one row is suppressed apart, and three together."""
    return Case(
        "pair", {"city": "TEXT", "sa": "TEXT"}, (("oslo", "a"), ("oslo", "b"), ("bergen", "b"), ("rome", "c"), ("rome", "a"), ("pisa", "d")),
        {"city": QI("hierarchy", levels=CITY)}, ("sa",), Privacy(k=1, l=Fraction(2)),
    )  # fmt: skip


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
            scratch, sample.encoded, sample.ready.requirements, execution, sys.maxsize, 2, Silent(), 0,
            suppression=suppression, most_unassigned=suppression.most(sample.encoded.rows),
        )  # fmt: skip
        made: Assignment = method(spec.method).assign(context)
        assert made.execution == execution
        of_row = {int(rid): int(number) for rid, number in _fetch(scratch, made.table, ["rid", "class"])}
        assert made.levels is not None
        codes = [domain.code for domain in sample.encoded.quasi]
        text = f'SELECT class, {", ".join(codes)} FROM "{made.levels.name}"'
        levels = {int(row[0]): tuple(map(int, row[1:])) for row in scratch.engine.fetch(text)}
    rids = [int(rid) for (rid,) in _fetch(sample.scratch, sample.encoded.work, ["rid"])]
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
def sample(
    request: pytest.FixtureRequest, connect_module: Any, table: Case, tmp_path: Path
) -> Iterator[Sample]:
    with encoded_sample(connect_module(request.param), table, tmp_path) as made:
        yield made


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
    for limit in LIMITS[: 1 if diverse else 3]:
        most = int(limit * sample.table.rows)
        expected = lattice.minimal(sample.table, table.privacy, most)
        chosen = min(
            (
                lattice.published(sample.table, table.privacy, node, "loss", most, starred=False)
                for node in expected
            ),
            key=lambda one: one.key,  # type: ignore[union-attr]
        )
        assert chosen is not None
        for execution in ("kernel", "pushdown"):
            one = found(sample, execution, {"search": "all"}, limit, "left_out")
            listed = "; ".join(" ".join(map(str, node)) for node in expected)
            assert one.notes[1].endswith(f": {listed}"), (limit, execution)
            assert f"{len(expected)} minimal nodes" in one.notes[1]
            assert one.node == chosen.node


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
@pytest.mark.parametrize(
    ("search", "rows"), [("global", "left_out"), ("all", "left_out"), ("global", "starred")]
)
def test_a_node_that_suppresses_every_row_is_none(
    connect_module: Any, tmp_path: Path, search: str, rows: str, execution: str
) -> None:
    """Rows of 8 different values, or 7 with two of a value: the node of least height would suppress them all, and lose as much."""
    for number, values in enumerate((range(8), (0, 0, *range(1, 7)))):
        one = Case(
            f"apart_{number}", {"x": "INTEGER"}, tuple((i,) for i in values), {"x": QI()}, (), Privacy(k=3)
        )
        expected = lattice.best(one.table, one.privacy, "loss", 8, starred=rows == "starred")
        assert (expected.node, len(expected.classes), expected.gone) == ((1,), 1, [])
        assert lattice.minimal(one.table, one.privacy, 8) == [(1,)]
        with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
            made = found(sample, execution, {"search": search}, Fraction(1), rows)
        assert (made.node, made.classes, made.gone) == ((1,), {frozenset(range(8))}, set())


@pytest.mark.parametrize(
    ("privacy", "values", "search", "limit", "rows", "said"),
    [
        (Privacy(k=2), "ab", "all", "1/5", "starred", r": raise limit, say rows: left_out, say search: global, or ask for less$"),
        (Privacy(k=1, l=Fraction(2)), "a", "global", "1", "left_out", r"; the whole table reaches l = 1 of sa: ask for less$"),
        (Privacy(k=1, l=Fraction(2)), "aaab", "global", "1/5", "left_out", r"l = 1.25 of sa: raise limit, or ask for less$"),
    ],
)  # fmt: skip
def test_where_no_node_will_do_only_options_not_yet_set_are_named(
    connect_module: Any, tmp_path: Path, privacy: Privacy, values: str, search: str, limit: str, rows: str, said: str
) -> None:  # fmt: skip
    """With k = 2, one row is apart, and is no class; with l, the table itself has too many rows of one value."""
    table = tuple((int(i == 4) if values == "ab" else 0, values[i % len(values)]) for i in range(5))
    one = Case("none", {"x": "INTEGER", "sa": "TEXT"}, table, {"x": QI()}, ("sa",), privacy)
    asked = {"method": f"fulldomain:search={search}", "suppression": {"limit": limit, "rows": rows}}
    with pytest.raises(InfeasibleError, match=said):
        release_rows(connect_module(PAIR[0]), one, tmp_path, **asked)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("divide", ["values", "whole"])
def test_local_classes_are_those_of_the_oracle(
    connect_module: Any, tmp_path: Path, seed: int, divide: str
) -> None:
    """Every row once, every class meets the policy: the oracle's classes, with and without a limit of nodes."""
    privacies = [
        Privacy(k=3),
        Privacy(k=1, l=Fraction(2)),
        Privacy(k=3, l=Fraction(7, 4)),
        Privacy(k=2, distinct_l=3),
    ]
    one = case(seed + 20, privacies[seed % 4], rows=31)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        for nodes in (0, 3):
            options = {"name": "fulldomain", "divide": divide} | ({"nodes": str(nodes)} if nodes else {})
            classes, _ = sample.classes("kernel", method=options, seed=1)
            own = [
                sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows)
                for rows in classes
            ]
            expected = lattice.local(sample.table, replace(one.privacy), divide, nodes)
            assert sorted(own) == sorted(
                sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows)
                for rows in expected
            )


@pytest.mark.parametrize("divide", ["values", "whole"])
def test_local_leaves_rows_out_where_that_loses_less(
    connect_module: Any, tmp_path: Path, divide: str
) -> None:
    """Within the limit, with every class lawful (verified), never with more loss; by hand where one value is frequent."""
    places = zip(("oslo", "bergen", "rome", "pisa"), "wxyz", range(4), strict=True)
    rows = [(*place, sa) for place in places for sa in "bc"] + [("nowhere", "v", 5, "a")] * 8
    tables = [replace(case(0, Privacy(k=1, l=Fraction(2))), rows=tuple(rows))]
    tables += [case(seed + 60, Privacy(k=2, l=Fraction(2)), rows=41) for seed in range(2)]
    # The search counts what levels lose: so does LM where every column has a hierarchy.
    own = {
        name: QI("hierarchy", levels=tuple((value, "*") for value in values))
        for name, values in (("kind", "vwxyz"), ("n", "01235"))
    }
    for one in (replace(table, quasi={**table.quasi, **own}) for table in tables):
        method = {"name": "fulldomain", "divide": divide}
        db = connect_module(PAIR[0])
        _, without = release_rows(db, one, tmp_path, method=method)
        asked = {"limit": "1/2", "rows": "left_out"}
        shown, report = release_rows(db, one, tmp_path, method=method, suppression=asked)
        assert report.verified
        assert report.left_out == one.table.rows - len(shown) <= one.table.rows / 2
        assert report.loss.lm <= without.loss.lm + 1e-12
        if one.rows == tables[0].rows:
            # Every other row has to be in a class with one of the frequent value, or can be in a class of its own place.
            assert (report.left_out, report.loss.lm) == (8, pytest.approx(8 / 16))
            assert without.loss.lm > 8 / 16


@pytest.mark.parametrize("seed", range(3))
def test_the_filter_of_large_lattices_changes_nothing(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    one = case(
        seed + 40, [Privacy(k=3), Privacy(k=1, l=Fraction(2)), Privacy(k=2, distinct_l=2)][seed], rows=90
    )
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        made = []
        for large in (sieve.LARGE, 0):
            monkeypatch.setattr(sieve, "LARGE", large)
            classes, _ = sample.classes("kernel", method="fulldomain", seed=1)
            made.append({frozenset(rows) for rows in classes})
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("options", "more", "what"),
    [
        ({"metric": "dm"}, {}, "search=local goes by the loss; leave metric out, or say search=global"),
        ({}, {"execution": "pushdown"}, "search=local has no pushdown; leave execution out (auto), or say search=global"),
        ({"search": "global", "nodes": "9"}, {}, "leave nodes out, or say search=local"),
        ({}, {"suppression": Fraction(1, 10)}, "leave suppression out, or say search=global"),
        ({}, {"suppression": Fraction(1, 10), "l": Fraction(2), "sensitive": 1}, "leave suppression out, or say rows: left_out"),
        ({"search": "all"}, {"suppression": Fraction(1, 10), "l": Fraction(2), "sensitive": 1}, "leave suppression out"),
        ({"search": "global"}, {"refine": True}, "leave refine out, or say search=local"),
        ({"divide": "whole"}, {"refine": True}, "leave refine out, or say divide=values"),
        ({}, {"maximize": "k"}, "fulldomain does not maximize k; maximize k with tree"),
        ({}, {"format": "anatomy"}, "cannot be published in the format anatomy; fulldomain goes with ranges"),
    ],
)  # fmt: skip
def test_what_it_does_not_take_is_refused_with_what_to_do(
    options: dict[str, str], more: dict[str, Any], what: str
) -> None:
    asked = Asked("fulldomain", FULLDOMAIN.values(options), **{"k": 2, "quasi": 2, **more})
    assert any(what in str(one) for one in refusals(FULLDOMAIN, asked)), refusals(FULLDOMAIN, asked)
    assert not refusals(FULLDOMAIN, Asked("fulldomain", FULLDOMAIN.values({}), k=2, quasi=2, refine=True))


def test_remarks_on_refine() -> None:
    """Plan says where it does nothing."""
    asked = {"source": "t", "quasi": ["a", "b"], "k": 2, "refine": {"search": 0}}
    (said,) = remarks(spec_of(**asked, method="fulldomain"))
    assert said.startswith("refine: after fulldomain with search=local")
    assert not remarks(spec_of(**asked, method="tree"))
    assert not remarks(spec_of(**{**asked, "refine": None}, method="fulldomain"))
    assert not remarks(spec_of(**{**asked, "refine": True}, method="fulldomain"))


def test_a_lattice_that_is_too_large_is_refused(shared_db: Any) -> None:
    columns = [f"c{i}" for i in range(20)]
    shared_db.engine.execute(
        f"CREATE TABLE many_columns AS SELECT {', '.join(f'1 AS {name}' for name in columns)}"
    )
    with pytest.raises(
        PolicyError,
        match=r"at most 1000000 combinations of levels, and the 20 quasi columns have 1048576: .*or use method tree",
    ):
        shared_db.anonymize("many_columns", quasi=columns, k=1, method="fulldomain")


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
        connect_module(engine), one, tmp_path, method="fulldomain:search=global", format="labels",
        suppression={"limit": "3/10", "rows": rows},
    )  # fmt: skip
    assert report.verified
    assert report.suppressed == len(expected.gone)
    assert len(shown) == one.table.rows - (len(expected.gone) if rows == "left_out" else 0)
    hidden = [row for row in shown if all(row[name] == "*" for name in one.quasi)]
    assert len(hidden) == (len(expected.gone) if rows == "starred" else 0)
    assert report.classes == len(expected.classes) + (rows == "starred")
    cities = {row["city"] for row in shown} - {"*", "NULL"}
    labels = {path[expected.node[0]] for path in CITY}
    assert cities <= labels
