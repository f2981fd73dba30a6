"""Rules and protection levels of sums in published examples, computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlanon.statistics.amounts import Range
from sqlanon.statistics.choose import choose_hidden
from tests.unit.cells.sums_made import Given, Rules

CONTRIBUTIONS = [
    ("Agriculture", "Portugal", "A", 759),
    ("Agriculture", "Portugal", "B", 245),
    ("Agriculture", "Spain", "A", 966),
    ("Agriculture", "Spain", "B", 432),
    ("Entertainment", "Iceland", "B", 168),
    ("Entertainment", "Portugal", "B", 71),
    ("Entertainment", "Portugal", "D", 23),
    ("Entertainment", "Spain", "A", 774),
    ("Entertainment", "Spain", "B", 115),
    ("Entertainment", "Spain", "C", 164),
    ("Governmental", "Portugal", "B", 216),
    ("Governmental", "Portugal", "D", 20),
    ("Governmental", "Spain", "C", 65),
    ("Governmental", "Spain", "D", 27),
    ("Industry", "Iceland", "B", 96),
    ("Industry", "Iceland", "C", 88),
    ("Industry", "Iceland", "D", 19),
    ("Industry", "Portugal", "B", 257),
    ("Industry", "Portugal", "D", 34),
    ("Industry", "Spain", "C", 84),
]
"""The data of GaussSuppression's vignette "Magnitude table suppression" (magnitude1 of SSBtools), in tenths."""
SECTORS, PLACES = (sorted({row[at] for row in CONTRIBUTIONS}) for at in (0, 1))


def vignette(n: int, k: int, *, companies: bool) -> Given:
    """The contributions, each of a company of its own, or of the four companies."""
    rows: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for number, (sector, geo, company, value) in enumerate(CONTRIBUTIONS):
        who = ord(company) if companies else number
        rows.setdefault((SECTORS.index(sector), PLACES.index(geo)), {}).setdefault(who, []).append(value)
    return Given(rows, Rules(Fraction(1, 100), (n, Fraction(k, 100)), high=100_000))


def sensitive(given: Given) -> dict[tuple[str, str], int]:
    """The cells that may not be shown, with their protection levels."""
    found = {}
    for cell in given.counts.cells:
        level, ruled = given.need(given.people(cell))
        if ruled:
            sector, geo = cell
            found["Total" if sector is None else SECTORS[sector], "Total" if geo is None else PLACES[geo]] = level
    return found


def test_dominance_of_the_vignette() -> None:
    """Cells with more than 80 % of one contribution; protection levels x1 / 0.8 - X (handbook 4.2.2), in tenths."""
    found = sensitive(vignette(1, 80, companies=False))
    # Two contributors know each other's number, whatever p is: these cells have the level 1.
    assert {cell: level for cell, level in found.items() if level > 1} == {
        ("Entertainment", "Iceland"): 42,
        ("Governmental", "Portugal"): 34,
        ("Industry", "Portugal"): 31,
        ("Industry", "Spain"): 21,
    }


def test_rows_of_a_company_are_one_contribution() -> None:
    """Of two companies alone is all agriculture: (2, 99) forbids to show it, and of single rows it does not."""
    alone, together = (sensitive(vignette(2, 99, companies=companies)) for companies in (False, True))
    assert ("Agriculture", "Total") not in alone
    # 240.2 / 0.99 - 240.2 = 2.43
    assert together["Agriculture", "Total"] == 25
    assert set(alone) < set(together)
    assert set(together) - set(alone) == {("Agriculture", "Total")}


def test_the_vignette_is_protected() -> None:
    given = vignette(1, 80, companies=False)
    system = given.system()
    amounts = given.amounts(system)
    found = choose_hidden(system, 2, insiders=True, secret=b"key", amounts=[(amounts, Range(0, 100_000))])
    hidden = {cell for cell, of in zip(given.counts.cells, system.listed, strict=True) if found.hidden[of]}
    assert (None, None) not in hidden
    for sector, geo in sensitive(given):
        assert (SECTORS.index(sector), PLACES.index(geo)) in hidden
    for cell, of in zip(given.counts.cells, system.listed, strict=True):
        level, _ = given.need(given.people(cell))
        moved = [int(system.sums(change)[of]) for change in found.sums[0]]
        if level:
            assert max(moved) >= level
            assert min(moved) <= -min(level, sum(map(sum, given.people(cell).values())))


@pytest.mark.parametrize(
    ("values", "rules", "level"),
    [
        # p %: p / 100 x1 - (X - x1 - x2)
        ((100, 50, 3, 2), Rules(10, persons=1, high=10_000), 5),
        ((100, 50, 6, 4), Rules(10, persons=1, high=10_000), 0),
        ((100,), Rules(25, persons=1, high=10_000), 25),
        # dominance: (x1 + .. + xn) / share - X
        ((60, 30, 6, 4), Rules(Fraction(1, 100), (2, Fraction(3, 4)), persons=1, high=10_000), 20),
        ((60, 30, 6, 4), Rules(Fraction(1, 100), (1, Fraction(1, 2)), persons=1, high=10_000), 20),
        ((60, 30, 6, 4), Rules(Fraction(1, 100), (3, Fraction(24, 25)), persons=1, high=10_000), 0),
        # few persons: p % of the sum
        ((40, 30, 30), Rules(10, persons=4, high=10_000), 10),
        # contributions below 0 count without their sign
        ((-100, 50, 5), Rules(10, persons=1, low=-10_000, high=10_000), 5),
    ],
)
def test_protection_levels(values: tuple[int, ...], rules: Rules, level: int) -> None:
    own = {person: [value] for person, value in enumerate(values)}
    assert Given({(0,): own}, rules).need(own)[0] == level


def test_a_hidden_group_is_not_dominated_by_one_enterprise() -> None:
    """As sdcTools/UserSupport issue 160 asks, of (2, 80): cells of one enterprise do not hide each other."""
    many = {10 + at: [20] for at in range(10)}
    given = Given(
        {
            (5,): {1: [90], 2: [10]},
            (6,): {1: [80], 3: [12]},
            (7,): {1: [70], 4: [9]},
            (8,): many,
            (9,): {1: [60], 7: [30], 8: [30]},
        },
        Rules(Fraction(1, 100), (2, Fraction(80, 100)), high=100_000),
    )
    system = given.system()
    amounts = [(given.amounts(system), Range(0, 100_000))]
    found = choose_hidden(system, 2, insiders=True, secret=b"key", amounts=amounts)
    group: dict[int, int] = {}
    for cell, of in zip(given.counts.cells, system.listed, strict=True):
        if cell != (None,) and found.hidden[of]:
            for person, values in given.people(cell).items():
                group[person] = group.get(person, 0) + sum(values)
    assert not found.hidden[system.listed[given.counts.cells.index((None,))]]
    assert sum(sorted(group.values())[-2:]) <= 0.8 * sum(group.values())
