"""Rows left out for t, beta and delta: classes are compared with the source, by plain Python, and by a reader.

Where the policy says `compared_with: source`, the shares of a class are compared with those of all rows of the source.
A reader who knows the source's shares learns as much of a published row as the model says; of left-out rows nothing is
promised, and the same reader has their values by subtraction.
"""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.methods.fulldomain.in_memory import InMemory
from sqlanon.policy import release
from tests.contract.populations import COLUMNS, HEIGHTS, METHOD, PATHS
from tests.engines import create_table, read_table
from tests.oracle import models

WHOLE = {**COLUMNS, "s": "TEXT"}
NODES = list(product(*(range(height + 1) for height in HEIGHTS)))
Model = Callable[[Sequence[Any], Sequence[Any]], bool]
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def distance(own: Sequence[Any], others: Sequence[Any]) -> Fraction:
    """The earth mover's distance where any two values are 1 apart."""
    p, q = models.shares(others), models.shares(own)
    return sum((max(q.get(v, Fraction(0)) - p.get(v, Fraction(0)), Fraction(0)) for v in {*p, *q}), Fraction(0))


ASKED: dict[str, tuple[dict[str, Any], Model]] = {
    "t": ({"t": "1/3"}, lambda own, all_: distance(own, all_) <= THIRD),
    "beta": ({"beta": {"basic": "1/2"}}, models.beta(HALF, enhanced=False)),
    "enhanced": ({"beta": {"enhanced": 1}}, models.beta(Fraction(1), enhanced=True)),
    "delta": ({"delta_disclosure": {"max": "3/2", "absent": "ignored"}}, models.delta(3 * HALF, ignored=True)),
    "both": (
        {"t": "1/2", "beta": {"basic": 1}},
        lambda own, all_: distance(own, all_) <= HALF and models.beta(Fraction(1), enhanced=False)(own, all_),
    ),
}


def world(seed: int) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [
        (rng.choice(list(PATHS)), rng.randrange(2), rng.choice("xy"), rng.choice(["a", "a", "b", None]))
        for _ in range(rng.randrange(8, 16))
    ]


def bounds(seed: int) -> tuple[int, int]:
    """k, and the most rows that are left out."""
    rng = random.Random(seed)
    return rng.randrange(1, 4), rng.randrange(1, 5)


def cell(row: tuple[Any, ...], node: tuple[int, ...]) -> tuple[str, ...]:
    """The published cell of a row at the levels of a node."""
    shown = [PATHS[row[0]][node[0]], *("any" if level else row[i] for i, level in enumerate(node[1:], 1))]
    return tuple(map(str, shown))


def classes_of(rows: Sequence[tuple[Any, ...]], node: tuple[int, ...]) -> dict[tuple[str, ...], list[Any]]:
    """The sensitive values of each published cell."""
    found: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        found.setdefault(cell(row, node), []).append(row[-1])
    return found


def scores(rows: Sequence[tuple[Any, ...]], k: int, limit: int, model: Model) -> Iterator[tuple[int, int]]:
    """Of every node that suffices the score by levels, and the rows that it leaves out."""
    everything = [row[-1] for row in rows]
    for node in NODES:
        failing = [own for own in classes_of(rows, node).values() if len(own) < k or not model(own, everything)]
        gone = sum(map(len, failing))
        if gone <= min(limit, len(rows) - 1):
            yield (len(rows) - gone) * sum(node) + gone * sum(HEIGHTS), gone


def check(db: Any, seed: int, kind: str, cities: Path) -> bool:
    """Whether a release leaves rows out; all is compared with plain Python, of both executions."""
    rows, (asked, model) = world(seed), ASKED[kind]
    k, limit = bounds(seed)
    table = f"c_{uuid.uuid4().hex[:10]}"
    create_table(db, table, WHOLE, rows)
    best, published, gone = min(scores(rows, k, limit, model)), [], 0
    for execution in ("kernel", "pushdown"):
        done = db.anonymize(
            table,
            quasi=list(COLUMNS),
            sensitive="s",
            hierarchies={"city": cities},
            method=METHOD,
            execution=execution,
            k=k,
            **asked,
            compared_with="source",
            suppression={"limit": f"{limit}/{len(rows)}", "rows": "left_out"},
            format="labels",
            allow_weaker=True,
        )
        report = done.report
        levels = re.search(r"city (\d), n (\d), kind (\d);", report.notes[0])
        assert levels is not None
        node, gone = tuple(int(level) for level in levels.groups()), report.suppressed
        assert (len(rows) - gone) * sum(node) + gone * sum(HEIGHTS) == best[0]
        shown = read_table(db, ("release", table))
        published.append(sorted(map(str, shown)))
        read_as_a_reader(rows, shown, node, k, model)
        audit = db.audit(f"release.{table}", spec=done.spec)
        assert set(report.requirements) <= set(audit.requirements)
        assert not audit.not_measured
        assert all(item.satisfied for item in audit.requirements)
        assert any("compared_with: source" in note for note in report.notes)
    assert published[0] == published[1]
    return gone > 0


def read_as_a_reader(
    rows: Sequence[tuple[Any, ...]], shown: Sequence[Any], node: tuple[int, ...], k: int, model: Model
) -> None:
    """The reader knows the source's values, and counts those of every published cell."""
    everything = [row[-1] for row in rows]
    held: dict[tuple[str, ...], list[Any]] = {}
    for row in shown:
        parts = ("any" if i and node[i] else str(row[name]) for i, name in enumerate(COLUMNS))
        held.setdefault(tuple(parts), []).append(row["s"])
    whole = classes_of(rows, node)
    assert all(sorted(map(str, whole[name])) == sorted(map(str, own)) for name, own in held.items())
    assert all(len(own) >= k and model(own, everything) for own in held.values())
    # What is left out is what is missing.
    missing = Counter(everything) - Counter(value for own in held.values() for value in own)
    left_out = Counter(value for name, own in whole.items() if name not in held for value in own)
    assert missing == left_out


@pytest.mark.parametrize("kind", ASKED)
def test_releases_that_leave_rows_out_are_those_of_plain_python(shared_db: Any, kind: str, cities: Path) -> None:
    leaving = (seed for seed in range(100) if min(scores(world(seed), *bounds(seed), ASKED[kind][1]))[1])
    assert check(shared_db, next(leaving), kind, cities)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("seed", range(2, 22))
def test_more_worlds(shared_db: Any, kind: str, seed: int, cities: Path) -> None:
    check(shared_db, seed, kind, cities)


def test_against_the_release_alone_a_distance_is_at_most_twice_as_large() -> None:
    """Each class is within t of the source, and so is their union: by the triangle, within 2t of each other."""
    rng, worst = random.Random(7), Fraction(0)
    for _ in range(300):
        classes = [[rng.choice("abc") for _ in range(rng.randrange(1, 5))] for _ in range(rng.randrange(2, 5))]
        source = [value for own in classes for value in own]
        kept = [own for own in classes if distance(own, source) <= THIRD]
        released = [value for own in kept for value in own]
        for own in kept:
            assert distance(own, released) <= 2 * THIRD
            worst = max(worst, distance(own, released))
    assert worst > THIRD


ROWS = [("oslo", 1, "x", value) for value in "aabb"] + [("rome", 1, "x", value) for value in "aabb"]
ROWS += [("pisa", 1, "x", "b"), ("pisa", 1, "x", "b")]
ARGUMENTS: dict[str, Any] = {
    "quasi": ["city"],
    "sensitive": "s",
    "rest": "drop",
    "k": 2,
    "t": 0.2,
    "method": "fulldomain:search=global",
    "suppression": {"limit": 0.2, "rows": "left_out"},
}


def made(db: Any) -> str:
    table = f"c_{uuid.uuid4().hex[:10]}"
    create_table(db, table, WHOLE, ROWS)
    return table


def test_verify_compares_with_the_source(shared_db: Any, cities: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4 a and 6 b, the classes {a, a, b, b} are 0.1 from the source, and {b, b} 0.4."""
    table = made(shared_db)
    arguments = {**ARGUMENTS, "hierarchies": {"city": cities}, "compared_with": "source"}
    report = shared_db.anonymize(table, **arguments).report
    assert (report.suppressed, report.classes, report.requirements[-1].reached) == (2, 2, 0.1)
    everything = InMemory._make_open

    def careless(*given: Any) -> Any:
        opened = everything(*given)
        opened.holds[:] = True
        return opened

    monkeypatch.setattr(InMemory, "_make_open", careless)
    with pytest.raises(PrivacyViolation, match=r"t of s: asked 0\.2, reached 0\.4; 1 classes fail"):
        shared_db.anonymize(table, **arguments, name="careless", publish=f"release.{table}_careless")


def test_an_audit_says_where_the_source_is_another(shared_db: Any, cities: Path) -> None:
    table = made(shared_db)
    done = shared_db.anonymize(table, **ARGUMENTS, hierarchies={"city": cities}, compared_with="source")
    assert any("audit with the policy" in reason for reason in shared_db.audit(f"release.{table}").not_measured)
    shared_db.engine.execute(f"DELETE FROM {table} WHERE city = 'pisa'")
    (reason,) = shared_db.audit(f"release.{table}", spec=done.spec).not_measured
    assert reason == "t: the source has other rows than the version was made of"


@pytest.mark.parametrize("search", ["global", "local"])
def test_without_the_key_left_out_rows_are_refused(search: str) -> None:
    with pytest.raises(PolicyError, match="classes are compared with the published rows"):
        release(source="t", **{**ARGUMENTS, "method": f"fulldomain:search={search}"})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"t": None, "l": 2}, "nothing is compared; it goes with t, beta"),
        ({"pseudonyms": "person", "person": "person"}, "rows of tokens are not compared with the source"),
        ({"compared_with": "population"}, "one of released, source"),
    ],
)
def test_other_uses_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        release(source="t", **{**ARGUMENTS, "compared_with": "source", **given})


def test_another_table_to_compare_with_is_weaker(shared_db: Any, cities: Path) -> None:
    table = made(shared_db)
    arguments = {**ARGUMENTS, "hierarchies": {"city": cities}}
    shared_db.anonymize(table, **{**arguments, "suppression": None})
    with pytest.raises(PolicyError, match="compared_with released -> source"):
        shared_db.anonymize(table, **arguments, compared_with="source")


def test_all_rows_as_one_class_are_left_to_publish(shared_db: Any, cities: Path) -> None:
    """No more rows are left out than the limit allows."""
    table = made(shared_db)
    arguments = {**ARGUMENTS, "hierarchies": {"city": cities}, "suppression": {"limit": 0.1, "rows": "left_out"}}
    report = shared_db.anonymize(table, **arguments, compared_with="source").report
    assert (report.suppressed, report.classes) == (0, 2)
    with pytest.raises(InfeasibleError):
        shared_db.anonymize(table, **{**arguments, "k": 11}, compared_with="source", allow_weaker=True)
