"""Tables for the tests of method fulldomain."""

from __future__ import annotations

import random

from tests.contract.cases import QI, Case
from tests.oracle.requirements import Privacy

CITY = (
    ("oslo", "norway", "*"),
    ("bergen", "norway", "*"),
    ("rome", "italy", "*"),
    ("pisa", "italy", "*"),
    ("nowhere", "italy", "*"),
)


def case(seed: int, privacy: Privacy, rows: int = 17) -> Case:
    """Three columns: with a hierarchy and NULLs, nominal, numbers."""
    rng = random.Random(seed)
    values = tuple(
        (
            rng.choice(["oslo", "bergen", "rome", "rome", "pisa", None]),
            rng.choice("xxyz"),
            rng.choice([1, 1, 2]),
            rng.choice("aabcd"),
        )
        for _ in range(rows)
    )
    return Case(
        f"lattice_{seed}",
        {"city": "TEXT", "kind": "TEXT", "n": "INTEGER", "sa": "TEXT"},
        values,
        {"city": QI("hierarchy", levels=CITY), "kind": QI("nominal", weight=2), "n": QI()},
        ("sa",),
        privacy,
    )


def ordered(seed: int, k: int, rows: int = 19, values: int = 4) -> Case:
    """Three ordered columns, one with NULLs."""
    rng = random.Random(seed)
    made = tuple(
        (
            rng.choice([*range(0, 3 * values, 3)]),
            rng.choice([None, 1, 2, 7][:values]),
            rng.choice([0.5, 1.0, 9.0]),
            rng.choice("aabc"),
        )
        for _ in range(rows)
    )
    return Case(
        f"single_{seed}",
        {"a": "INTEGER", "b": "INTEGER", "c": "DOUBLE PRECISION", "sa": "TEXT"},
        made,
        {"a": QI(), "b": QI(weight=2), "c": QI()},
        ("sa",),
        Privacy(k=k),
    )
