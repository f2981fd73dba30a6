"""k over all sets of few known columns, and special uniques: the practice guide's table, and brute force."""

from __future__ import annotations

import itertools
import json
import random
import uuid
from collections import Counter
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import PolicyError
from sqlanon.risk.distinct import DistinctRows
from sqlanon.risk.known_columns import find_minimal, score_rows
from tests.engines import create_table
from tests.invoked import invoke

GUIDE = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
"""Benschop, Machingauta and Welch, "Statistical disclosure control: a practice guide", the table of SUDA scores."""
NAMES = ("residence", "gender", "education", "labor")


def minimal_of(rows: list[tuple[Any, ...]], most: int) -> list[list[tuple[int, ...]]]:
    """The minimal sample uniques of each row, by their definition."""
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for size in range(1, most + 1):
        for places in itertools.combinations(range(len(rows[0])), size):
            counts = Counter(tuple(row[a] for a in places) for row in rows)
            for row, own in zip(rows, found, strict=True):
                if counts[tuple(row[a] for a in places)] == 1 and not any(set(one) < set(places) for one in own):
                    own.append(places)
    return found


def distinct(rows: list[tuple[Any, ...]]) -> DistinctRows:
    counts = Counter(rows)
    codes = [np.unique([row[a] for row in counts], return_inverse=True)[1] for a in range(len(rows[0]))]
    return DistinctRows([np.asarray(one, np.int64) for one in codes], np.array(list(counts.values()), np.int64))


def test_scores_of_the_practice_guide() -> None:
    per_row = np.array([[sum(len(one) == s for one in own) for own in minimal_of(GUIDE, 3)] for s in (1, 2, 3)])
    unique = [row for row, n in enumerate(Counter(GUIDE)[one] for one in GUIDE) if n == 1]
    score, dis = score_rows(per_row[:, unique], 4, 6)
    assert score.tolist() == [6, 12, 6, 10]
    assert dis.round(4).tolist() == [0.0051, 0.0107, 0.0051, 0.0088]
    sizes, special = find_minimal(distinct(GUIDE), NAMES, 3)
    assert special is not None
    assert (special.rows, special.highest_score, special.mean_score) == (4, 12, 8.5)
    assert round(special.highest_dis, 4) == 0.0107
    assert [(one.known, one.sets, one.k) for one in sizes] == [(1, 4, 1), (2, 6, 1), (3, 4, 1)]
    # Row 8 has {Post-secondary}, {Male, Unemployed} and {Urban, Unemployed}; row 5 a value and three pairs.
    assert [(one.minimal, one.rows) for one in sizes] == [(4, 4), (5, 2), (0, 0)]


def test_the_sets_that_arx_finds() -> None:
    """26 minimal sample uniques: SUDA2's own example in ARX (org.deidentifier.arx.risk.msu.Test)."""
    rows = [(0, 3, 0, 1, 1), (0, 3, 0, 0, 1), (0, 3, 1, 1, 1), (1, 3, 0, 1, 2), (0, 2, 0, 1, 2), (1, 2, 1, 0, 2)]
    sizes, _ = find_minimal(distinct(rows), ("a", "b", "c", "d", "e"), 5)
    assert sum(one.minimal for one in sizes) == sum(map(len, minimal_of(rows, 5))) == 26


@pytest.mark.parametrize("seed", range(5))
def test_figures_against_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    rows = [tuple(rng.randrange(n) for n in (2, 3, 4, 5)) for _ in range(5 + 6 * seed)]
    names, expected = ("a", "b", "c", "d"), minimal_of(rows, 4)
    sizes, special = find_minimal(distinct(rows), names, 4)
    for one in sizes:
        sets = list(itertools.combinations(range(4), one.known))
        least = {places: min(Counter(tuple(row[a] for a in places) for row in rows).values()) for places in sets}
        assert (one.sets, one.k) == (len(sets), min(least.values()))
        assert least[tuple(names.index(name) for name in one.worst)] == one.k
        own = [[each for each in of if len(each) == one.known] for of in expected]
        assert (one.minimal, one.rows) == (sum(map(len, own)), sum(map(bool, own)))
    assert special is not None
    every = [each for of in expected for each in of]
    for at, name in enumerate(names):
        assert special.columns[name] == pytest.approx(sum(at in each for each in every) / max(len(every), 1))


def test_engines_and_bad_input(shared_db: Any) -> None:
    name = f"known_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, dict.fromkeys(NAMES, "TEXT"), [*GUIDE, (None, None, "x", "y")])
    report = shared_db.known(name, 2)
    rows = [*GUIDE, ("0", "0", "x", "y")]
    sizes, special = find_minimal(distinct(rows), NAMES, 2)
    assert (report.rows, report.columns, report.sizes) == (11, NAMES, sizes)
    assert report.special == special
    assert shared_db.known(name, 1, ["gender"]).sizes[0].k == 1
    for most in (0, 5):
        with pytest.raises(PolicyError, match="from 1 to 4"):
            shared_db.known(name, most)
    with pytest.raises(PolicyError, match="no column nobody"):
        shared_db.known(name, 1, ["nobody"])
    with pytest.raises(PolicyError, match="no column to combine"):
        shared_db.known(name, 1, left_out=NAMES)


def test_an_empty_table_has_no_figures(shared_db: Any) -> None:
    name = f"known_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"a": "TEXT"}, [])
    assert (shared_db.known(name, 1).sizes, shared_db.known(name, 1).special) == ((), None)


def test_the_command(tmp_path: Any) -> None:
    file = tmp_path / "guide.csv"
    file.write_text("\n".join(",".join(row) for row in (NAMES, *GUIDE)) + "\n")
    made = json.loads(invoke("audit", file, "--known", "3", "--json").stdout)
    assert made["special"]["highest_score"] == 12
    shown = invoke("audit", file, "--known", "3").stdout
    assert "SUDA score" in shown
    for secret in ("Rural", "Post-secondary"):
        assert secret not in shown
    for more in (("--find-qi",), ("--threshold", "0.1")):
        ended = invoke("audit", file, "--known", "2", *more)
        assert ended.exit_code == 2
        assert ended.stderr.count("error:") == 1
