"""TopDown (Xu et al. 2006): clusters divided around two far rows, then those below k merged or enlarged."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.divisions import gcp, wide
from tests.oracle.domains import Table
from tests.oracle.orders import canonical

Rows = list[int]
ROUNDS = 6
WORD = 2**64


def words(seed: int) -> Iterator[int]:
    """SplitMix64 (Steele, Lea, Flood 2014)."""
    state = seed % WORD
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
        yield z ^ z >> 31


def shuffle(rows: Rows, drawn: Iterator[int]) -> None:
    """Fisher and Yates, from the end; a word's upper half is scaled to the choices there are."""
    for last in range(len(rows) - 1, 0, -1):
        other = (next(drawn) >> 32) * (last + 1) >> 32
        rows[last], rows[other] = rows[other], rows[last]


def topdown(table: Table, k: int, seed: int) -> list[Rows]:
    """The classes."""
    clusters: list[Rows] = []
    _divide(table, canonical(table), k, words(seed), clusters)
    at = {row: i for i, row in enumerate(canonical(table))}
    return _repair(table, [sorted(rows, key=at.__getitem__) for rows in clusters], k)


def _divide(table: Table, rows: Rows, k: int, drawn: Iterator[int], done: list[Rows]) -> None:
    if len(rows) < max(2 * k, 2):
        done.append(rows)
        return
    shuffle(rows, drawn)
    one, other, apart = rows[0], rows[1], -1
    for _ in range(ROUNDS):
        far = max((row for row in rows if row != one), key=lambda row: wide(table, [one, row]))
        if wide(table, [one, far]) <= apart:
            break
        one, other, apart = far, one, wide(table, [one, far])
    sides = [one], [other]
    for row in rows:
        if row in (one, other):
            continue
        more = [wide(table, [*side, row]) - wide(table, side) for side in sides]
        left = (more[0], len(sides[0])) <= (more[1], len(sides[1]))
        sides[0 if left else 1].append(row)
    _divide(table, sides[0], k, drawn, done)
    _divide(table, sides[1][::-1], k, drawn, done)  # the second side was laid down from the end of the room


def _repair(table: Table, classes: list[Rows], k: int) -> list[Rows]:
    for g in range(len(classes)):
        while 0 < len(classes[g]) < k:
            others = [h for h in range(len(classes)) if h != g and classes[h]]
            if not others:
                break

            def dearer(old: list[Rows], new: list[Rows]) -> int:
                return gcp(table, new) - gcp(table, old)

            own = classes[g]
            partner = min(others, key=lambda h: dearer([own, classes[h]], [own + classes[h]]))
            able = [h for h in others if len(classes[h]) - (k - len(own)) >= k]
            if able:
                donor = min(able, key=lambda h: wide(table, own + classes[h]))
                more, less = list(own), list(classes[donor])
                while len(more) < k:
                    row = min(less, key=lambda row: wide(table, [*more, row]))
                    more.append(row)
                    less.remove(row)
                merged = dearer([own, classes[partner]], [own + classes[partner]])
                if dearer([own, classes[donor]], [more, less]) < merged:
                    classes[g], classes[donor] = more, less
                    continue
            classes[g] = own + classes[partner]
            classes[partner] = []
    return [rows for rows in classes if rows]
