"""Queries over a release that leaves rows out, against every source that is consistent with it and has one more row."""

from __future__ import annotations

import itertools
import random
from typing import Any

import duckdb
import pytest

from sqlanon.query.refusal import RefusedQueryError
from tests.engines import create_table
from tests.oracle import queries, sources

HIDDEN = {"q": [-5, 2, 6, 99, None], "s": ["a", "x", None], "c": [-9, 0, 9, None]}
"""What a row that is left out may be, as far as a reader knows; a part of it."""

AGGREGATES = {
    "n": "count(*)",
    "nc": "count(c)",
    "sc": "sum(c)",
    "ac": "avg(c)",
    "mc": "min(c)",
    "xc": "max(c)",
    "ds": "count(distinct s)",
    "nq": "count(q)",
    "sq": "sum(q)",
    "aq": "avg(q)",
    "mq": "min(q)",
    "xq": "max(q)",
}
CONDITIONS = [
    "",
    "WHERE q < 5",
    "WHERE q > 50",
    "WHERE q BETWEEN 2 AND 6 AND s = 'a'",
    "WHERE c = 0 OR q >= 8",
    "WHERE s = 'x'",
    "WHERE q IS NULL",
    "WHERE NOT (q > 3)",
    "WHERE c > 5",
]
KEYS = ([], ["s"], ["c"], ["q"], ["s", "c"])


@pytest.mark.cover
@pytest.mark.parametrize("asked", [4, pytest.param(10, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed", "anatomy"])
def test_bounds_hold_for_every_source_with_the_rows_left_out(
    shared_db: Any, leaving: Any, side_by_side: duckdb.DuckDBPyConnection, kind: str, asked: int
) -> None:
    """The released boxes are cut down to two values each, so that the sources can be side_by_side.

    Bounds must hold for fewer.
    """
    leaving(format=kind, l=2, presence="disclosed" if kind == "anatomy" else None)
    rows, facts = sources.read(shared_db, f"release.{leaving.name}")
    own = [fact for fact in facts if fact["column_name"]]
    names = [fact["column_name"] for fact in own]
    rng = random.Random(kind)
    if kind == "anatomy":
        counted = sources.rows_of(shared_db, f"release.{leaving.name}_sensitive")
        parts = sources.ways_of_groups(rows, counted, own, "s")
    else:
        parts = sources.ways_of(rows, own, {"q": HIDDEN["q"][:-1]})
    if kind != "anatomy":
        parts = sources.attaining_first(rows, facts, parts)
    parts = [[ways[0], *rng.sample(ways[1:], min(len(ways) - 1, 1))] for ways in parts]
    every = list(itertools.product(*(HIDDEN[name] for name in names)))
    parts = [*parts[:8], *(ways[:1] for ways in parts[8:]), [[way] for way in rng.sample(every, 40)]]
    types = {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}
    count = sources.enumerate_sources(side_by_side, types, names, parts)
    assert count
    holds = sources.attaining(rows, facts, parts)
    consistent = frozenset(sid for sid in range(count) if holds(sid))
    for where, keys in rng.sample(list(itertools.product(CONDITIONS, KEYS)), asked):
        listed = dict(rng.sample([own for own in AGGREGATES.items() if kind != "anatomy" or own[0] != "ds"], 5)) | {
            "n": "count(*)"
        }
        truth = sources.only(sources.outcomes(side_by_side, ", ".join(listed.values()), where, keys), consistent)
        named = [f"k{i}" for i in range(len(keys))]
        items = [f"{key} AS {short}" for key, short in zip(keys, named, strict=True)]
        items += [f"{text} AS {short}" for short, text in listed.items()]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        text = f"SELECT {', '.join(items)} FROM {leaving.name} {where}{group}"
        answer = shared_db.query(text)
        found = queries.problems(answer, truth, len(consistent), list(listed), named, known=False)
        assert found == [], text
        assert answer.left_out == 1
        assert answer.unlisted_groups == bool(keys)
        assert not any(cell.tight for row in answer.rows for cell in row.values() if hasattr(cell, "tight"))


def test_a_declared_domain_bounds_what_is_left_out(shared_db: Any, leaving: Any, tmp_path: Any) -> None:
    """The leaves of a hierarchy are in the metadata: q is from -2 to 20 for any row."""
    tree = tmp_path / "q.csv"
    tree.write_text("".join(f"{leaf};*\n" for leaf in range(-2, 21)))
    leaving(hierarchies={"q": tree}, k=11)
    (row,) = shared_db.query(f"SELECT sum(q) AS s, min(q) AS m, max(q) AS x, avg(q) AS a FROM {leaving.name}").rows
    assert [(row[name].low, row[name].high) for name in "smxa"] == [(-24, 240), (-2, 20), (-2, 20), (-2, 20)]
    (row,) = shared_db.query(f"SELECT sum(c) AS s, min(c) AS m, max(c) AS x FROM {leaving.name}").rows
    assert [(row[name].low, row[name].high) for name in "smx"] == [(None, None), (None, 0), (1, None)]


def test_limits_and_having_count_the_rows_left_out(shared_db: Any, leaving: Any) -> None:
    leaving()
    ask = f"SELECT s, count(*) AS n FROM {leaving.name} GROUP BY s"
    assert shared_db.query(ask).certain == (True, True, True)
    assert shared_db.query(f"{ask} ORDER BY 2 DESC LIMIT 5").certain == (False, False, False)
    assert shared_db.query(f"{ask} HAVING count(*) < 5").certain == (
        False,
        False,
        True,
    )  # 4 a, 4 b, 3 c and one more


def test_a_join_that_repeats_rows_gives_them_no_bound(shared_db: Any, leaving: Any) -> None:
    leaving()
    name = f"dim_{leaving.name}"
    create_table(shared_db, name, {"s": "TEXT", "w": "INTEGER"}, [("a", 1), ("a", 2), ("b", 3)])
    with pytest.raises(RefusedQueryError, match="leaves 1 rows of its source out"):
        shared_db.query(f"SELECT count(*) AS n FROM {leaving.name} JOIN {name} USING (s)", allow_linking=True)
