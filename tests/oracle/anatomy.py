"""Anatomize, line by line as Figure 3 of Xiao & Tao (2006) has it; every draw is the seeded one."""

from __future__ import annotations

from collections import defaultdict

from tests.oracle.chance import Chance
from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy


def accepts(table: Table, privacy: Privacy) -> bool:
    """Whether the method is for this: one sensitive column, a whole l of at least 2 and of at least k, nothing else."""
    return (
        len(table.sensitive) == 1
        and privacy.l is not None
        and privacy.l.denominator == 1
        and privacy.l >= 2
        and privacy.distinct_l is None
        and privacy.k <= privacy.l
    )


def anatomy(table: Table, privacy: Privacy, seed: int) -> list[list[int]]:
    """The groups of rows."""
    assert privacy.l is not None
    needed, chance = int(privacy.l), Chance(seed)
    rows = sorted(
        range(table.rows), key=lambda row: (table.codes[row], table.occurrence[row], table.sa_codes[row], row)
    )
    buckets: dict[int, list[int]] = defaultdict(list)
    for row in chance.shuffled(rows):
        buckets[table.sa_codes[row][0]].append(row)  # the last of a bucket is a random one
    groups: list[list[int]] = []
    while sum(bool(bucket) for bucket in buckets.values()) >= needed:
        largest = sorted(
            (value for value in buckets if buckets[value]), key=lambda value: (-len(buckets[value]), value)
        )
        groups.append([buckets[value].pop() for value in largest[:needed]])
    residues = [
        (value, row) for value, bucket in sorted(buckets.items(), key=lambda b: (-len(b[1]), b[0])) for row in bucket
    ]
    for value, row in residues:
        lacking = [group for group in groups if all(table.sa_codes[other][0] != value for other in group)]
        lacking[chance.below(len(lacking))].append(row)
    return groups
