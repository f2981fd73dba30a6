"""Serving again hides no more cells than before, protects every small cell, and repeats itself for a key."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.statistics import choose, improve_choice
from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.count_search import CountSearch
from sqlanon.statistics.system import System
from sqlanon.statistics.work import Work
from tests.unit.cells.made import drawn, tiny

pytest.importorskip("highspy")

M = 3
KEYS = (b"a", b"b", b"c", b"d", b"e", b"f")


def protect_once(system: System, key: bytes, monkeypatch: pytest.MonkeyPatch) -> HiddenChoice:
    """The choice without the local search."""
    with monkeypatch.context() as patch:
        patch.setattr(choose, "serve_again", lambda *_: None)
        return choose_hidden(system, M, insiders=False, secret=key)


def search_of(system: System, insiders: bool) -> CountSearch:
    """A search that serves all ends."""
    persons = choose.insiders_of(system) if insiders else []
    search = CountSearch(system, M, persons, (Work(), system.small.copy()))
    for cell in np.flatnonzero(system.small).tolist():
        for low in (True, False):
            search.serve(cell, low=low)
    return search


def test_fewer_cells_are_hidden_over_some_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    once = again_hidden = 0
    for number, key in enumerate(KEYS):
        system = tiny(drawn(("again", number), (4, 4), 8)).system(M, key)
        once += int(protect_once(system, key, monkeypatch).hidden.sum())
        again_hidden += int(choose_hidden(system, M, insiders=False, secret=key).hidden.sum())
    assert again_hidden < once


@pytest.mark.parametrize("insiders", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_hides_more_or_leaves_an_end_unserved(
    seed: int, insiders: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tiny(drawn(("step", seed), (3, 4), 6)).system(M)
    search = search_of(system, insiders)
    before = float((1 + improve_choice.PER_LEVEL * system.height)[search.hidden].sum())
    monkeypatch.setattr(improve_choice, "IDLE", 1)
    improve_choice.serve_again(search, b"key")
    assert (1 + improve_choice.PER_LEVEL * system.height)[search.hidden].sum() <= before
    assert not search.list_served().unserved.any()
    for cell in np.flatnonzero(system.small).tolist():
        for low in (True, False):
            plain, by_person = search.serving(cell, low=low)
            assert plain.any()
            assert by_person.any(axis=1).all()
    assert not search.changes[0].any()
    assert (search.hidden == (system.small | (search.moved != 0).any(axis=0))).all()
    for change, moved in zip(search.changes, search.moved, strict=True):
        assert (system.sums(change) == moved).all()
        assert (system.atoms.count + change >= 0).all()


def test_a_key_gives_one_choice() -> None:
    system = tiny(drawn("same", (3, 4), 6)).system(M)
    first, second = (choose_hidden(system, M, insiders=True, secret=b"key") for _ in range(2))
    assert (first.hidden == second.hidden).all()
    assert (first.witnesses == second.witnesses).all()


def test_a_search_without_work_left_stays_as_it_is() -> None:
    system = tiny(drawn("left", (3, 4), 6)).system(M)
    search = search_of(system, insiders=False)
    hidden, changes = search.hidden.copy(), search.changes.copy()
    search.work.left = 0
    improve_choice.serve_again(search, b"key")
    assert (search.hidden == hidden).all()
    assert (search.changes == changes).all()
