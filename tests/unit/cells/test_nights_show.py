"""Margins that are shown in every version: a reader who tries every history finds no few newcomers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sqlanon.statistics.choose import UnservedError, choose_hidden
from sqlanon.statistics.must_show import find_hidden, fix_margins
from tests.unit.cells import test_nights
from tests.unit.cells.made import tiny
from tests.unit.cells.test_nights import M, read_nights

pytest.importorskip("highspy")

MARGINS = [(0, 1), (1, 1)]
"""That of the first column, and the total."""


def pattern(counts: Mapping[tuple[int, ...], int]) -> dict[tuple[object, ...], bool] | None:
    case = tiny(counts)
    system = case.system(M)
    if find_hidden(system, MARGINS, system.small) is not None:
        return None
    try:
        found = choose_hidden(fix_margins(system, MARGINS), M, insiders=False, secret=b"key")
    except UnservedError:
        return None
    return {cell: bool(found.hidden[of]) for cell, of in zip(case.cells, system.listed, strict=True)}


def test_no_reader_of_shown_margins_finds_few_newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_nights, "pattern", pattern)
    assert sum(read_nights(("show", seed)) for seed in range(60))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_no_reader_of_shown_margins_finds_few_newcomers_in_many_histories(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_nights, "pattern", pattern)
    for part in range(40):
        read_nights(("more", seed, part))


def test_a_margin_of_few_newcomers_stops_the_version() -> None:
    """What is published then: nothing, and the rows wait."""
    assert pattern({(0, 0): 9, (1, 0): 2}) is None
    assert pattern({(0, 0): 9, (1, 0): 7}) == dict.fromkeys(tiny({(0, 0): 9, (1, 0): 7}).cells, False)
