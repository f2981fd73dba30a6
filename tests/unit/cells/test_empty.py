"""Linked tables: combinations that do not occur, and of which no table says so, are possible for readers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from sqlanon.statistics.choose import UnservedError, choose_hidden
from sqlanon.statistics.empty_combinations import list_empty
from sqlanon.statistics.system import Atoms, PublishedCells, System, build_system
from tests.oracle.table_reader import Cell, ends, tables
from tests.unit.cells.made import Tiny, tiny

pytest.importorskip("highspy")

M = 3
LINKED = ((0, 1), (0, 2))


def sparse(seed: int) -> dict[tuple[int, ...], int]:
    """One value of the first column has few persons."""
    draw = random.Random(seed)
    few = {codes: int(draw.random() < 0.4) for codes in itertools.product((0,), range(2), range(3))}
    return {codes: n for codes, n in few.items() if n} | {(1, 0, 0): 3, (1, 0, 1): 3}


def with_empty(case: Tiny, threshold: int) -> System:
    """The system with the combinations that are added."""
    system = case.system(threshold)
    columns = len(system.atoms.nodes)
    finest = [tuple(0 if at in own else 1 for at in range(columns)) for own in case.tables]
    empty = list_empty(system, finest, b"key")
    nodes = tuple(np.concatenate([of, of[:, empty[:, place]]], axis=1) for place, of in enumerate(system.atoms.nodes))
    zeros = np.zeros(len(empty), np.int64)
    atoms = Atoms(nodes, np.concatenate([system.atoms.count, zeros]), np.concatenate([system.atoms.owner, zeros - 1]))
    levels = np.array([[1 if code is None else 0 for code in cell] for cell in case.cells], np.int64).T
    first = np.array([case.within[cell][0] for cell in case.cells], np.int64)
    small = np.array([case.value[cell] < threshold for cell in case.cells])
    return build_system(atoms, PublishedCells(levels, first, small), finest, b"key")


def allowed(case: Tiny) -> list[tuple[int, ...]]:
    """The combinations that no table rules out."""
    listed = [{tuple(codes[at] for at in own) for codes in case.counts} for own in case.tables]
    values = [sorted({codes[at] for codes in case.counts}) for at in range(len(next(iter(case.counts))))]
    return [
        codes
        for codes in itertools.product(*values)
        if all(tuple(codes[at] for at in own) in some for own, some in zip(case.tables, listed, strict=True))
    ]


def find(case: Tiny, hidden: Mapping[Cell, bool], known: Mapping[tuple[int, ...], int] | None = None) -> list[Cell]:
    """The small cells that a reader who tries every table bounds more closely than is promised."""
    leaves = allowed(case)
    within = {
        cell: [
            at
            for at, codes in enumerate(leaves)
            if all(code in (None, mine) for code, mine in zip(cell, codes, strict=True))
        ]
        for cell in case.cells
    }
    shown = {cell: None if hidden[cell] else case.value[cell] for cell in case.cells}
    fixed = {leaves.index(codes): n for codes, n in (known or {}).items()}
    asked = [cell for cell in case.cells if case.value[cell] < M and not set(within[cell]) <= set(fixed)]
    seen = ends(tables(leaves, shown, within, M + 1, fixed), within, asked)
    return [cell for cell in asked if seen[cell][0] > case.parts(cell) or seen[cell][1] < M]


def protect(case: Tiny, system: System, *, insiders: bool) -> dict[Cell, bool] | None:
    try:
        choice = choose_hidden(system, M, insiders=insiders, secret=b"key")
    except UnservedError:
        return None
    return {cell: bool(choice.hidden[of]) for cell, of in zip(case.cells, system.listed, strict=True)}


def knowledge(case: Tiny) -> list[dict[tuple[int, ...], int]]:
    """What each person knows who is alone in a cell: all combinations of the cells that are hers."""
    leaves = list(case.counts)
    made: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for cell in case.cells:
        if case.value[cell] == 1:
            (own,) = [leaves[at] for at in case.within[cell]]
            inside = [
                codes
                for codes in allowed(case)
                if all(code in (None, mine) for code, mine in zip(cell, codes, strict=True))
            ]
            made.setdefault(own, {}).update({codes: int(codes == own) for codes in inside})
    return list(made.values())


def cases(seeds: Sequence[int]) -> list[Tiny]:
    return [tiny(sparse(seed), LINKED) for seed in seeds if any(codes[0] == 0 for codes in sparse(seed))]


def test_what_combinations_that_occur_do_not_allow_is_possible_for_readers() -> None:
    """Tables that were refused, with both ends of every small cell for a reader who tries every table."""
    refused = served = 0
    for case in cases(range(10, 18)):
        if protect(case, case.system(M), insiders=False) is not None:
            continue
        refused += 1
        hidden = protect(case, with_empty(case, M), insiders=False)
        if hidden is not None:
            served += 1
            assert find(case, hidden) == []
    assert refused == served > 0


def test_nobody_who_is_alone_finds_more_where_combinations_are_added() -> None:
    """Each of two persons knows which of the combinations are empty that her cells have."""
    case = tiny({(0, 0, 0): 1, (0, 0, 1): 1, (0, 1, 2): 1, (0, 1, 3): 1, (1, 0, 0): 4}, LINKED)
    assert protect(case, case.system(M), insiders=True) is None
    hidden = protect(case, with_empty(case, M), insiders=True)
    assert hidden is not None
    for known in knowledge(case)[::2]:
        assert find(case, hidden, known) == []


@pytest.mark.parametrize("seed", [13])
def test_where_persons_who_are_alone_know_more_nothing_is_published(seed: int) -> None:
    """Of two persons of one value the other one knows, for lack of further values, that the two are both there."""
    case = tiny(sparse(seed), LINKED)
    assert protect(case, with_empty(case, M), insiders=False) is not None
    assert protect(case, with_empty(case, M), insiders=True) is None


def test_nothing_is_added_to_a_table_of_all_columns_or_where_nothing_is_needed() -> None:
    whole = tiny(sparse(1))
    assert not len(list_empty(whole.system(M), [(0, 0, 0)], b"key"))
    many = tiny(dict.fromkeys(itertools.product(range(2), repeat=3), 9), LINKED)
    assert len(with_empty(many, M).atoms.count) == 8


def test_a_cover_that_is_needed_is_added() -> None:
    """Two persons of one value of the second column are the only ones of two values of the third."""
    case = tiny({(0, 0, 0): 1, (0, 0, 1): 1, (0, 1, 2): 1, (1, 0, 0): 3, (1, 0, 1): 3}, LINKED)
    assert case.parts((0, 0, None)) == 1
    assert protect(case, case.system(M), insiders=False) is None
    system = with_empty(case, M)
    assert (system.atoms.count == 0).sum() >= 2
    hidden = protect(case, system, insiders=False)
    assert hidden is not None
    assert find(case, hidden) == []
