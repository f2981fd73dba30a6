"""Method tds: with a target, and the levels of its cut, against the plain search; what it refuses."""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.base import Context
from sqlanon.methods.method import make_method
from sqlanon.policy import release as spec_of
from sqlanon.progress import SilentProgress
from sqlanon.table.scratch import Scratch
from sqlanon.testing.assignment import rows_by_id
from tests.contract.assigned import encoded_sample
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.contract.lattices import case
from tests.engines import PAIR
from tests.oracle.lattice import generalized
from tests.oracle.recode import released
from tests.oracle.requirements import Privacy
from tests.oracle.tds import specialized

PRIVACIES = [
    Privacy(k=2),
    Privacy(k=4),
    Privacy(k=1, l=Fraction(2)),
    Privacy(k=3, l=Fraction(3, 2)),
    Privacy(k=2, distinct_l=2),
]


@pytest.mark.parametrize("seed", range(10))
def test_classes_and_cut_are_those_of_the_plain_search(connect_module: Any, tmp_path: Path, seed: int) -> None:
    """With and without a target; on both engines in turn."""
    one = case(seed + 80, PRIVACIES[seed % 5], rows=41)
    with encoded_sample(connect_module(PAIR[seed % 2]), one, tmp_path) as sample:
        for target in ({}, {"target": "sa"}):
            values = sample.table.sensitive[0].values if target else None
            classes, cut = specialized(sample.table, one.privacy, values)
            spec = spec_of(**sample.arguments, method={"name": "tds", "publish": "cut", **target})
            with Scratch(sample.scratch.engine) as scratch:
                context = Context(
                    scratch, sample.encoded, sample.ready.requirements, "kernel", sys.maxsize, 2, SilentProgress(), 1
                )
                made = make_method(spec.method).assign(context)
                of_row = [int(number) for _, number in rows_by_id(scratch, made.table, ["rid", "class"])]
                assert made.levels is not None
                codes = ", ".join(domain.code for domain in sample.encoded.quasi)
                text = f'SELECT class, {codes} FROM "{made.levels.name}"'
                levels = {int(row[0]): row[1:] for row in scratch.engine.fetch(text)}
            found: dict[int, set[int]] = {}
            for row, number in enumerate(of_row):
                found.setdefault(number, set()).add(row)
            assert {frozenset(rows) for rows in found.values()} == {frozenset(rows) for rows in classes}
            for row, number in enumerate(of_row):
                for column, own, level in zip(sample.table.quasi, cut, levels[number], strict=True):
                    assert generalized(column, int(level), row) == generalized(column, own[row], row)


@pytest.mark.parametrize("kind", ["labels", "ranges"])
def test_a_whole_run_publishes_the_cut(connect_module: Any, tmp_path: Path, kind: str) -> None:
    one = case(91, Privacy(k=3), rows=41)
    classes, cut = specialized(one.table, one.privacy)
    levels = {place: [own[rows[0]] for own in cut] for place, rows in enumerate(classes)}
    shown, report = release_rows(connect_module(PAIR[0]), one, tmp_path, method="tds:publish=cut", format=kind)
    assert report.verified
    assert multiset(shown) == Counter(multiset(released(one.table, classes, kind, levels=levels)))


@pytest.mark.parametrize(
    ("options", "more", "what"),
    [
        (
            {"target": "kind"},
            {},
            r"method\[target\]: tds: target is no sensitive column of the policy; name one \(sa\), or leave target out",
        ),
        ({}, {"execution": "pushdown"}, "tds has no pushdown: it is not written as SQL; leave execution out"),
        ({"publish": "cut"}, {"refine": True}, "leave refine out, or say publish=least"),
        ({"publish": "root"}, {}, r"method\[publish\]: not a word known here; one of least, cut"),
        ({}, {"suppression": {"limit": "1/10"}}, "tds suppresses no rows: it would not help: .* leave suppression out"),
        (
            {},
            {"suppression": {"limit": "3/2"}},
            r"suppression\[limit\]: too large; a number of at least 0 and at most 1",
        ),
        (
            {},
            {"k": None, "max_loss": 0.5, "maximize": "k", "at_least": {"k": 2}},
            "tds does not maximize k: .*; maximize k with tree",
        ),
        ({}, {"k": None, "l": 2, "format": "anatomy"}, "cannot be published in the format anatomy: .*; tds goes with"),
        ({}, {"memory": 2000}, "tds needs 1 MiB of memory .*: raise memory to 1MiB, or use mondrian"),
    ],
)
def test_what_it_does_not_take_is_refused_with_what_to_do(
    connect_module: Any, tmp_path: Path, options: dict[str, Any], more: dict[str, Any], what: str
) -> None:
    one = case(92, Privacy(k=2), rows=41)
    with pytest.raises(PolicyError, match=what):
        release_rows(connect_module(PAIR[0]), one, tmp_path, method={"name": "tds", **options}, **more)


def test_the_largest_feasible_l_is_named(connect_module: Any, tmp_path: Path) -> None:
    """A column without a hierarchy has the value and `*`: what is feasible is what the whole table reaches."""
    one = Case(
        "tds_l",
        {"n": "INTEGER", "sa": "TEXT"},
        tuple((i, "aab"[i % 3]) for i in range(9)),
        {"n": QI()},
        ("sa",),
        Privacy(k=1),
    )
    db = connect_module(PAIR[0])
    with pytest.raises(InfeasibleError, match=r"largest feasible value is 1\.5"):
        release_rows(db, one, tmp_path, method="tds", l=2)
    rows, report = release_rows(db, one, tmp_path, method="tds:publish=cut", l="3/2", format="labels")
    assert report.verified
    assert {row["n"] for row in rows} == {"*"}
