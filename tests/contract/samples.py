"""The tables of the contract suite: few rows, every type, every requirement, hostile names and values."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from tests.contract.cases import QI, Case
from tests.engines import Enum
from tests.oracle.requirements import Privacy

HOSTILE = '"; drop table x; --'
LONG = "é" * 25  # 50 bytes: PostgreSQL keeps 63, and suffixes follow


def _mixed() -> Case:
    rng = random.Random(1)
    rows = tuple(
        (
            i,
            rng.choice([None, 18, 20, 20, 31, 47, 90]),
            rng.choice(["m", "f", "f", None]),
            rng.choice(["N1", "N2", "S1", "S9"]),
            rng.choice(["flu", "flu", "cold", "hiv"]),
        )
        for i in range(32)
    )
    return Case(
        "mixed",
        {"id": "BIGINT", "age": "INTEGER", "sex": "TEXT", "zip": "TEXT", "illness": "TEXT"},
        rows,
        {"age": QI(), "sex": QI("nominal"), "zip": QI("text", ordered="alphabetical")},
        ("illness",),
        Privacy(k=3, distinct_l=2),
    )


def _numbers() -> Case:
    rng = random.Random(2)
    rows = tuple(
        (
            rng.choice([-0.0, 0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, None]),
            Decimal(rng.choice(["0.10", "0.20", "0.30", "99999999.99", "-5.00"])),
            rng.choice([True, False, None]),
            rng.choice([-(2**63), 2**63 - 1, 0, 1]),
        )
        for _ in range(26)
    )
    return Case(
        "numbers",
        {"f": "DOUBLE PRECISION", "d": "DECIMAL(10,2)", "b": "BOOLEAN", "big": "BIGINT"},
        rows,
        {"f": QI(), "d": QI(), "b": QI(), "big": QI()},
        (),
        Privacy(k=3),
    )


def _dates() -> Case:
    rng = random.Random(2)
    enum = Enum(("low", "mid", "high", "never"))
    rows = tuple(
        (
            rng.choice([dt.date(1899, 12, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 1)]),
            dt.datetime(2024, 5, 17, 12, 0, 0, rng.choice([0, 1, 999999])),
            rng.choice(enum.labels[:3]),
            rng.choice([*enum.labels[:3], None]),
        )
        for _ in range(26)
    )
    return Case(
        "dates",
        {"day": "DATE", "at": "TIMESTAMP", "kind": enum, "rank": enum},
        rows,
        {"day": QI(), "at": QI(), "kind": QI("nominal"), "rank": QI("text", ordered="declared")},
        (),
        Privacy(k=2),
    )


TREE = (
    ("lisbon", "portugal", "south", "*"),
    ("oslo", "norway", "north", "*"),
    ("porto", "portugal", "south", "*"),
    ("rome", "italy", "south", "*"),
    ("bergen", "norway", "north", "*"),
    ("nowhere", "italy", "south", "*"),
)


def _tree() -> Case:
    rng = random.Random(3)
    rows = tuple(
        (
            rng.choice(["oslo", "bergen", "rome", "rome", "porto", "lisbon", None]),
            rng.choice(["low", "mid", "high"]),
            rng.randint(0, 9),
            rng.choice("abcde"),
        )
        for _ in range(30)
    )
    return Case(
        "tree",
        {"city": "TEXT", "level": "TEXT", "n": "SMALLINT", "sa": "TEXT"},
        rows,
        {
            "city": QI("hierarchy", levels=TREE, weight=2),
            "level": QI("text", ordered=("low", "mid", "high")),
            "n": QI(weight=3),
        },
        ("sa",),
        Privacy(k=2, l=Fraction(5, 2)),
    )


def _joint() -> Case:
    rng = random.Random(7)
    rows = tuple(
        (rng.randint(1, 6), rng.randint(1, 6), rng.choice("ab"), rng.choice(["x", "y", None])) for _ in range(44)
    )
    return Case(
        "joint",
        {"p": "INTEGER", "q": "INTEGER", "s": "TEXT", "t": "TEXT"},
        rows,
        {"p": QI(), "q": QI()},
        ("s", "t"),
        Privacy(k=4, l=Fraction(5, 4), distinct_l=2, joint=True),
    )


def _hostile() -> Case:
    rng = random.Random(5)
    texts = [
        "it's",
        'a "b"',
        "100%",
        "%s",
        "a,b",
        "[x]",
        "{y}",
        " lead",
        "trail ",
        "NULL",
        "*",
        "",
        "Ünïcødé",
        "日本",
        "a\nb",
    ]
    rows = tuple(
        (rng.choice(texts), rng.choice(texts[:6]), rng.choice([*texts[:4], None]), rng.choice(texts[:3]))
        for _ in range(36)
    )
    return Case(
        "hostile",
        {HOSTILE: "TEXT", "Upper Case %": "TEXT", LONG: "TEXT", "select": "TEXT"},
        rows,
        {HOSTILE: QI("nominal"), "Upper Case %": QI("text", ordered="alphabetical"), LONG: QI("nominal", weight=2)},
        ("select",),
        Privacy(k=3),
    )


def _ties() -> Case:
    rng = random.Random(6)
    rows = tuple((7, rng.choice([1, 1, 1, 2]), rng.choice([1, 1, 3])) for _ in range(41))
    return Case(
        "ties",
        {"one": "INTEGER", "a": "INTEGER", "b": "BIGINT"},
        rows,
        {"one": QI(), "a": QI(), "b": QI()},
        (),
        Privacy(k=5),
    )


def _whole() -> Case:
    """k above a whole l of one sensitive attribute, over every treatment, with NULLs."""
    rng = random.Random(8)
    rows = tuple(
        (
            rng.choice(["oslo", "bergen", "rome", "porto", None]),
            rng.choice(["red", "red", "green", "blue", None]),
            rng.choice([None, 1, 2, 3, 50, 99]),
            rng.choice("aabbccdde"),
        )
        for _ in range(40)
    )
    return Case(
        "whole_l",
        {"city": "TEXT", "colour": "TEXT", "n": "INTEGER", "sa": "TEXT"},
        rows,
        {"city": QI("hierarchy", levels=TREE), "colour": QI("nominal", weight=2), "n": QI()},
        ("sa",),
        Privacy(k=7, l=Fraction(3)),
    )


def _several() -> Case:
    rng = random.Random(9)
    rows = tuple(
        (rng.randint(0, 20), rng.choice("pqrs"), rng.choice("aabc"), rng.choice([1, 1, 2, 3, None])) for _ in range(34)
    )
    return Case(
        "several",
        {"n": "INTEGER", "q": "TEXT", "s": "TEXT", "t": "INTEGER"},
        rows,
        {"n": QI(), "q": QI("nominal")},
        ("s", "t"),
        Privacy(k=3, l=Fraction(3, 2)),
    )


def _line(name: str, values: Sequence[int | None], privacy: Privacy, sensitive: Sequence[str | None] = ()) -> Case:
    """One quasi column of numbers, and a sensitive one if its values are given."""
    columns: dict[str, str | Enum] = {"x": "INTEGER"}
    if not sensitive:
        return Case(name, columns, tuple((x,) for x in values), {"x": QI()}, (), privacy)
    rows = tuple(zip(values, sensitive, strict=True))
    return Case(name, {**columns, "sa": "TEXT"}, rows, {"x": QI()}, ("sa",), privacy)


def _lines() -> list[Case]:
    rng = random.Random(10)
    values = [rng.choice([None, rng.randint(0, 9), rng.randint(0, 10**6)]) for _ in range(30)]
    skewed = ["flu"] * 10 + [rng.choice("abcd") for _ in range(20)]
    return [
        _line("one_attribute", values, Privacy(k=4)),
        # The most frequent value is just n / l of the rows, and its rows are adjacent.
        _line("tight_l", sorted(x or 0 for x in values), Privacy(k=2, l=Fraction(3)), skewed),
        _line("distinct_l", values, Privacy(k=2, distinct_l=3), [rng.choice("aaabbc") for _ in values]),
        _line("fraction", values, Privacy(k=5, l=Fraction(4, 3)), [rng.choice("aaab") for _ in values]),
        _line("all_equal", [3] * 11, Privacy(k=4)),
        _line("all_equal_l", [3] * 12, Privacy(k=3, l=Fraction(2)), ["a", "a", "b", "c", "a", "b"] * 2),
        _line("as_many_as_k", range(6), Privacy(k=6)),
        _line("one_less_than_2k", [9, 1, 1, 4, 7, None, 5, 2, 3], Privacy(k=5)),
    ]


def _constant() -> Case:
    """Columns that distinguish no rows, and one that does."""
    rng = random.Random(11)
    rows = tuple((5, None, "x", None, rng.randint(0, 30)) for _ in range(23))
    return Case(
        "constant",
        {"five": "INTEGER", "none": "DATE", "word": "TEXT", "nothing": "TEXT", "n": "INTEGER"},
        rows,
        {"five": QI(), "none": QI(), "word": QI("nominal"), "nothing": QI("nominal"), "n": QI(weight=3)},
        (),
        Privacy(k=4),
    )


def _wide(name: str, columns: int, privacy: Privacy) -> Case:
    """So many wide columns that a Hilbert key is longer than 63 bits."""
    rng = random.Random(columns)
    names = [f"q{j}" for j in range(columns)]
    rows = tuple(
        (
            *(rng.choice([0, 10**6, rng.randrange(10**6), None if j == 3 else 1]) for j in range(columns)),
            rng.choice("abbc"),
        )
        for _ in range(26)
    )
    quasi = {column: QI(weight=1 + j % 2) for j, column in enumerate(names)}
    return Case(name, {**dict.fromkeys(names, "INTEGER"), "sa": "TEXT"}, rows, quasi, ("sa",), privacy)


def _sets() -> Case:
    """No column is a line: a hierarchy of which leaves are missing, a nominal set, both with NULLs."""
    rng = random.Random(12)
    rows = tuple(
        (rng.choice(["oslo", "rome", "porto", "lisbon", None]), rng.choice([*"abcdefg", None]), rng.choice("uv"))
        for _ in range(33)
    )
    return Case(
        "sets",
        {"city": "TEXT", "letter": "TEXT", "side": "TEXT"},
        rows,
        {"city": QI("hierarchy", levels=TREE), "letter": QI("nominal"), "side": QI("nominal")},
        (),
        Privacy(k=4),
    )


def _diverse() -> Case:
    rng = random.Random(8)
    rows = tuple(
        (
            rng.choice([None, 18, 20, 20, 31, 47, 90]),
            rng.choice([1, 1, 2, 3]),
            rng.choice(["m", "f", "f", None]),
            rng.choice([None, "flu", "flu", "cold", "cold", "hiv", "hiv", "burn", "gout", "ulcer"]),
        )
        for _ in range(44)
    )
    return Case(
        "diverse",
        {"age": "INTEGER", "a": "INTEGER", "sex": "TEXT", "illness": "TEXT"},
        rows,
        {"age": QI(), "a": QI(weight=2), "sex": QI("nominal")},
        ("illness",),
        Privacy(k=3, l=Fraction(3)),
    )


MIXED, NUMBERS, DATES, TREES, JOINT, TIES = _mixed(), _numbers(), _dates(), _tree(), _joint(), _ties()
WHOLE = _whole()
DIVERSE = _diverse()
"""k below a whole l: what anatomy takes."""

CORE: tuple[Case, ...] = (MIXED, NUMBERS, DATES, TREES, JOINT, _hostile(), TIES, WHOLE, DIVERSE, _several())
"""Every type and treatment, every kind of requirement."""

FEW: tuple[Case, ...] = (MIXED, NUMBERS, JOINT, TIES, DIVERSE)
"""Some of them, of every kind of requirement that options distinguish."""

SAMPLES: tuple[Case, ...] = (
    *CORE,
    *_lines(),
    _constant(),
    _sets(),
    _wide("wide", 8, Privacy(k=3)),
    _wide("wide_l", 5, Privacy(k=4, l=Fraction(2))),
)
"""With the edges of what methods take."""
