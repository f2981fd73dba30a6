"""Method fulldomain with search=local.

Its classes are the oracle's, and within a limit rows are left out where that loses less.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError
from sqlanon.methods.fulldomain import sieve
from tests.contract.assigned import encoded_sample
from tests.contract.cases import QI, Case, release_rows
from tests.contract.lattices import case
from tests.engines import PAIR
from tests.oracle import lattice
from tests.oracle.requirements import Privacy


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("divide", ["values", "whole"])
def test_local_classes_are_those_of_the_oracle(connect_module: Any, tmp_path: Path, seed: int, divide: str) -> None:
    """Every row once, every class meets the policy: the oracle's classes, with and without a limit of nodes."""
    privacies = [
        Privacy(k=3),
        Privacy(k=1, l=Fraction(2)),
        Privacy(k=3, l=Fraction(7, 4)),
        Privacy(k=2, distinct_l=3),
    ]
    one = case(seed + 20, privacies[seed % 4], rows=31)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        for nodes in (0, 3):
            options = {"name": "fulldomain", "divide": divide} | ({"nodes": str(nodes)} if nodes else {})
            classes, _ = sample.classes("kernel", method=options, seed=1)
            own = [sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows) for rows in classes]
            expected = lattice.local(sample.table, replace(one.privacy), divide, nodes)
            assert sorted(own) == sorted(
                sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows) for rows in expected
            )


@pytest.mark.parametrize("divide", ["values", "whole"])
def test_local_leaves_rows_out_where_that_loses_less(connect_module: Any, tmp_path: Path, divide: str) -> None:
    """Within the limit, with every class lawful (verified), never with more loss.

    By hand where one value is frequent.
    """
    places = zip(("oslo", "bergen", "rome", "pisa"), "wxyz", range(4), strict=True)
    rows = [(*place, sa) for place in places for sa in "bc"] + [("nowhere", "v", 5, "a")] * 8
    tables = [replace(case(0, Privacy(k=1, l=Fraction(2))), rows=tuple(rows))]
    tables += [case(seed + 60, Privacy(k=2, l=Fraction(2)), rows=41) for seed in range(2)]
    # The search counts what levels lose: so does LM where every column has a hierarchy.
    own = {
        name: QI("hierarchy", levels=tuple((value, "*") for value in values))
        for name, values in (("kind", "vwxyz"), ("n", "01235"))
    }
    for one in (replace(table, quasi={**table.quasi, **own}) for table in tables):
        method = {"name": "fulldomain", "divide": divide}
        db = connect_module(PAIR[0])
        _, without = release_rows(db, one, tmp_path, method=method)
        asked = {"limit": "1/2", "rows": "left_out"}
        shown, report = release_rows(db, one, tmp_path, method=method, suppression=asked)
        assert report.verified
        assert report.left_out == one.table.rows - len(shown) <= one.table.rows / 2
        assert report.loss.lm <= without.loss.lm + 1e-12
        if one.rows == tables[0].rows:
            # Every other row has to be in a class with one of the frequent value, or can be in a class of its own
            # place.
            assert (report.left_out, report.loss.lm) == (8, pytest.approx(8 / 16))
            assert without.loss.lm > 8 / 16


@pytest.mark.thorough
@pytest.mark.parametrize("divide", ["values", "whole"])
def test_rows_are_left_out_of_a_table_that_falls_short_of_l(connect_module: Any, tmp_path: Path, divide: str) -> None:
    """By value: classes are found wherever enough rows of the frequent value may go.

    Whole groups: what is found is lawful.
    """
    db, rng = connect_module(PAIR[0]), random.Random(8)
    found = 0
    for number in range(24):
        n, limit = rng.randint(3, 9), Fraction(rng.randint(1, 3), 4)
        least = Fraction(rng.choice(["2", "3/2", "5/2"]))
        rows = tuple((rng.randrange(2), rng.choice("xzzz")) for _ in range(n))
        one = Case(
            f"short_{divide}_{number}",
            {"a": "INTEGER", "s": "TEXT"},
            rows,
            {"a": QI()},
            ("s",),
            Privacy(k=1, l=least),
        )
        # One class of all rows but as many of the frequent value as l asks for, or fewer.
        counts = Counter(s for _, s in rows)
        enough = any(
            (kept := sum(min(count, most) for count in counts.values())) > 0
            and least * max(min(count, most) for count in counts.values()) <= kept
            and n - kept <= int(limit * n)
            for most in range(1, n + 1)
        )
        asked = {"limit": str(limit), "rows": "left_out"}
        try:
            shown, report = release_rows(
                db, one, tmp_path, method={"name": "fulldomain", "divide": divide}, suppression=asked
            )
        except InfeasibleError:
            assert divide == "whole" or not enough
            continue
        assert report.verified
        assert enough
        assert n - len(shown) == report.left_out <= limit * n
        found += report.left_out > 0
    assert found > (3 if divide == "values" else 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_filter_of_large_lattices_changes_nothing(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    one = case(seed + 40, [Privacy(k=3), Privacy(k=1, l=Fraction(2)), Privacy(k=2, distinct_l=2)][seed], rows=90)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        made = []
        for large in (sieve.LARGE, 0):
            monkeypatch.setattr(sieve, "LARGE", large)
            classes, _ = sample.classes("kernel", method="fulldomain", seed=1)
            made.append({frozenset(rows) for rows in classes})
    assert made[0] == made[1]
