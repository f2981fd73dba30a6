"""Annealing: never more loss, every requirement kept, and on small tables nearly always the best of all partitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.declared.parameters import Closeness
from sqlanon.kernels.random import seed_state
from sqlanon.kernels.unions import boxes_of, measure_of
from sqlanon.methods.base import Context
from sqlanon.methods.shared import annealing
from sqlanon.methods.shared.kernel_input import WholeTable
from sqlanon.methods.shared.kernels.dealt_halves import halve_dealt
from sqlanon.methods.shared.kernels.unite import unite_failing
from sqlanon.methods.shared.search import search_classes
from sqlanon.methods.shared.search_table import SearchTable
from sqlanon.privacy.requirements import make_requirements
from sqlanon.spec import PrivacySpec
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, wide
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy, meets
from tests.properties.kernel import demands, product_codes
from tests.properties.onedim import by_number, context_of, in_order
from tests.properties.strategies import cases, examples
from tests.properties.test_refine_search import lawful

Classes = list[list[int]]
Allowed = Callable[[list[int]], bool]


def of_rows(table: Table) -> tuple[np.ndarray, list[np.ndarray]]:
    """Quasi and sensitive codes, as methods fetch them."""
    codes = np.array([product_codes(column) for column in table.quasi], np.int32)
    return codes, [np.array(column.codes, np.int32) for column in table.sensitive]


def annealed(table: Table, context: Context, whole: WholeTable, before: Classes, steps: int) -> Classes:
    codes, sensitive = of_rows(table)
    group = np.empty(table.rows, np.int64)
    for number, members in enumerate(before):
        group[members] = number
    _, shape = in_order(table)
    return by_number(annealing.anneal_classes(SearchTable(context, codes, sensitive, shape, whole), group, steps))


def seeded_context(table: Table, privacy: Privacy, seed: int, threads: int = 1) -> Context:
    context = context_of(table, privacy, threads=threads)
    context.search_seed = seed  # type: ignore[misc]
    return context


@examples(60)
@given(case=cases(max_rows=40), data=st.data(), steps=st.sampled_from((1, 30, 300)), seed=st.integers(0, 99))
def test_annealed_classes_are_no_worse_and_keep_every_requirement(
    case: Case, data: st.DataObject, steps: int, seed: int
) -> None:
    table, privacy = case.table, replace(case.privacy, k=max(1, case.privacy.k))
    drawn = data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows))
    before = lawful(table, privacy, drawn)
    if not meets(table, before[0], privacy):
        return
    after = annealed(table, seeded_context(table, privacy, seed), WholeTable(), before, steps)
    assert sorted(row for rows in after for row in rows) == list(range(table.rows))
    assert all(meets(table, rows, privacy) for rows in after)
    assert gcp(table, after) <= gcp(table, before)
    assert annealed(table, seeded_context(table, privacy, seed), WholeTable(), before, steps) == after


@examples(60)
@given(case=cases(max_rows=40), data=st.data())
def test_failing_classes_are_united_and_others_divided(case: Case, data: st.DataObject) -> None:
    table, privacy = case.table, replace(case.privacy, k=max(1, case.privacy.k))
    drawn = data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows))
    rows, shape = in_order(table)
    box, measure, asked = boxes_of(rows.places), measure_of(shape, rows.places.shape[1]), demands(table, privacy)
    group = np.array(drawn, np.int32)
    feasible = unite_failing(box, rows.sets, measure, asked, group, 7)
    assert feasible == meets(table, range(table.rows), privacy)
    united = by_number(group)
    if not feasible:
        return
    assert all(meets(table, members, privacy) for members in united)
    for members in by_number(drawn):  # none is divided
        assert len({int(group[row]) for row in members}) == 1
    codes, sensitive = of_rows(table)
    key = np.unique(np.array([*sensitive, np.zeros(table.rows, np.int32)]), axis=1, return_inverse=True)[1]
    made = halve_dealt(
        codes, box, rows.sets, measure, asked, key.reshape(-1).astype(np.int64), group, privacy.k, seed_state(1)
    )
    halves = by_number(group)
    assert made == len(halves) >= len(united)
    assert all(meets(table, members, privacy) for members in halves)
    assert gcp(table, halves) <= gcp(table, united)


def close(table: Table, t: Fraction, k: int) -> Allowed:
    """Whether a class has k rows and half the sum of the differences of shares is at most t."""
    values = table.sensitive[0].codes
    whole = Counter(values)

    def allowed(rows: list[int]) -> bool:
        own = Counter(values[row] for row in rows)
        moved = sum(abs(Fraction(own[v], len(rows)) - Fraction(n, len(values))) for v, n in whole.items()) / 2
        return len(rows) >= k and moved <= t

    return allowed


def least_loss(table: Table, allowed: Allowed) -> int:
    """The least rows x extents of all partitions: for every set of rows, the best class of the first of them."""
    n = table.rows
    price = {}
    for chosen in range(1, 1 << n):
        rows = [row for row in range(n) if chosen >> row & 1]
        if allowed(rows):
            price[chosen] = len(rows) * wide(table, rows)
    best = [0] + [2**62] * ((1 << n) - 1)
    for left in range(1, 1 << n):
        first = left & -left
        rest = left ^ first
        part = rest
        while True:
            own = part | first
            if own in price:
                best[left] = min(best[left], price[own] + best[left ^ own])
            if part == 0:
                break
            part = (part - 1) & rest
    return best[-1]


def drawn_table(rng: random.Random, most: int) -> Table:
    n = rng.randint(6, most)
    columns = tuple(Quasi(f"x{j}", tuple(rng.randint(0, 9) for _ in range(n))) for j in range(rng.randint(1, 3)))
    disease = [("flu", "cold", "hiv")[min(i % 5, 2)] for i in range(n)]
    rng.shuffle(disease)
    return Table(columns, (Sensitive("s", tuple(disease)),))


def found_best(model: str, tables: int, most: int) -> int:
    """In how many tables the search with 100 trials finds the best partition, from one class of all rows."""
    rng, found = random.Random(11), 0
    for number in range(tables):
        table = drawn_table(rng, most)
        codes, sensitive = of_rows(table)
        context = seeded_context(table, Privacy(k=2), number)
        if model == "t":
            allowed = close(table, Fraction(2, 5), 2)
            spec = PrivacySpec(k=2, more={"t": Closeness(Fraction(2, 5), "equal")})
            whole = WholeTable([np.bincount(sensitive[0])])
        else:
            worth = Privacy(k=2, l=Fraction(3, 2))

            def allowed(rows: list[int], table: Table = table, worth: Privacy = worth) -> bool:
                return meets(table, rows, worth)

            spec, whole = PrivacySpec(k=2, l=Fraction(3, 2)), WholeTable()
        context.requirements = make_requirements(spec, ("s",))  # type: ignore[misc]
        searched = SearchTable(context, codes, sensitive, in_order(table)[1], whole)
        after = by_number(search_classes(searched, np.zeros(table.rows, np.int64), 100).group)
        assert all(allowed(rows) for rows in after)
        least, reached = least_loss(table, allowed), gcp(table, after)
        assert reached >= least
        found += reached == least
    return found


@pytest.mark.parametrize("model", ["l", "t"])
def test_nearly_always_the_best_of_all_partitions(model: str) -> None:
    assert found_best(model, 10, 8) >= 9


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["l", "t"])
def test_nearly_always_the_best_of_all_partitions_of_12_rows(model: str) -> None:
    assert found_best(model, 50, 12) >= 45


def test_many_classes_where_values_depend_on_place() -> None:
    """Two regions with a value each: no cut divides them for t, dealt halves do, down to pairs."""
    table = Table(
        (Quasi("x", tuple(range(40))), Quasi("y", tuple([0] * 40))),
        (Sensitive("s", tuple("ab"[at // 20] for at in range(40))),),
    )
    context = seeded_context(table, Privacy(k=2), 0)
    context.requirements = make_requirements(PrivacySpec(k=2, more={"t": Closeness(Fraction(0), "equal")}), ("s",))  # type: ignore[misc]
    after = annealed(table, context, WholeTable([np.bincount(table.sensitive[0].codes)]), [list(range(40))], 2000)
    assert len(after) == 20
    assert all(sorted(row // 20 for row in rows) == [0, 1] for rows in after)
    # Every pair is at least 1 apart, and pairs of one order are 20 apart each: the sum is that of any matching.
    assert gcp(table, after) == gcp(table, [[at, at + 20] for at in range(20)])


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "BLOCK", 100)
    rng = random.Random(5)
    table = Table(
        tuple(Quasi(name, tuple(rng.randint(0, 99) for _ in range(400))) for name in "xy"),
        (Sensitive("s", tuple(rng.choice("aaabbc") for _ in range(400))),),
    )
    privacy = Privacy(k=4, l=Fraction(3, 2))
    order = sorted(range(400), key=lambda row: table.codes[row])
    before = lawful(table, privacy, [order.index(row) // 8 for row in range(400)])
    one = annealed(table, seeded_context(table, privacy, 0), WholeTable(), before, 100)
    assert gcp(table, one) < gcp(table, before)
    assert annealed(table, seeded_context(table, privacy, 0, threads=4), WholeTable(), before, 100) == one
    assert annealed(table, seeded_context(table, privacy, 3), WholeTable(), before, 100) != one
