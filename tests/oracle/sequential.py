"""Sequential clustering (Goldberger & Tassa 2010).

Every cost is counted anew from the rows of the table, cell by cell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from tests.oracle.chance import Chance
from tests.oracle.divisions import wide
from tests.oracle.domains import SCALE, Table
from tests.oracle.extent import EXACT_SETS
from tests.oracle.information import shown
from tests.oracle.requirements import Privacy, meets

Rows = list[int]


def bits(number: int) -> int:
    """The logarithm of a count as objectives have it."""
    return round(math.log2(number) * SCALE)


def cost(table: Table, rows: Rows, objective: str, w: int = 50) -> int:
    """What a class costs, less what is the same for all divisions of the table."""
    if not rows or objective == "loss":
        return len(rows) * wide(table, rows) if rows else 0
    of_value, of_cell = {"mi": (0, 1), "pmi": (1, 1), "mixed": (100 - w, 100)}[objective]
    total = 0
    for column in table.quasi:
        values, every = shown(column, rows).values, range(table.rows)
        inside = [row for row in every if column.keys[row] in values]
        codes = {column.codes[row] for row in rows}
        if column.kind == "nominal" and column.size > EXACT_SETS and 0 not in codes:
            inside = [row for row in every if min(codes) <= column.codes[row] <= max(codes)]
        said = Counter(table.sa_codes[row] for row in inside) if of_value else Counter()
        for row in rows:
            own = of_value * bits(said[table.sa_codes[row]]) if of_value else 0
            total += column.weight * (of_cell * bits(len(inside)) - own)
    return total


def total(table: Table, classes: list[Rows], options: Mapping[str, str]) -> int:
    return sum(cost(table, rows, options.get("objective", "loss"), int(options.get("w", 50))) for rows in classes)


def dealt(table: Table, rows: Rows, t: int, diverse: bool) -> list[Rows]:
    """As many of each sensitive value to each cluster as dealing sorted rows in turn gives, neighbours together."""
    said = {row: table.sa_codes[row] if diverse else () for row in rows}
    line = sorted(rows, key=lambda row: said[row])
    share: dict[object, Rows] = {}
    for p, row in enumerate(line):
        share.setdefault(said[row], []).append(p % t)
    clusters: list[Rows] = [[] for _ in range(t)]
    places = [c for value in sorted(share) for c in sorted(share[value])]  # type: ignore[type-var]
    for row, c in zip(line, places, strict=True):
        clusters[c].append(row)
    return clusters


def sequential(options: Mapping[str, str], seed: int) -> Callable[[Table, Privacy, Rows], list[Rows]]:
    """What clusters the blocks of a table, called with one after the other."""
    blocks = count()

    def work(table: Table, privacy: Privacy, order: Rows) -> list[Rows]:
        number, found = next(blocks), []
        for run in range(int(options.get("runs", 1))):
            state = np.random.SeedSequence((seed, number, run)).generate_state(1, np.uint64)
            found.append(_run(table, privacy, order, options, Chance(int(state[0]))))
        return min(found, key=lambda classes: total(table, classes, options))

    return work


def _run(table: Table, privacy: Privacy, order: Rows, options: Mapping[str, str], chance: Chance) -> list[Rows]:
    known: dict[frozenset[int], int] = {}
    place = {row: at for at, row in enumerate(order)}
    k, drawn = max(privacy.k, 1), options.get("start", "random") == "random"
    alpha, omega = int(options.get("alpha", 50)), int(options.get("omega", 150))
    loose = replace(privacy, k=1)
    diverse = bool(table.sensitive) and ((privacy.l or 1) > 1 or (privacy.distinct_l or 1) > 1)

    def price(rows: Rows) -> int:
        name = frozenset(rows)
        if name not in known:
            known[name] = total(table, [rows], options)
        return known[name]

    first = max(1, math.floor(alpha * k / 100 + 0.5))
    t = most = max(1, len(order) // first)
    rows = chance.shuffled(order) if drawn else order

    def holds(t: int) -> bool:
        return t == 1 or all(meets(table, own, loose) for own in dealt(table, rows, t, diverse))

    while not holds(t):
        t //= 2
    if t == 1:
        frequent = max(Counter(table.sa_codes[row] if diverse else () for row in order).values())
        tries = {math.ceil(frequent / share) for share in range(1, frequent + 1)}
        t = max(t for t in tries if t <= most and holds(t))
    clusters = dealt(table, rows, t, diverse)
    turns = chance.shuffled(order) if drawn else order

    def exchange(row: int, g: int, asked: Privacy) -> None:
        best, found = 0, None
        for h, own in enumerate(clusters):
            for other in own:
                if h == g or len(own) < 2 or table.sa_codes[other] != table.sa_codes[row]:
                    continue
                here = [other, *(one for one in clusters[g] if one != row)]
                there = [row, *(one for one in own if one != other)]
                gain = price(clusters[g]) + price(own) - price(here) - price(there)
                nearer = found and gain == best and place[other] < place[found[0]]
                if (gain > best or nearer) and meets(table, here, asked) and meets(table, there, asked):
                    best, found = gain, (other, h, here, there)
        if found:
            _, h, clusters[g], clusters[h] = found

    def improve(asked: Privacy, leave: bool) -> None:
        for row in turns:
            g = next(g for g, own in enumerate(clusters) if row in own)
            rest = [other for other in clusters[g] if other != row]
            forced = leave and not rest
            if rest and not meets(table, rest, asked):
                if diverse and options.get("objective", "loss") in ("loss", "mi"):
                    exchange(row, g, asked)
                continue
            gain = price(clusters[g]) - price(rest)
            able = []
            for h, own in enumerate(clusters):
                if own and h != g:
                    dearer = price([*own, row]) - price(own)
                    if (forced or dearer < gain) and meets(table, [*own, row], asked):
                        able.append((dearer, h))
            if able:
                clusters[g] = rest
                clusters[min(able)[1]].append(row)

    def split(asked: Privacy) -> None:
        for g in range(len(clusters)):
            if 100 * len(clusters[g]) <= omega * k:
                continue
            free = [h for h, own in enumerate(clusters) if not own]
            if not free and len(clusters) == min(2 * most, len(order)):
                return
            own = sorted(clusters[g], key=lambda row: place[row])
            one, other = dealt(table, chance.shuffled(own) if drawn else own, 2, diverse)
            if price(one) + price(other) <= price(own) and all(meets(table, half, asked) for half in (one, other)):
                if not free:
                    clusters.append([])
                    free = [len(clusters) - 1]
                clusters[g], clusters[free[0]] = one, other

    def descend(asked: Privacy, united: bool) -> None:
        for _ in range(50):
            before = sum(map(price, clusters))
            improve(asked, not united and k > 1)
            count = sum(map(bool, clusters))
            split(asked)
            divided = sum(map(bool, clusters)) > count
            if not divided and 1000 * (before - sum(map(price, clusters))) <= before:
                return

    descend(loose, False)
    while True:
        pairs = [
            (price(clusters[g] + own) - price(clusters[g]) - price(own), g, h)
            for g in range(len(clusters))
            if clusters[g] and not meets(table, clusters[g], privacy)
            for h, own in enumerate(clusters)
            if own and h != g
        ]
        if not pairs:
            break
        _, g, h = min(pairs)
        clusters[h] = clusters[h] + clusters[g]
        clusters[g] = []
    descend(privacy, True)
    return sorted((own for own in clusters if own), key=lambda own: min(place[row] for row in own))
