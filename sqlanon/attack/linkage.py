"""Linkage: which row belongs to a victim with some known quasi values (Sweeney 2002)?

Candidates are the published rows with cells that cover all known values. The victim's row is one of them, as
verification proved that the cells cover his values, and nothing distinguishes them: the expected success is
1 / candidates, and 0 for a victim who was left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.victim_sample import measure_margin
from sqlanon.errors import PolicyError
from sqlanon.results import LinkageAttack

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.attack.box_matches import BoxIndex, VictimBoxes
    from sqlanon.attack.material import Material

MOST_COLUMNS = 10
"""Quasi columns of which every set is enumerated, at most."""


def choose_known_columns(name: str, columns: Sequence[str], names: Sequence[str] | None) -> tuple[int, ...]:
    """Which quasi columns are known in sets.

    Raises:
        PolicyError: there is no such column, or there are too many.
    """
    if names is None:
        chosen = list(columns)
    else:
        folded = {column.lower(): column for column in columns}
        wrong = [name for name in names if name.lower() not in folded]
        if wrong:
            raise PolicyError(f"attack {name}: no quasi column {', '.join(wrong)}; there are: {', '.join(columns)}")
        chosen = [column for column in columns if column.lower() in {name.lower() for name in names}]
    if len(chosen) > MOST_COLUMNS:
        raise PolicyError(
            f"attack {name}: all sets of {len(chosen)} quasi columns are too many; name at most {MOST_COLUMNS} that an "
            "attacker may know with --known (all columns together are measured as well)"
        )
    return tuple(columns.index(column) for column in chosen)


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of known columns as numbers, with a bit for each known column, and a further bit for all other columns.

    Attributes:
        known: places of the columns to look at in every set.
        place: int64[d], the bit of every column.
        width: number of bits.
        by_size: the numbers by how many columns are known.
        every: the number of all columns, where it is none of the sets of ``known``.
    """

    known: tuple[int, ...]
    place: Longs
    width: int
    by_size: dict[int, list[int]]
    every: int | None

    @classmethod
    def of(cls, places: Sequence[int], columns: int) -> Sets:
        """All sets of these columns, and all columns."""
        place = np.full(columns, len(places), np.int64)
        place[list(places)] = np.arange(len(places))
        rest = columns > len(places)
        width = len(places) + rest
        sets: dict[int, list[int]] = {}
        for number in range(1, 1 << len(places)):
            sets.setdefault(number.bit_count(), []).append(number)
        every = (1 << width) - 1 if rest else None
        if every:
            sets[columns] = [every]
        return cls(tuple(places), place, width, dict(sorted(sets.items())), every)

    def names(self, number: int, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of a set."""
        if number == self.every:
            return tuple(columns)
        return tuple(columns[a] for i, a in enumerate(self.known) if number >> i & 1)


def attack_by_linkage(
    fits: BoxIndex, sets: Sets, k: int | None, crowd: tuple[Longs, Ints] | None
) -> tuple[LinkageAttack, ...]:
    """Expected success by number of known columns, and by all columns.

    Args:
        fits: source and release.
        sets: the sets of known columns.
        k: as it is promised, or None.
        crowd: the persons of the boxes (see `BoxIndex.count_persons`), who are counted instead of rows; None: rows.

    Cost: every different row is compared with every box, and w 2^w additions each for w columns.
    """
    if crowd:
        fewest, chance = fits.count_persons(sets.place, sets.width, *crowd)
    else:
        fewest, chance = fits.count_candidates(sets.place, sets.width)
    material = fits.material
    victims = material.drawn / material.shown if material.published else 1.0
    names = [domain.reading.name for domain in material.quasi]
    attacks = []
    for n, numbers in sets.by_size.items():
        sums = [float(chance[number]) for number in numbers]
        worst = numbers[sums.index(max(sums))]
        least = int(min(fewest[number] for number in numbers))
        any_ = least < np.iinfo(np.int64).max
        attacks.append(
            LinkageAttack(
                known=n,
                subsets=len(numbers),
                errors=False,
                mean=math.fsum(sums) / len(sums) / victims,
                worst_mean=max(sums) / victims,
                worst=sets.names(worst, names),
                highest=1 / least if any_ else 0.0,
                fewest=least if any_ else 0,
                promised=1 / k if k else None,
                exceeded=any_ and k is not None and least < k,
                margin=measure_margin(math.fsum(sums) / len(sums) / max(material.drawn, 1), material) * material.shown,
            )
        )
    return tuple(attacks)


def with_errors(fits: BoxIndex, sets: Sets, ties: VictimBoxes, k: int | None) -> tuple[LinkageAttack, ...] | None:
    """Success of linkage with a single wrong known value; None if the computation is too much work.

    It decides no exit code, since 1/k is promised for true values.

    Cost: for every value of every cell of a victim's box a pass over the boxes.
    """
    mistakes = fits.measure_mistakes(sets.place, len(sets.known), ties)
    if mistakes is None:
        return None
    chance, best = mistakes
    material = fits.material
    victims = int(material.victims.sum()) + material.left_out
    names = [domain.reading.name for domain in material.quasi]
    attacks = []
    for n, numbers in sets.by_size.items():
        if sets.every in numbers:
            continue
        sums = [float(chance[number]) for number in numbers]
        worst = numbers[sums.index(max(sums))]
        attacks.append(
            LinkageAttack(
                n,
                len(numbers),
                True,
                math.fsum(sums) / len(sums) / victims,
                max(sums) / victims,
                sets.names(worst, names),
                max(float(best[number]) for number in numbers),
                0,
                1 / k if k else None,
                False,
            )
        )
    return tuple(attacks)


def of_classes(material: Material, k: int | None) -> LinkageAttack:
    """Success of an attacker who knows the victim's class.

    A release of representative values excludes no value, so that no other success can be computed.
    """
    published, least = int(material.members.sum()), int(material.members.min())
    mean = len(material.members) / max(published + material.left_out, 1)
    names = tuple(domain.reading.name for domain in material.quasi)
    return LinkageAttack(
        len(names),
        1,
        False,
        mean,
        mean,
        names,
        1 / least if least else 0.0,
        least,
        1 / k if k else None,
        k is not None and 0 < least < k,
    )
