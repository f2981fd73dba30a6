"""Window functions over the groups of an answer.

Ranks, totals and shares agree with brute force over every source; other functions are refused.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from itertools import product
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.query.rewrite import window_functions, window_ranks
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("a", "integer", "INTEGER"),
    plain("c", "integer", "INTEGER"),
    plain("g", "text", "TEXT"),
]
ASKED = {
    "place": "rank() OVER (ORDER BY count(*) DESC)",
    "dense": "dense_rank() OVER (ORDER BY count(*) DESC)",
    "total": "sum(count(*)) OVER ()",
    "share": "100.0 * count(*) / sum(count(*)) OVER ()",
    "groups": "count(*) OVER ()",
    "upto": "sum(count(*)) OVER (ORDER BY g)",
    "most": "max(count(*)) OVER ()",
    "half": "ntile(2) OVER (ORDER BY g)",
    "third": "ntile(3) OVER (ORDER BY g DESC)",
    "before": "percent_rank() OVER (ORDER BY g)",
    "percent": "percent_rank() OVER (ORDER BY count(*) DESC)",
    "part": "cume_dist() OVER (ORDER BY g)",
    "first": "first_value(count(*)) OVER (ORDER BY g)",
    "near": "first_value(count(*)) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "last": "last_value(count(*)) OVER (ORDER BY g ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
}


def made(db: Any, rows: list[tuple[int, int, int, str]]) -> str:
    """A release of rows: lo, hi, c, g."""
    name = f"w{uuid.uuid4().hex[:12]}"
    publish(db, name, COLUMNS, [[str(lo), str(hi), str(c), f"'{g}'"] for lo, hi, c, g in rows])
    return name


def parted(many: int, parts: int) -> list[int]:
    """The part of each row in turn: sizes differ by one at most, the larger ones come first."""
    sizes = [many // parts + (i < many % parts) for i in range(parts)]
    return [i + 1 for i, size in enumerate(sizes) for _ in range(size)]


def truths(counts: Counter[str], group: str) -> dict[str, float]:
    """What a source with these groups gives for one of them."""
    values = list(counts.values())
    names = sorted(counts)
    at, many = names.index(group), len(names)
    return {
        "half": parted(many, 2)[at],
        "third": parted(many, 3)[many - 1 - at],
        "before": at / max(many - 1, 1),
        "percent": sum(n > counts[group] for n in values) / max(many - 1, 1),
        "part": (at + 1) / many,
        "first": counts[names[0]],
        "near": counts[names[max(at - 1, 0)]],
        "last": counts[names[-1]],
        "place": 1 + sum(n > counts[group] for n in values),
        "dense": 1 + len({n for n in values if n > counts[group]}),
        "total": sum(values),
        "share": 100 * counts[group] / sum(values),
        "groups": len(values),
        "upto": sum(n for g, n in counts.items() if g <= group),
        "most": max(values),
    }


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(3))
def test_groups_of_a_condition_over_ranges(shared_db: Any, seed: int) -> None:
    """Every bound that some source reaches is the bound.

    The groups share no row, so that their counts are independent.
    """
    rng = random.Random(seed)
    rows = [(lo := rng.randint(0, 3), lo + rng.randint(0, 3), 1, rng.choice("pqrs")) for _ in range(7)] + [
        (3, 3, 1, "p")
    ]
    listed = ", ".join(f"{text} AS {name}" for name, text in ASKED.items())
    answer = shared_db.query(f"SELECT g, {listed} FROM {made(shared_db, rows)} WHERE a > 2 GROUP BY g")
    found: dict[str, list[dict[str, float]]] = {}
    for values in product(*(range(lo, hi + 1) for lo, hi, _, _ in rows)):
        counts = Counter(row[3] for a, row in zip(values, rows, strict=True) if a > 2)
        for group in counts:
            found.setdefault(group, []).append(truths(counts, group))
    assert {row["g"] for row in answer.rows} == set(found)
    for row, certain in zip(answer.rows, answer.certain, strict=True):
        for name in ASKED:
            low, high = (pick(one[name] for one in found[row["g"]]) for pick in (min, max))
            cell = row[name]
            assert cell.low <= low + 1e-9, (name, row, rows)
            assert cell.high >= high - 1e-9, (name, row, rows)
            assert cell.undefined_possible is not certain
            # Of a group that may be missing the ends are those of sources without it, too.
            if name == "groups" or (certain and name != "dense"):
                assert (cell.low, cell.high) == pytest.approx((low, high)), (name, row, rows)


def test_groups_of_ranges_themselves(shared_db: Any) -> None:
    """Three rows of 1 to 3: the total is 3 in every source, though each of three groups may have all of them."""
    name = made(shared_db, [(1, 3, 5, "p")] * 3)
    text = (
        "SELECT a, sum(count(*)) OVER () AS total, 100.0 * count(*) / sum(count(*)) OVER () AS share, sum(sum(c)) OVER "
        "() AS cost FROM {} GROUP BY a"
    )
    for row in shared_db.query(text.format(name)).rows:
        assert (row["total"].low, row["total"].high) == (3, 3)
        assert (row["cost"].low, row["cost"].high) == (15, 15)
        assert (row["share"].low, row["share"].high) == (0, 100)
        assert row["share"].estimate == pytest.approx(100 / 3)


def test_exact_counts_have_exact_ranks(shared_db: Any) -> None:
    name = made(shared_db, [(0, 9, 1, g) for g in "pppqqrrs"])
    text = (
        "SELECT g, rank() OVER (ORDER BY count(*) DESC) AS r, dense_rank() OVER (ORDER BY count(*) DESC) AS d, "
        "row_number() OVER (ORDER BY count(*) DESC, g) AS n, row_number() OVER (ORDER BY count(*) DESC) AS t, "
        "count(*) * 100.0 / sum(count(*)) OVER () AS share FROM {} GROUP BY g ORDER BY n LIMIT 4"
    )
    answer = shared_db.query(text.format(name))
    found = {row["g"]: [row[c] for c in "rdn"] for row in answer.rows}
    assert {g: [(c.low, c.exact) for c in cells] for g, cells in found.items()} == {
        g: [(n, True) for n in ranks]
        for g, ranks in {"p": (1, 1, 1), "q": (2, 2, 2), "r": (2, 2, 3), "s": (4, 3, 4)}.items()
    }
    assert [(row["t"].low, row["t"].high) for row in answer.rows] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert [row["share"].low for row in answer.rows] == pytest.approx([37.5, 25, 25, 12.5])


@pytest.mark.parametrize(
    ("items", "rest", "reason"),
    [
        (
            "g, nth_value(count(*), 2) OVER (ORDER BY g) AS x",
            "GROUP BY g",
            r"there are rank, dense_rank, row_number, percent_rank, cume_dist, ntile, count\(\*\), sum",
        ),
        (
            "g, sum(count(*)) OVER (ORDER BY g RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS x",
            "GROUP BY g",
            "ROWS BETWEEN n PRECEDING",
        ),
        ("g, lag(count(*)) OVER () AS x", "GROUP BY g", "answered OVER"),
        ("g, first_value(count(*)) OVER () AS x", "GROUP BY g", "needs an ORDER BY"),
        ("g, last_value(g) OVER (ORDER BY g) AS x", "GROUP BY g", "of numbers, dates and timestamps"),
        ("g, c, first_value(count(*)) OVER (ORDER BY g) AS x", "GROUP BY g, c", "so that no two rows tie"),
        ("g, ntile(0) OVER (ORDER BY g) AS x", "GROUP BY g", "at least 1"),
        ("g, ntile(2) OVER () AS x", "GROUP BY g", "there are rank"),
        ("g, c, lag(count(*)) OVER (ORDER BY g) AS x", "GROUP BY g, c", "so that no two rows tie"),
        ("g, lag(count(*), 0) OVER (ORDER BY g) AS x", "GROUP BY g", "at least 1"),
        (
            "g, sum(count(*)) OVER (ORDER BY count(*)) AS x",
            "GROUP BY g",
            "running totals are ordered by what the query is grouped by",
        ),
        (
            "g, rank() OVER (PARTITION BY count(*) ORDER BY g) AS x",
            "GROUP BY g",
            "PARTITION BY takes what the query is grouped by",
        ),
        ("g, sum(c) OVER () AS x", "GROUP BY g", "must be in GROUP BY or inside an aggregate"),
        ("rank() OVER (ORDER BY c) AS x", "", "window functions are answered over the groups of a GROUP BY"),
        ("g, count(*) AS x", "GROUP BY g HAVING rank() OVER (ORDER BY count(*)) < 2", "calculated after HAVING"),
        ("g, sum(sum(count(*))) OVER () AS x", "GROUP BY g", "aggregates of aggregates"),
        ("count(*) AS x", "WHERE rank() OVER (ORDER BY c) < 3", "not allowed in WHERE"),
        ("g, round(sum(sum(CAST(c AS DOUBLE PRECISION))) OVER ()) AS x", "GROUP BY g", "cast to decimal inside"),
        ("g, 1.0 * sum(c) / sum(sum(c)) OVER () AS x", "WHERE a > 8 GROUP BY g", "the denominator may be 0"),
    ],
)
def test_what_has_no_bounds_is_refused(shared_db: Any, items: str, rest: str, reason: str) -> None:
    name = made(shared_db, [(1, 9, 0, "p"), (2, 3, 0, "q")])
    with pytest.raises(UnsupportedError, match=reason):
        shared_db.query(f"SELECT {items} FROM {name} {rest}")


def test_many_groups_are_added_up_and_not_ranked(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (window_functions, window_ranks):
        monkeypatch.setattr(module, "MOST_RANKED", 2)
    name = made(shared_db, [(1, 9, 0, g) for g in "pqr"])
    (first, *_) = shared_db.query(f"SELECT g, count(*) OVER () AS n FROM {name} GROUP BY g").rows
    assert first["n"].exact
    with pytest.raises(UnsupportedError, match="more than 2 groups are not ranked"):
        shared_db.query(f"SELECT g, rank() OVER (ORDER BY count(*)) AS n FROM {name} GROUP BY g")


def test_what_has_a_value_over_nothing_counts(shared_db: Any) -> None:
    """greatest passes over NULL: a group whose values are all NULL adds 5."""
    name = made(shared_db, [(1, 9, 7, "p"), (2, 3, 1, "q")])
    text = (
        "SELECT g, coalesce(greatest(sum(c) FILTER (WHERE c > 5), 5), 0) AS x, sum(greatest(sum(c) FILTER (WHERE c > "
        "5), 5)) OVER () AS t FROM {} GROUP BY g"
    )
    for row in shared_db.query(text.format(name)).rows:
        assert row["x"].low in (None, {"p": 7, "q": 5}[row["g"]])
        assert row["t"].low is None or row["t"].low <= 12
