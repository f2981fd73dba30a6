"""Tables of persons whose keys are published as tokens, and a reader of what is published."""

from __future__ import annotations

import hmac
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any
from uuid import uuid4

from tests.engines import create_table, read_table

SECRET = "a key that only the owner has"
STAYS = {"visit": "INTEGER", "pid": "INTEGER", "age": "INTEGER", "ward": "TEXT", "dx": "TEXT"}
ASKED: dict[str, Any] = {
    "quasi": ["age", "ward"],
    "sensitive": "dx",
    "pseudonyms": ["pid", "visit"],
    "person": "pid",
    "k": 3,
    "suppression": {"limit": "1/2", "rows": "left_out"},
}


def token(what: Sequence[str], value: object, secret: str = SECRET) -> str:
    """As docs/pseudonyms.md defines it."""
    key = hmac.digest(secret.encode(), "\0".join(what).encode(), "sha256")
    return hmac.new(key, str(value).encode(), "sha256").hexdigest()[:32]


def place(db: Any, columns: dict[str, str], rows: Sequence[Sequence[Any]]) -> str:
    name = f"linked_{uuid4().hex[:10]}"
    create_table(db, name, columns, rows)
    return name


def stays(seed: object, persons: int = 40, most: int = 4) -> list[tuple[Any, ...]]:
    """Some persons have many stays and most have few."""
    drawn = random.Random(str(seed))
    rows = []
    for person in range(persons):
        age = drawn.randrange(20, 60)
        for _ in range(1 + min(drawn.randrange(most), drawn.randrange(most))):
            rows.append((len(rows), person, age, drawn.choice("pqrs"), drawn.choice("abcd")))
    drawn.shuffle(rows)
    return rows


def cells(db: Any, view: str) -> list[tuple[str, str, str]]:
    """Token, published quasi cell and sensitive value of each row."""
    return [
        (row["pid"], str([value for name, value in row.items() if name not in ("pid", "visit", "dx")]), row.get("dx"))
        for row in read_table(db, ("release", view))
    ]


def signatures(*tables: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Any, ...]]:
    """Of each token in any of them its cells and rows in each: the definition, written out."""
    found: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in tables])
    for at, rows in enumerate(tables):
        for who, cell, _ in rows:
            found[who][at][cell] += 1
    return {who: tuple(tuple(sorted(each.items())) for each in counts) for who, counts in found.items()}


def fewest(*tables: Sequence[tuple[str, str, str]]) -> int:
    return min(Counter(signatures(*tables).values()).values())


Truth = dict[int, list[list[int]]]
"""Of each person its values in each table."""


Boxes = dict[str, list[list[tuple[int, int]]]]
"""Of each token its cells in each table, one a row."""


def covered(values: list[int], boxes: list[tuple[int, int]]) -> bool:
    """Whether each box can be a row of its own."""
    return any(
        all(low <= value <= high for value, (low, high) in zip(order, boxes, strict=True))
        for order in set(permutations(values, len(boxes)))
    )


def surest(truth: Truth, boxes: Boxes) -> Fraction:
    """Tokens are given to persons in every way that the tables allow.

    The largest share of ways in which one is a certain person's.
    """
    who, shown = list(truth), list(boxes)
    fits = {
        (person, name): all(covered(*each) for each in zip(truth[person], boxes[name], strict=True))
        for person, name in product(who, shown)
    }
    ways = [
        tuple(zip(order, shown, strict=True))
        for order in permutations(who, len(shown))
        if all(fits[pair] for pair in zip(order, shown, strict=True))
    ]
    assert ways
    return Fraction(max(Counter(pair for way in ways for pair in way).values()), len(ways))


def boxes_of(*tables: Sequence[tuple[str, tuple[int, int]]]) -> Boxes:
    found: Boxes = {who: [[] for _ in tables] for rows in tables for who, _ in rows}
    for at, rows in enumerate(tables):
        for who, box in rows:
            found[who][at].append(box)
    return found


def aged(db: Any, view: str, who: Any = lambda row: row["pid"]) -> list[tuple[str, tuple[int, int]]]:
    return [(who(row), (row["age_lo"], row["age_hi"])) for row in read_table(db, ("release", view))]
