"""Persons with several rows, in tables that share columns: readers do not know which combinations of all occur."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sqlanon.statistics import foreseen
from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.foreseen import check_cost
from sqlanon.statistics.system import System
from sqlanon.statistics.traces import order_tables, over_traces
from sqlanon.statistics.unserved import UnservedError
from tests.oracle.person_reader import Rows, Source
from tests.oracle.table_reader import Cell
from tests.unit.cells.persons_made import Persons, persons

pytest.importorskip("highspy")

M = 3
BOTH, ALONE = ("n", "persons"), ("persons",)
CHAIN = {"shape": (2, 2, 2), "tables": [(0, 1), (1, 2)]}
LONG = {"shape": (2, 2, 2, 2), "tables": [(0, 1), (1, 2), (2, 3)]}
APART = {"shape": (2, 3), "tables": [(0,), (1,)]}
QUICK = [
    (BOTH, 0, {**CHAIN, "constant": (0, 1), "many": 6}),
    (ALONE, 1, {**CHAIN, "constant": (1,), "many": 5}),
    (BOTH, 2, {**APART, "many": 5}),
]
DRAWN = [
    *((measures, seed, {**CHAIN, "constant": (0, 1), "many": 8}) for measures in (BOTH, ALONE) for seed in range(6)),
    *((measures, seed, {**CHAIN, "constant": (1,), "many": 7}) for measures in (BOTH, ALONE) for seed in range(6)),
    *((measures, seed, {**CHAIN, "many": 5}) for measures in (BOTH, ALONE) for seed in range(4)),
    *((measures, seed, {**APART, "many": 7}) for measures in (BOTH, ALONE) for seed in range(6)),
    *((BOTH, seed, {**LONG, "constant": (0, 1, 2), "many": 7}) for seed in range(4)),
]
CASES = [
    *(pytest.param(*case, id=f"quick{place}") for place, case in enumerate(QUICK)),
    *(pytest.param(*case, id=f"drawn{place}", marks=pytest.mark.thorough) for place, case in enumerate(DRAWN)),
]


def system_of(case: Persons) -> System:
    """The system over traces."""
    rows = case.rows()
    counted = np.zeros(len(rows), np.int64)
    for cell, of in zip(case.case.cells, rows.listed, strict=True):
        counted[of] = case.persons(cell)
    made = over_traces(rows, counted, case.patterns(), case.case.tables, b"key", rows="n" in case.measures)
    assert made is not None
    return made


def with_all(case: Persons) -> Persons:
    """The same for who does not know which combinations occur: those of which each table lists the cell."""
    own, columns = case.case, range(len(next(iter(case.case.counts))))
    values = [sorted({codes[at] for codes in own.counts}) for at in columns]
    able = [
        codes
        for codes in itertools.product(*values)
        if codes not in own.counts
        and all(tuple(codes[at] if at in table else None for at in columns) in own.within for table in own.tables)
    ]
    counts = {**own.counts, **dict.fromkeys(able, 0)}
    within = {
        cell: tuple(
            place
            for place, codes in enumerate(counts)
            if all(node in (None, code) for node, code in zip(cell, codes, strict=True))
        )
        for cell in own.cells
    }
    return replace(case, case=replace(own, counts=counts, within=within))


def protect(case: Persons, *, insiders: bool) -> HiddenChoice | None:
    """The hidden cells; None: nothing may be published, or the grand total is hidden, and readers have no end."""
    try:
        found = choose_hidden(system_of(case), M, insiders=insiders, secret=b"key")
    except UnservedError:
        return None
    total = case.case.cells.index(tuple(None for _ in case.case.cells[0]))
    return None if hidden_of(case, found)[total] else found


def hidden_of(case: Persons, found: HiddenChoice) -> list[bool]:
    return [bool(found.hidden[of]) for of in system_of(case).listed]


def least_of(case: Persons, cell: Cell) -> int:
    """The finest cells of a table in it, of the table with most; cells of the same rows have the most of all."""
    return max(case.case.parts(other) for other in case.case.cells if case.case.within[other] == case.case.within[cell])


def failing(case: Persons, hidden: Sequence[bool], known: tuple[Rows, Sequence[Cell]] | None = None) -> list[Cell]:
    """The small cells that cannot have each number of persons that is promised; ``known``: what an insider knows."""
    wide = with_all(case)
    asked = [cell for cell in case.small if known is None or cell not in known[1]]
    found = wide.read(case.shown(hidden), asked, known)
    wrong = []
    for cell in asked:
        parts = least_of(case, cell)
        least = min(parts, M)
        if not {count for _, count in found[cell]}.issuperset(range(least, M + 1)):
            wrong.append(cell)
        if known is None and "n" in case.measures and min(rows for rows, _ in found[cell]) > parts:
            wrong.append(cell)
    return wrong


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_no_reader_finds_a_small_cell(measures: Sequence[str], seed: int, how: dict[str, object]) -> None:
    case = persons(("traces", seed), **{"measures": measures, **how})  # type: ignore[arg-type]
    found = protect(case, insiders=False)
    if found is not None:
        assert failing(case, hidden_of(case, found)) == []


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_nobody_who_is_alone_finds_another_small_cell(
    measures: Sequence[str], seed: int, how: dict[str, object]
) -> None:
    case = persons(("alone in traces", seed), **{"measures": measures, **how})  # type: ignore[arg-type]
    found = protect(case, insiders=True)
    if found is not None:
        for known in case.alone():
            assert failing(case, hidden_of(case, found), known) == []


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_witnesses_are_sources_that_agree_with_what_is_shown(
    measures: Sequence[str], seed: int, how: dict[str, object]
) -> None:
    case = persons(("witness of traces", seed), **{"measures": measures, **how})  # type: ignore[arg-type]
    try:
        found = choose_hidden(system_of(case), M, insiders=True, secret=b"key")
    except UnservedError:
        return
    hidden, wide = hidden_of(case, found), with_all(case)
    assert found.sources is not None
    system, alone = found.sources.system, dict(case.alone())
    assert system.wholes is not None
    nodes = np.concatenate(system.wholes.system.atoms.nodes).T.tolist()
    place_of = {codes: place for place, codes in enumerate(wide.case.counts)}
    able = set(wide.able(max(len(kind) for kind in case.source)))
    ends: dict[tuple[Rows | None, Cell], set[int]] = {}
    for change in found.sources.changes:
        numbers = system.atoms.count + change
        assert (numbers >= 0).all()
        source: Source = {}
        for part, number in enumerate(numbers.tolist()):
            atoms, times = system.wholes.entries(part)
            placed = [place_of[tuple(nodes[atom])] for atom in np.repeat(atoms, times)]
            rows = tuple(sorted(placed))
            if number:
                source[rows] = number
            assert not change[part] or "n" not in measures or rows in able
        witness = replace(wide, source=source)
        for cell, hide in zip(case.case.cells, hidden, strict=True):
            assert witness.persons(cell) >= 1
            assert hide or witness.numbers(cell) == case.numbers(cell)
        knowing = [own for own, cells in alone.items() if _keeps(witness, own, cells)]
        for who in (None, *knowing):
            for cell in case.small:
                ends.setdefault((who, cell), set()).add(witness.persons(cell))
    for who in (None, *alone):
        for cell in case.small:
            if who is None or cell not in alone[who]:
                assert max(ends[who, cell]) >= M


def _keeps(witness: Persons, own: Rows, cells: Sequence[Cell]) -> bool:
    """Whether a source is one for who has some rows, and is alone in some cells."""
    inside = {place for cell in cells for place in witness.case.within[cell]}
    return [kind for kind, number in witness.source.items() if inside & set(kind) for _ in range(number)] == [own]


def test_tables_that_are_no_tree_have_no_traces() -> None:
    assert order_tables([(0, 1), (1, 2), (0, 2)]) is None
    assert order_tables([(0, 1), (0, 1, 2), (1,)]) is None
    assert order_tables([(0, 1), (1, 2)]) == [((1, 2), ()), ((0, 1), (1,))]
    assert order_tables([(0,), (1,)]) == [((1,), ()), ((0,), ())]


def test_traces_are_fewer_than_patterns_and_have_the_same_cells() -> None:
    case = persons("same", **CHAIN, many=9)  # type: ignore[arg-type]
    system = system_of(case)
    sums = system.sums(system.atoms.count)
    assert (sums == system.value).all()
    assert [int(system.value[of]) for of in system.listed] == [case.persons(cell) for cell in case.case.cells]
    links = system.value == 0
    assert links.any()
    assert (system.fixed == links).all()


def test_a_search_that_would_cost_too_much_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    system = system_of(persons("foreseen", **CHAIN, many=9))  # type: ignore[arg-type]
    check_cost(system, 3, system.small)
    monkeypatch.setattr(foreseen, "MOST_FORESEEN", 100)
    with pytest.raises(UnservedError) as refused:
        check_cost(system, 3, system.small)
    assert refused.value.foreseen
    assert refused.value.exhausted
    margin = tuple(system.levels_of(refused.value.margin))
    shares: dict[tuple[int, ...], list[bool]] = {}
    for cell, of in enumerate(system.listed):
        shares.setdefault(tuple(system.levels_of(cell)), []).append(bool(system.small[of]))
    assert np.mean(shares[margin]) == max(np.mean(small) for small in shares.values())
