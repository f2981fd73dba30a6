"""Queries of rows published as `*`, against every source that is consistent with the release; and their evaluation."""

from __future__ import annotations

import itertools
import random
from typing import Any

import duckdb
import pytest

from tests.contract.starring import TYPES
from tests.declared import declare
from tests.oracle import queries, sources

ANYTHING = {"q": [-1, 1, 6, 50], "n": ["u", "w", "y"]}
CONDITIONS = [
    "",
    "WHERE q < 3",
    "WHERE q > 20 OR h = 'a'",
    "WHERE n = 'y'",
    "WHERE h IN ('a', 'd') AND s = 'k'",
    "WHERE q IS NULL",
    "WHERE NOT (n = 'u')",
    "WHERE h IS NULL OR c = 1",
]
AGGREGATES = {
    "n": "count(*)",
    "nq": "count(q)",
    "sq": "sum(q)",
    "mq": "min(q)",
    "xq": "max(q)",
    "sc": "sum(c)",
    "nh": "count(h)",
}
KEYS = ([], ["s"], ["h"], ["n"])


@pytest.mark.cover
@pytest.mark.parametrize("asked", [2, pytest.param(5, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed"])
def test_bounds_hold_for_every_source(
    shared_db: Any, starring: Any, side_by_side: duckdb.DuckDBPyConnection, kind: str, asked: int
) -> None:
    """Stars read as any value, in labels as any value or NULL.

    The boxes are cut down to two values each, to enumerate sources.
    """
    starring(format=kind)
    rows, facts = sources.read(shared_db, f"release.{starring.name}")
    own = [fact for fact in facts if fact["column_name"]]
    names = [fact["column_name"] for fact in own]
    rng = random.Random(kind)
    parts = sources.attaining_first(rows, facts, sources.ways_of(rows, own, ANYTHING))
    open_ = set(rng.sample(range(len(parts)), 8))
    parts = [
        [ways[0], *rng.sample(ways[1:], min(len(ways) - 1, 2))] if at in open_ else ways[:1]
        for at, ways in enumerate(parts)
    ]
    count = sources.enumerate_sources(side_by_side, TYPES, names, parts)
    assert count
    holds = sources.attaining(rows, facts, parts)
    consistent = frozenset(sid for sid in range(count) if holds(sid))
    for where, keys in rng.sample(list(itertools.product(CONDITIONS, KEYS)), asked):
        truth = sources.only(sources.outcomes(side_by_side, ", ".join(AGGREGATES.values()), where, keys), consistent)
        named = [f"k{i}" for i in range(len(keys))]
        items = [f"{key} AS {short}" for key, short in zip(keys, named, strict=True)]
        items += [f"{text} AS {short}" for short, text in AGGREGATES.items()]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        answer = shared_db.query(f"SELECT {', '.join(items)} FROM {starring.name} {where}{group}")
        found = queries.problems(answer, truth, len(consistent), list(AGGREGATES), named, known=False)
        # The sources are not all that there are: that a value is missing in these says nothing.
        assert [text for text in found if "no value" not in text] == [], (where, keys)
        assert answer.left_out == 0


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed"])
@pytest.mark.parametrize("rows", ["starred", "left_out"])
def test_releases_with_suppressed_rows_are_evaluated(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, rows: str
) -> None:
    """The source's own values are always within the bounds.

    No cell of the source is missed but by rows that are left out.
    """
    from sqlanon.workload_spec import GeneratorSpec, WorkloadSpec

    if rows == "left_out":
        from tests.contract.leaving import Leaving

        declare(monkeypatch, "generalizing", Leaving, suppresses="rows")
    starring(format=kind, suppression={"limit": "4/12", "rows": rows})
    asked = (
        GeneratorSpec("equality", "equality", queries=4),
        GeneratorSpec("ranges", "ranges", queries=4),
        GeneratorSpec("joint", "joint"),
    )
    found = shared_db.evaluate(starring.name, WorkloadSpec(generators=asked))
    assert all(one.inside for cells in found.cells.values() for one in cells)
    (cube,) = found.cubes
    if rows == "starred":
        assert cube.missed == 0
        assert cube.kld > 0


def test_a_bound_that_is_missing_is_not_tight(shared_db: Any, starring: Any) -> None:
    """SUM and MAX of rows whose value is `*` have no ends; COUNT has both."""
    name = starring(format="suppressed").release
    (row,) = shared_db.query(f"SELECT sum(q) AS s, max(q) AS m, count(*) AS n FROM {name}").rows
    assert [(row[one].low, row[one].high, row[one].tight) for one in "sm"] == [(None, None, False)] * 2
    assert row["n"].tight
