"""Counts next to a release of rows: a reader of both, who tries every table, finds no small cell."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from sqlanon.statistics.choose import HiddenChoice, UnservedError, choose_hidden
from sqlanon.statistics.must_show import Levels, find_hidden, fix_margins
from sqlanon.statistics.parts import How, PlacedRows, list_parts, with_classes
from sqlanon.statistics.system import Atoms, PublishedCells, System, build_system
from tests.oracle.class_reader import ENDS, MEMBERS, NODE_OF, NODES, NOTHING, SHOWN, Row, agreeing, tables_of
from tests.unit.cells.made import Tiny, tiny

pytest.importorskip("highspy")

M = 3
WAYS = [(ENDS, ENDS), (ENDS, MEMBERS), (MEMBERS, MEMBERS), (ENDS, NOTHING), (SHOWN, ENDS), (NODES, ENDS), (ENDS, NODES)]


def drawn_classes(seed: object, shape: tuple[int, int] = (3, 3), size: int = 5, many: int = 3) -> list[list[Row]]:
    """Rows in classes; rows of a class are near in the first column."""
    draw = random.Random(str(seed))
    rows = sorted((draw.randrange(shape[0]), draw.randrange(shape[1])) for _ in range(size * many))
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def tiny_of(classes: Sequence[Sequence[Row]]) -> Tiny:
    rows = [row for one in classes for row in one]
    return tiny({row: rows.count(row) for row in sorted(set(rows))})


def placed_of(case: Tiny, classes: Sequence[Sequence[Row]], ways: Sequence[str]) -> PlacedRows:
    leaves = list(case.counts)
    some = [(leaves.index(row), at, rows.count(row)) for at, rows in enumerate(classes) for row in sorted(set(rows))]
    atom, of, count = (np.array(one, np.int64) for one in zip(*some, strict=True))
    codes = np.array(leaves, np.int64).T
    less = [at for at, way in enumerate(ways) if way in (ENDS, MEMBERS, NODES)]
    shown = [at for at, way in enumerate(ways) if way == SHOWN]
    if not less:
        of = np.zeros_like(of)
    exact = np.unique(codes[shown], axis=1, return_inverse=True)[1] if shown else np.zeros(len(leaves))
    names: dict[str, How] = {ENDS: "ends", MEMBERS: "members", NODES: "branches"}
    how = tuple(names[ways[at]] for at in less)
    first = {0: 1, 1: 1, 2: 3, 3: 3}
    assert set(first) == set(NODE_OF)
    trees = {
        place: np.array([[code + 1 for code in codes[at]], [first[code] for code in codes[at]], [1] * len(leaves)])
        for place, at in enumerate(less)
        if ways[at] == NODES
    }
    return PlacedRows(
        atom,
        of,
        count,
        exact.reshape(-1).astype(np.int64),
        codes[less] + 1,
        how,
        (True,) * len(less),
        trees,
        tuple(less),
        tuple(shown),
    )


def joint_system(case: Tiny, classes: Sequence[Sequence[Row]], ways: Sequence[str]) -> System:
    plain = case.system(M)
    parts = list_parts(placed_of(case, classes, ways))
    first = parts.first()[[case.within[cell][0] for cell in case.cells]]
    small = np.array([case.value[cell] < M for cell in case.cells])
    listed = PublishedCells(plain.levels, first, small)
    finest = [(0,) * len(plain.atoms.nodes)]
    nodes = tuple(level[:, parts.atom] for level in plain.atoms.nodes)
    atoms = Atoms(nodes, parts.count, plain.atoms.owner[parts.atom])
    return with_classes(build_system(atoms, listed, finest, b"key"), parts)


def protect(system: System, *, insiders: bool) -> HiddenChoice | None:
    try:
        return choose_hidden(system, M, insiders=insiders, secret=b"key")
    except UnservedError:
        return None


def shown_by(case: Tiny, system: System, found: HiddenChoice) -> dict[tuple[object, ...], int | None]:
    return case.shown([bool(found.hidden[of]) for of in system.listed])


def read_both(seed: object, ways: tuple[str, str], show: Sequence[Levels] = ()) -> int:
    """Read every table of a case; 0: rows give its small cells away, and the counts are refused, or none is small.

    Margins of `show` must be shown; with a small cell they are refused.
    """
    classes = drawn_classes((seed, ways))
    case = tiny_of(classes)
    system = joint_system(case, classes, ways)
    if find_hidden(system, show, system.small) is not None:
        return 0
    system = fix_margins(system, show)
    found = protect(system, insiders=False)
    if found is None:
        return 0
    assert not found.hidden[system.fixed].any()
    shown, within, small = shown_by(case, system, found), dict(case.within), 0
    alone = tables_of(classes, ways, list(case.counts))
    both = list(agreeing(alone, within, shown))
    for cell, number in case.value.items():
        if number < M:
            small += 1
            sums = {sum(one[at] for at in within[cell]) for one in both}
            # As few as the rows allow by themselves, whatever the counts are, and as many as the threshold.
            assert min(sums) == min(sum(one[at] for at in within[cell]) for one in alone)
            assert max(sums) >= M
    return small


@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_no_reader_of_both_finds_a_small_cell(ways: tuple[str, str]) -> None:
    assert sum(read_both(seed, ways) for seed in range(4))


@pytest.mark.parametrize("ways", [(ENDS, ENDS), (MEMBERS, MEMBERS)], ids="-".join)
def test_no_reader_of_both_finds_a_small_cell_where_a_margin_must_be_shown(ways: tuple[str, str]) -> None:
    assert sum(read_both(seed, ways, [(0, 1)]) for seed in range(12))


@pytest.mark.thorough
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
@pytest.mark.parametrize("seed", range(5, 40))
def test_no_reader_of_both_finds_a_small_cell_of_many_tables(seed: int, ways: tuple[str, str]) -> None:
    read_both(seed, ways)


def test_who_is_alone_finds_no_small_cell_next_to_rows() -> None:
    served = 0
    for seed in range(10):
        classes = drawn_classes(("alone", seed), (2, 3), 4, 3)
        case = tiny_of(classes)
        system = joint_system(case, classes, (ENDS, NOTHING))
        found = protect(system, insiders=True)
        single = [place for place, number in enumerate(case.counts.values()) if number == 1]
        if found is None or not single:
            continue
        served += 1
        within = dict(case.within)
        both = list(
            agreeing(tables_of(classes, (ENDS, NOTHING), list(case.counts)), within, shown_by(case, system, found))
        )
        for known in single:
            for cell, number in case.value.items():
                if number < M and within[cell] != (known,):
                    assert max(sum(one[at] for at in within[cell]) for one in both if one[known] == 1) >= M
    assert served


def test_counts_protected_by_themselves_are_found_next_to_rows() -> None:
    """The same counts, safe alone, give small cells away to who has rows that do not give them away alone."""
    found = 0
    for seed in range(12):
        classes, ways = drawn_classes(("naive", seed)), (ENDS, MEMBERS)
        case = tiny_of(classes)
        system, within = case.system(M), dict(case.within)
        shown = shown_by(case, system, choose_hidden(system, M, insiders=False, secret=b"key"))
        alone = tables_of(classes, ways, list(case.counts))
        both = list(agreeing(alone, within, shown))
        for cell, number in case.value.items():
            most_alone, most = (max(sum(one[at] for at in within[cell]) for one in some) for some in (alone, both))
            found += number < M <= most_alone and most < M
    assert found


def test_rows_that_show_a_small_cell_by_themselves_are_refused() -> None:
    classes = [[(0, 0), (0, 0), (1, 0), (1, 0), (1, 0)], [(1, 1)] * 5]
    case = tiny_of(classes)
    with pytest.raises(UnservedError) as raised:
        choose_hidden(joint_system(case, classes, (SHOWN, MEMBERS)), M, insiders=False, secret=b"key")
    assert not raised.value.exhausted


@pytest.mark.parametrize("seed", range(3))
def test_witnesses_have_the_rows_of_each_class(seed: int) -> None:
    classes, ways = drawn_classes(("witness", seed), (3, 4), 7), (ENDS, MEMBERS)
    case = tiny_of(classes)
    placed = placed_of(case, classes, ways)
    parts, found = list_parts(placed), protect(joint_system(case, classes, ways), insiders=False)
    for change in found.witnesses if found is not None else ():
        made = parts.count + change
        assert (made >= 0).all()
        assert (np.bincount(parts.of, change) == 0).all()
        for number in np.unique(parts.of):
            for ranks, how in zip(placed.ranks, placed.how, strict=True):
                before, after = (
                    set(ranks[parts.atom[(parts.of == number) & (rows > 0)]].tolist()) for rows in (parts.count, made)
                )
                if how == "members":
                    assert before == after
                else:
                    assert (min(before), max(before)) == (min(after), max(after))
