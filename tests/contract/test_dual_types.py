"""A bound on every type.

Extents are in the column's own units, and shares of its range, at the edges of the types.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case
from tests.contract.dual import Bound, classes_of, numbered
from tests.contract.test_types import EXTREME, NARROW, ONLY
from tests.engines import PAIR
from tests.oracle import dual as oracle
from tests.oracle.requirements import Privacy

EXTENTS = {"decimal": "0.1", "smallint": "5", "old_times": "719162", "real": "1.25", "old_dates": "719162"}
LIMITS = {"postgres-huge_and_tiny": "PostgreSQL raises on underflow between 1e-300 and 1e300 in one column"}


@pytest.mark.cover("engine bound")
@pytest.mark.parametrize("bound", ["extent", Fraction(1, 2), Fraction(0), Fraction(1)], ids=str)
@pytest.mark.parametrize("name", [name for name in NARROW if name != "empty_text"])
def test_k_is_the_most_of_all_partitions(shared_db: Any, name: str, bound: str | Fraction, tmp_path: Path) -> None:
    """On one column, groups of consecutive values are as good as any.

    NULL, infinities and NaN are alone within extents.
    """
    sql_type, pool = NARROW[name]
    case = numbered(Case("one", {"x": sql_type}, tuple((v,) for v in (pool * 2)[:8]), {"x": QI()}))
    within = Bound(bound) if isinstance(bound, Fraction) else Bound(None, {"x": Fraction(EXTENTS.get(name, "1"))})
    best = oracle.most_private(None, len(case.rows), lambda rows: within.holds(case, rows))
    for method in ("hilbert", "mondrian"):
        classes, report = classes_of(
            shared_db, case, tmp_path, method=method, maximize="k", at_least={"k": 1}, **within.arguments
        )
        assert all(within.holds(case, rows) for rows in classes)
        reached = min(len(rows) for rows in classes)
        assert reached == report.min_class
        assert reached == best if method != "mondrian" else reached <= best


@pytest.mark.cover
@pytest.mark.parametrize(
    ("engine", "name"),
    [
        pytest.param(engine, name, id=f"{engine.name}-{name}")
        for engine in PAIR
        for name in EXTREME | ONLY[engine.family]
        if not name.endswith("char") and f"{engine.name}-{name}" not in LIMITS
    ],
)
def test_extremes(connect_module: Any, engine: Any, name: str, tmp_path: Path) -> None:
    """Every value twice.

    Within 1 of each other are all of the tiny ones and of the nanoseconds, and not all of any other.
    """
    db = connect_module(engine)
    sql_type, pool = (EXTREME | ONLY[engine.family])[name]
    case = Case("one", {"x": sql_type}, tuple((v,) for v in pool * 2), {"x": QI()}, (), Privacy())
    given = {k: v for k, v in case.arguments(tmp_path).items() if k not in ("k", "l", "distinct_l", "joint")}
    source = case.create(db)
    together = name in ("tiny", "nanoseconds")
    for bound, k in (
        ({"max_extent": {"x": 1}}, 2 * len(pool) if together else 2),
        ({"max_loss": 0}, 2),
        ({"max_loss": 1}, 2 * len(pool)),
    ):
        report = db.anonymize(
            source, **given, method="hilbert", maximize="k", at_least={"k": 1}, allow_weaker=True, **bound
        ).report
        assert report.verified
        assert report.min_class == k, bound
    assert db.anonymize(
        source, **given, method="hilbert", maximize="k", at_least={"k": 1}, max_loss=0.3, allow_weaker=True
    ).report.verified


def test_extents_beyond_bigint(shared_db: Any, tmp_path: Path) -> None:
    """Exactly 10^30 apart is within 10^30, and not within one less."""
    wide = 10**30
    case = Case("wide", {"x": "DECIMAL(38,0)"}, tuple((v,) for v in (0, wide) * 2), {"x": QI()}, (), Privacy())
    given = {k: v for k, v in case.arguments(tmp_path).items() if k not in ("k", "l", "distinct_l", "joint")}
    source = case.create(shared_db)
    for extent, k in ((wide, 4), (wide - 1, 2)):
        asked = {"maximize": "k", "at_least": {"k": 1}, "max_extent": {"x": extent}}
        assert shared_db.anonymize(source, **given, method="hilbert", allow_weaker=True, **asked).report.min_class == k
