"""Every one-dimensional method of the registry, order and solver, on random tables without a database."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.methods.onedim import direct
from tests.contract.axes import Way, ways
from tests.contract.cases import Case
from tests.oracle.chance import SEED
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.methods import JOINT, ORACLES, SEVERAL
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.onedim import by_number, context_of, kinds, loaded, order_of, shown
from tests.properties.strategies import cases, examples

WAYS = [way for way in ways() if way.method in kinds()]
DEFAULTS = [way for way in WAYS if way.options["minimize"] == "gcp"]


def solve(table: Table, privacy: Privacy, way: Way, stored: list[int] | None = None) -> list[list[int]]:
    """The product's classes, in row numbers, along the order."""
    kind = kinds()[way.method]
    context, data = context_of(table, privacy, SEED), loaded(table, stored)
    order = order_of(way.method)
    found = order.arrange(context, data)
    group = direct.solve(context, data, found, order, fast=kind.fast, minimize=way.options["minimize"])
    rows = [int(data.rid[i]) for i in found.bare.number]
    return [[rows[i] for i in members] for members in by_number(group)]


@pytest.mark.parametrize("way", WAYS, ids=str)
@examples(25)
@given(case=cases(max_rows=24), data=st.data())
def test_classes_are_those_of_the_oracle_and_meet_every_requirement(way: Way, case: Case, data: st.DataObject) -> None:
    """In any physical order of the rows."""
    if not way.takes(case):
        case = replace(case, privacy=Privacy(k=case.privacy.k))
    table = case.table
    found = solve(table, case.privacy, way, data.draw(st.permutations(range(table.rows))))
    assert sorted(row for rows in found for row in rows) == list(range(table.rows))
    assert all(meets(table, rows, case.privacy) for rows in found)
    assert shown(table, found) == shown(table, way.classes(case))


@pytest.mark.parametrize("way", DEFAULTS, ids=str)
@examples(25)
@given(case=cases(max_rows=30, max_quasi=2), data=st.data())
def test_every_whole_l_that_a_table_admits_has_a_solution(way: Way, case: Case, data: st.DataObject) -> None:
    """Up to the largest, with any k."""
    n = case.table.rows
    values = data.draw(st.lists(st.sampled_from("aaabbcdefgh"), min_size=n, max_size=n))
    table = replace(case.table, sensitive=(Sensitive("s", tuple(values)),))
    most = n // max(Counter(values).values())
    k = data.draw(st.integers(1, n))
    for l in range(1, most + 1):  # noqa: E741 - the papers' symbol
        privacy = Privacy(k=k, l=Fraction(l))
        assert feasible(table, privacy)
        assert all(meets(table, rows, privacy) for rows in solve(table, privacy, way))
    assert not feasible(table, Privacy(l=Fraction(most + 1)))


TAKING_SEVERAL = [way for way in DEFAULTS if {SEVERAL, JOINT} <= ORACLES[way.method].takes]


@pytest.mark.parametrize("way", TAKING_SEVERAL, ids=str)
@examples(20)
@given(case=cases(max_rows=20, max_quasi=2), data=st.data())
def test_l_of_several_columns(way: Way, case: Case, data: st.DataObject) -> None:
    """Frequency and distinct l of two sensitive columns, which the random cases above seldom have both."""
    n = case.table.rows
    values = st.lists(st.sampled_from("aabc"), min_size=n, max_size=n)
    sensitive = tuple(Sensitive(name, tuple(data.draw(values))) for name in "st")
    table = replace(case.table, sensitive=sensitive)
    privacy = Privacy(
        k=data.draw(st.integers(1, min(4, n))),
        l=data.draw(st.sampled_from([None, Fraction(3, 2), Fraction(2)])),
        distinct_l=data.draw(st.sampled_from([None, 2])),
        joint=data.draw(st.booleans()),
    )
    if not feasible(table, privacy):
        privacy = Privacy(k=privacy.k)
    found = solve(table, privacy, way)
    assert all(meets(table, rows, privacy) for rows in found)
    assert shown(table, found) == shown(table, ORACLES[way.method].classes(table, privacy, way.options, SEED))


@pytest.mark.parametrize("name", ["hilbert", "idistance"])
@pytest.mark.parametrize("privacy", [Privacy(k=3), Privacy(k=5, l=Fraction(2))], ids=str)
def test_large_nominal_domains(name: str, privacy: Privacy) -> None:
    """Sets of more than a word, and domains too large for sets."""
    rng = random.Random(256)
    n = 270
    table = Table(
        (
            Quasi("span", tuple(f"v{i:03}" for i in rng.sample(range(n), n)), "nominal", 2),
            Quasi("words", tuple(rng.choice([None, *(f"w{i}" for i in range(90))]) for _ in range(n)), "nominal"),
            Quasi("x", tuple(rng.choice([None, rng.randint(0, 9)]) for _ in range(n))),
        ),
        (Sensitive("s", tuple(rng.choice("aabcdefgh") for _ in range(n))),),
    )
    way = Way(name, {"minimize": "gcp"})
    found = solve(table, privacy, way, rng.sample(range(n), n))
    expected = ORACLES[name].classes(table, privacy, way.options, SEED)
    assert shown(table, found) == shown(table, expected)


@pytest.mark.parametrize("way", DEFAULTS, ids=str)
@examples(25)
@given(case=cases(max_rows=30, max_quasi=2), data=st.data())
def test_every_fraction_that_a_table_admits_has_a_solution(way: Way, case: Case, data: st.DataObject) -> None:
    """With any k; a fraction that one class of all rows does not meet has none."""
    n = case.table.rows
    values = data.draw(st.lists(st.sampled_from("aaaabbcd"), min_size=n, max_size=n))
    table = replace(case.table, sensitive=(Sensitive("s", tuple(values)),))
    k = data.draw(st.integers(1, n))
    for l in (Fraction(5, 4), Fraction(4, 3), Fraction(3, 2), Fraction(7, 3), Fraction(5, 2)):  # noqa: E741
        privacy = Privacy(k=k, l=l)
        if feasible(table, privacy):
            found = solve(table, privacy, way)
            assert sorted(row for rows in found for row in rows) == list(range(n))
            assert all(meets(table, rows, privacy) for rows in found)


@pytest.mark.parametrize("way", DEFAULTS, ids=str)
def test_a_fraction_is_not_solved_as_the_next_whole_number(way: Way) -> None:
    """Below x = 24 two of three rows are a's, beyond 1000 none: l = 3/2 needs no class with both, l = 2 does."""
    values = [*("aab" * 8), *("bc" * 12)]
    table = Table((Quasi("x", tuple(i if i < 24 else 1000 + i for i in range(48))),), (Sensitive("s", tuple(values)),))

    def mixed(l: Fraction) -> int:  # noqa: E741
        found = solve(table, Privacy(k=3, l=l), way)
        return sum(len({row < 24 for row in rows}) == 2 for rows in found)

    assert mixed(Fraction(3, 2)) == 0
    assert mixed(Fraction(2)) > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_short_look_costs_loss_but_no_privacy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are looked at up to a bound.

    Where that does not do, the rest of the table is one class, which meets everything.
    """
    monkeypatch.setattr(direct, "_FIRST_LOOK", 4)
    monkeypatch.setattr(direct, "_STEPS", 200 * 6)
    rng = random.Random(seed)
    table = Table(
        (Quasi("x", tuple(rng.randint(0, 99) for _ in range(200))),),
        tuple(Sensitive(name, tuple(rng.choice("aaabc") for _ in range(200))) for name in "st"),
    )
    privacy = Privacy(k=1, l=Fraction(5, 4))
    found = solve(table, privacy, Way("hilbert", {"minimize": "gcp"}))
    assert all(meets(table, rows, privacy) for rows in found)
    assert sorted(row for rows in found for row in rows) == list(range(200))
