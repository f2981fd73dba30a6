"""Random small tables with a policy: NULLs, ties, skew, one-value domains, every type, unicode, hostile names."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import assume, settings
from hypothesis import strategies as st

from tests.contract.cases import QI, Case
from tests.engines import Enum
from tests.oracle.requirements import Privacy, feasible


def examples(most: int) -> settings:
    """So many random tables for ``--thorough``, and a sixth of them by default."""
    return settings(max_examples=most if settings().max_examples >= 25 else max(6, most // 6))


FEW = settings(max_examples=max(2, settings().max_examples // 4))
"""For tests of whole runs over a database, each of which takes as long as hundreds of solved tables."""

LABELS = ("alpha", "beta", "Beta", "γάμμα", "it's", "a,b", "[x]", "100%")
SQL_NAMES = ("a", "B b", 'quo"te', "ünï", "order", "x%y", "semi;colon", "tab\tname")

# Floats are multiples of 1/4, so that their positions are the same in exact and in double arithmetic.
_FLOATS = st.one_of(
    st.integers(-8, 8).map(lambda i: i / 4), st.sampled_from([-0.0, 0.0, math.inf, -math.inf, math.nan, 2.0**60])
)
_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=4)


def _tree() -> st.SearchStrategy[tuple[tuple[str, ...], ...]]:
    """A tree over `LABELS`: two levels of parents, in any order of the file."""

    @st.composite
    def levels(draw: st.DrawFn) -> tuple[tuple[str, ...], ...]:
        middle = draw(st.lists(st.integers(0, 3), min_size=len(LABELS), max_size=len(LABELS)))
        upper = draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
        leaves = draw(st.permutations(range(len(LABELS))))
        return tuple((LABELS[i], f"m{middle[i]}", f"u{upper[middle[i]]}", "*") for i in leaves)

    return levels()


@st.composite
def _column(draw: st.DrawFn) -> tuple[str | Enum, st.SearchStrategy[Any], QI]:
    """A type, its values, and the treatment of a quasi column."""
    weight = draw(st.sampled_from([1, 1, 1, 2, 5]))
    ordered = st.sampled_from(["alphabetical", None])
    kind = draw(
        st.sampled_from(["int", "int", "bigint", "float", "decimal", "bool", "date", "time", "text", "enum", "tree"])
    )
    if kind == "int":
        return "INTEGER", st.integers(0, draw(st.sampled_from([0, 1, 5, 1000]))), QI("number", weight)
    if kind == "bigint":
        return "BIGINT", st.sampled_from([-(2**63), -1, 0, 1, 2**62, 2**63 - 1]), QI("number", weight)
    if kind == "float":
        return "DOUBLE PRECISION", _FLOATS, QI("number", weight)
    if kind == "decimal":
        cents = st.integers(-300, 300).map(lambda i: Decimal(i).scaleb(-2))
        return "DECIMAL(9,2)", cents, QI("number", weight)
    if kind == "bool":
        return "BOOLEAN", st.booleans(), QI("number", weight)
    if kind == "date":
        return "DATE", st.dates(dt.date(1890, 1, 1), dt.date(2199, 12, 31)), QI("number", weight)
    if kind == "time":
        moments = st.datetimes(dt.datetime(1969, 12, 31), dt.datetime(2030, 1, 1))
        return "TIMESTAMP", moments, QI("number", weight)
    if kind == "enum":
        declared = draw(st.booleans())
        return (
            Enum(LABELS),
            st.sampled_from(LABELS),
            QI("text", weight, "declared") if declared else QI("nominal", weight),
        )
    if kind == "tree":
        return "TEXT", st.sampled_from(LABELS[:6]), QI("hierarchy", weight, levels=draw(_tree()))
    order = draw(ordered)
    values = draw(st.sampled_from([st.sampled_from(LABELS), st.sampled_from(LABELS[:2]), _TEXT]))
    return "TEXT", values, QI("text" if order else "nominal", weight, order)


_SENSITIVE = st.sampled_from(
    [
        ("TEXT", st.sampled_from(["flu", "flu", "cold", "hiv", "it's", None])),
        ("INTEGER", st.sampled_from([1, 1, 2, 3, None])),
        ("BOOLEAN", st.booleans()),
        ("DOUBLE PRECISION", st.sampled_from([0.0, -0.0, 1.5, 2.5])),
    ]
)


_DIVERSITY = st.tuples(
    st.sampled_from([None, Fraction(1), Fraction(3, 2), Fraction(2)]), st.sampled_from([None, 1, 2, 3])
)


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 16, max_quasi: int = 4) -> Case:
    """A feasible case."""
    n = draw(st.integers(1, max_rows))
    quasi_count = draw(st.integers(1, max_quasi))
    sensitive_count = draw(st.integers(0, 2))
    names = draw(st.permutations(SQL_NAMES))
    columns: dict[str, str | Enum] = {}
    values: list[list[Any]] = []
    quasi: dict[str, QI] = {}
    for name in names[:quasi_count]:
        columns[name], strategy, quasi[name] = draw(_column())
        if draw(st.booleans()):
            strategy = st.one_of(st.none(), strategy)
        pool = draw(st.lists(strategy, min_size=1, max_size=5))  # few values: ties and skew
        values.append(draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)))
    sensitive = tuple(names[quasi_count : quasi_count + sensitive_count])
    for name in sensitive:
        columns[name], strategy = draw(_SENSITIVE)
        values.append(draw(st.lists(strategy, min_size=n, max_size=n)))
    diverse = bool(sensitive)
    l, distinct_l = draw(_DIVERSITY) if diverse else (None, None)  # noqa: E741 - the papers' symbol
    privacy = Privacy(
        k=draw(st.integers(1, min(4, n))),
        l=l,
        distinct_l=distinct_l,
        joint=sensitive_count == 2 and (l or distinct_l) is not None and draw(st.booleans()),
    )
    case = Case("random", columns, tuple(zip(*values, strict=True)), quasi, sensitive, privacy)
    if not feasible(case.table, privacy):
        case = Case("random", columns, case.rows, quasi, sensitive, Privacy(k=privacy.k))
    assume(feasible(case.table, case.privacy))
    return case
