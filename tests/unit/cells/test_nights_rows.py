"""Versions of counts next to one version of rows: a reader of all of them, who tries every history, finds nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.oracle.class_reader import ENDS, MEMBERS, NOTHING, tables_of
from tests.oracle.nights_reader import histories
from tests.unit.cells import test_nights
from tests.unit.cells.test_nights import Counts, M, come, leaves_of, pattern, small_parts, views_of
from tests.unit.cells.test_parts import drawn_classes, joint_system, protect, tiny_of

pytest.importorskip("highspy")

WAYS = [(ENDS, ENDS), (MEMBERS, MEMBERS), (ENDS, NOTHING)]
SHAPE = (2, 2)


def hide(rows: Counts, joint: Mapping[tuple[object, ...], bool] | None, first: Counts) -> object:
    return joint if rows == first else pattern(rows)


def read(seed: object, ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch, *, joint: bool) -> tuple[int, int]:
    """How many windows of few newcomers a case has, and how many of them readers of rows and counts find.

    Args:
        seed: of the case.
        ways: how the rows show each column.
        monkeypatch: for the first version's hidden cells.
        joint: the first version is one system with the rows; else it is protected by itself.
    """
    classes = drawn_classes((seed, ways), SHAPE, 4, 2)
    case = tiny_of(classes)
    system = joint_system(case, classes, ways)
    choice = protect(system, insiders=False)
    if choice is None:
        return 0, 0
    hidden = {
        cell: bool(choice.hidden[of]) for cell, of in zip(case.cells, system.listed[: len(case.cells)], strict=True)
    }
    nights = [dict(case.counts), come((seed, "later"), 7, SHAPE)]
    if joint:
        monkeypatch.setattr(test_nights, "pattern", lambda rows: hide(rows, hidden, nights[0]))
    views = views_of(nights)
    monkeypatch.undo()
    if views is None:
        return 0, 0
    whole = leaves_of(nights)
    leaves = list(whole.counts)
    alone = tables_of(classes, ways, list(case.counts))
    of_leaf = [list(case.counts).index(leaf) if leaf in case.counts else None for leaf in leaves]
    first = {tuple(0 if place is None else one[place] for place in of_leaf) for one in alone}
    found = [history for history in histories(views, whole.within, len(leaves), 8) if history[0] in first]
    assert found
    windows = exposed = 0
    for cell, places in whole.within.items():
        for start, end, parts in small_parts(nights, cell):
            sums = {
                sum(one[end - 1][at] for at in places) - (sum(one[start - 1][at] for at in places) if start else 0)
                for one in found
            }
            least = parts
            if not start:  # as few as the rows allow by themselves
                least = min(sum(one[at] for at in places) for one in first) + sum(
                    1 for at in places if end > 1 and nights[1].get(leaves[at])
                )
            windows += 1
            exposed += min(sums) > least or max(sums) < M
    return windows, exposed


@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_no_reader_of_rows_and_versions_finds_few_persons(
    ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [read(seed, ways, monkeypatch, joint=True) for seed in range(8)]
    assert sum(windows for windows, _ in cases)
    assert not any(exposed for _, exposed in cases)


@pytest.mark.thorough
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
@pytest.mark.parametrize("seed", range(8, 40))
def test_no_reader_of_rows_and_versions_finds_few_persons_in_many_histories(
    seed: int, ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(seed, ways, monkeypatch, joint=True)[1] == 0


def test_versions_that_are_safe_alone_are_found_next_to_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows and each version by itself are safe; of 40 cases like these they give four small numbers away."""
    for seed, ways in ((3, (MEMBERS, MEMBERS)), (17, (ENDS, NOTHING))):
        assert read(seed, ways, monkeypatch, joint=False)[1]
