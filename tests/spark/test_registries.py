"""Registered parts, on Spark and on DuckDB.

Methods divide the same rows alike, and releases show, promise and lose the same.

Both see one table of every type, and are given one secret. `dealt` says which release has what.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, is_dataclass
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import PolicyError
from sqlanon.testing.assignment import assign_classes, encoded_table
from tests.contract.axes import Way, executions, ways
from tests.contract.cases import plain
from tests.spark.dealt import ALWAYS, PEOPLE, PLACES, dealt, table
from tests.spark.tables import in_duckdb, load
from tests.spark.test_walk import leftovers

pytestmark = pytest.mark.spark
BY_DEFAULT = {"anatomy", "fulldomain"}
"""Releases of the default run: two views, suppressed rows, and several requirements."""
CLASSES = [
    pytest.param(way, execution, id=f"{way}-{execution}")
    for way in ways()
    for execution in executions(way)
    # Each level is some fifty statements; test_walk has the other rule and criterion.
    if not (way.method == "mondrian" and execution == "pushdown") or str(way) == "mondrian-relaxed-loss"
]


@pytest.fixture(scope="module")
def pair(session: Any) -> Iterator[tuple[Any, Any]]:
    """Spark and DuckDB with the table and its population."""
    import pyarrow as pa

    rows = table()
    people = pa.concat_tables([rows, rows])
    load(session, rows, "kinds")
    load(session, people, PEOPLE)
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
        in_duckdb(rows, "kinds") as known,
    ):
        raw = known.engine._connection
        raw.register("people_rows", people)
        raw.execute(f"CREATE TABLE memory.main.{PEOPLE} AS SELECT * FROM people_rows")
        raw.unregister("people_rows")
        yield spark, known
    for name in ("kinds", PEOPLE):  # the session goes on, and may be asked for these again
        session.sql(f"DROP TABLE {name}")


@pytest.fixture(scope="module")
def encoded(pair: tuple[Any, Any]) -> Iterator[list[Any]]:
    """The table's codes on both, for all methods."""
    spec = policy.release(source="kinds", quasi=["place", "z"], **QUIET, k=3, l=2)
    with ExitStack() as stack:
        yield [stack.enter_context(encoded_table(db, spec)) for db in pair]


SECRET = "5" * 64
QUIET: dict[str, Any] = {
    "sensitive": "ill",
    "identifiers": "name",
    "rest": "drop",
    "hierarchies": {"place": {"groups": PLACES}},
    "seed": 5,
}


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "execution"), CLASSES)
def test_classes_are_those_of_duckdb(encoded: list[Any], way: Way, execution: str) -> None:
    """Row by row, for k and l as far as the method takes both.

    Spark cuts few levels, as each is some fifty statements.
    """
    given = {
        "source": "kinds",
        "quasi": ["place", "z"],
        **QUIET,
        "method": {"name": way.method, **way.options},
    }
    tried = ({"k": 3 if execution == "kernel" else 40, "l": 2}, {"k": 2, "l": 2}, {"k": 3})
    spec = next(spec for asked in tried if (spec := accepted(**given, **asked)))
    (mine, used), (theirs, _) = (assign_classes(*one, spec, execution) for one in encoded)
    assert used == execution
    assert classes(mine) == classes(theirs)


def accepted(**given: Any) -> Any:
    """A release that a policy may have, else None."""
    try:
        return policy.release(**given)
    except PolicyError:
        return None


def classes(of_row: dict[int, int]) -> set[frozenset[int]]:
    """The rows of each class, whatever its number."""
    found: dict[int, set[int]] = {}
    for rid, number in of_row.items():
        found.setdefault(number, set()).add(rid)
    return set(map(frozenset, found.values()))


def shown(db: Any, view: str) -> Counter[Any]:
    """What readers see, whatever its order."""
    return Counter(tuple(map(plain, row)) for row in db.engine.fetch(f"SELECT * FROM {view}"))


RELEASES = [
    *(
        pytest.param(i, id=name, marks=[pytest.mark.thorough] * (name not in BY_DEFAULT))
        for i, name in enumerate(ALWAYS)
    ),
    pytest.param(len(ALWAYS), id="more", marks=pytest.mark.thorough),
]


@pytest.mark.parametrize("number", RELEASES)
def test_releases_are_those_of_duckdb(pair: tuple[Any, Any], number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, guarantees and loss; the last parameter is whatever the releases before did not cover."""
    own, before = secrets.token_hex, leftovers(pair[0])  # the codes that other tests here read
    monkeypatch.setattr(secrets, "token_hex", lambda n=None: SECRET if n == 32 else own(n))
    for place, deal in enumerate(dealt()[number : None if number == len(ALWAYS) else number + 1]):
        name = f"kinds_{number + place}"
        mine, theirs = (
            db.anonymize("kinds", name=name, publish=f"release.{name}", **deal.arguments).report for db in pair
        )
        views = [mine.published, *([f"{mine.published}_sensitive"] * (deal.format == "anatomy"))]
        for view in views:
            found, expected = (shown(db, view) for db in pair)
            assert found == expected, deal
        for part in (
            "classes",
            "min_class",
            "max_class",
            "suppressed",
            "verified",
            "execution",
            "pm",
            "warnings",
        ):
            assert getattr(mine, part) == getattr(theirs, part), (deal, part)
        for part in ("requirements", "loss"):
            (found, words), (expected, others) = (numbers(getattr(one, part)) for one in (mine, theirs))
            assert words == others, (deal, part)
            assert found == pytest.approx(expected, rel=1e-9), (deal, part)
        assert all(one.satisfied for one in mine.requirements)
        assert leftovers(pair[0]) == before


def numbers(report: Any) -> tuple[dict[str, float], dict[str, Any]]:
    """The numbers within a part of a report by their places, and everything else in it."""
    found, others, waiting = {}, {}, [("", report)]
    while waiting:
        place, value = waiting.pop()
        value = asdict(value) if is_dataclass(value) else value
        if isinstance(value, dict | list | tuple):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(f"{place}/{key}", part) for key, part in parts]
        elif isinstance(value, int | float):
            found[place] = value
        else:
            others[place] = value
    return found, others
