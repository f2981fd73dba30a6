"""`person` with `persons: rows`.

k and l hold over persons and over rows, recounted in Python with exact fractions from the source.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.requirements import (
    demands_of,
    grow_count,
    make_counters,
    mark_allowed,
    order_last_first,
    satisfied,
)
from sqlanon.privacy.base import Coded
from sqlanon.privacy.persons import PersonDiversity, Persons, PersonShare
from tests.engines import create_table, read_table

COLUMNS = {"mark": "INTEGER", "q": "INTEGER", "w": "TEXT", "s": "TEXT", "pid": "TEXT", "ward": "INTEGER"}
"""Of a row: its number, two quasi columns, a sensitive one, and whose it is: a patient, or a patient of a ward."""
ASKED: dict[str, Any] = {
    "quasi": ["q", "w"],
    "sensitive": "s",
    "insensitive": "mark",
    "accept_unique": "mark",
    "identifiers": ["pid", "ward"],
    "person": "pid",
    "persons": "rows",
    "k": 4,
    "l": 2,
}
FEW = [("tree", "kernel"), ("mondrian", "pushdown")]
WAYS = [
    ("hilbert", "kernel"),
    ("hilbert", "pushdown"),
    ("mondrian", "kernel"),
    ("mondrian:variant=relaxed", "kernel"),
    ("mondrian:variant=relaxed", "pushdown"),
    ("fulldomain", "kernel"),
    ("fulldomain:search=global", "kernel"),
    ("fulldomain:search=global", "pushdown"),
]


def visits(seed: object, count: int = 150) -> list[tuple[Any, ...]]:
    """Events of some 30 persons, of whom few have many rows and mostly one diagnosis."""
    drawn = random.Random(str(seed))
    usual = [drawn.choice("abcd") for _ in range(30)]
    rows = []
    for i in range(count):
        who = min(drawn.randrange(30), drawn.randrange(30))
        value = usual[who] if drawn.random() < 0.7 else drawn.choice("abcd")
        rows.append((i, drawn.randrange(12), drawn.choice("pqr"), value, f"z{who}", drawn.randrange(3)))
    return rows


def place(db: Any, rows: Sequence[tuple[Any, ...]], columns: dict[str, str] = COLUMNS) -> str:
    name = f"person_{uuid4().hex[:10]}"
    create_table(db, name, columns, rows)
    return name


def classes(
    db: Any,
    table: str,
    rows: Sequence[tuple[Any, ...]],
    columns: Iterable[str] = COLUMNS,
    others: Sequence[str] = ("mark", "s"),
) -> list[list[dict[str, Any]]]:
    """The source's rows in the classes that a reader sees; row numbers, which are published, lead to them.

    ``others`` are published columns that do not divide rows into classes.
    """
    own = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in read_table(db, ("release", table)):
        shown = tuple(str(value) for name, value in row.items() if name not in others)
        groups[shown].append(own[row["mark"]])
    assert sum(map(len, groups.values())) == len(rows)
    return list(groups.values())


def reached(members: Sequence[dict[str, Any]], person: Any = "pid") -> tuple[int, Fraction, Fraction, Fraction]:
    """Persons, l of persons, l of rows, and the largest share of one person: the definitions, written out."""
    who = [row[person] for row in members] if isinstance(person, str) else [person(row) for row in members]
    own = Counter(who)
    weight: dict[Any, Fraction] = defaultdict(Fraction)
    for name, row in zip(who, members, strict=True):
        weight[row["s"]] += Fraction(1, own[name])
    top = max(Counter(row["s"] for row in members).values())
    return (
        len(own),
        len(own) / max(weight.values()),
        Fraction(len(members), top),
        Fraction(max(own.values()), len(members)),
    )


def check(
    db: Any,
    table: str,
    rows: Sequence[tuple[Any, ...]],
    report: Any,
    k: int,
    l: Any,  # noqa: E741
    share: Any = 1,
) -> None:
    found = [reached(members) for members in classes(db, table, rows)]
    persons, weighted, frequent, largest = (list(each) for each in zip(*found, strict=True))
    assert min(persons) >= k
    assert min(weighted) >= l
    assert min(frequent) >= l
    assert max(largest) <= share
    assert report.classes == len(found)
    assert report.max_person_share == pytest.approx(float(max(largest)))
    said = {one.name: one for one in report.requirements if one.name in ("persons", "l of persons", "person_share")}
    assert said["persons"].reached == min(persons) == report.min_identifiers["pid"]
    assert said["l of persons"].reached == pytest.approx(float(min(weighted)), rel=1e-4)
    assert all(one.satisfied for one in said.values())


@pytest.fixture
def source(shared_db: Any) -> Iterator[str]:
    name = place(shared_db, visits(1))
    yield name
    shared_db.engine.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize(
    ("method", "execution"), [*FEW, *(pytest.param(*way, marks=pytest.mark.thorough) for way in WAYS)]
)
def test_every_class_holds_over_persons_and_over_rows(shared_db: Any, source: str, method: str, execution: str) -> None:
    made = shared_db.anonymize(source, **ASKED, person_share=0.5, method=method, execution=execution)
    check(shared_db, source, visits(1), made.report, 4, 2, Fraction(1, 2))
    if execution == "pushdown":
        rows = sorted(map(str, read_table(shared_db, ("release", source))))
        shared_db.anonymize(source, **ASKED, person_share=0.5, method=method, execution="kernel")
        assert sorted(map(str, read_table(shared_db, ("release", source)))) == rows


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(25))
def test_random_tables(shared_db: Any, seed: int) -> None:
    """Fifty of them, as each engine has its own; each with its own sizes and demands.

    What has no release is refused.
    """
    drawn = random.Random(f"{seed} {shared_db.engine.dialect}")
    rows = visits(drawn.random(), drawn.randrange(20, 200))
    k, l = drawn.randrange(2, 8), Fraction(drawn.choice(["1", "3/2", "2", "7/3", "3"]))  # noqa: E741
    share = Fraction(drawn.choice(["1", "1/2", "2/5", "1/4"]))
    method, execution = drawn.choice([*FEW, *WAYS, ("best", "auto"), ("idistance", "kernel")])
    refine = method in ("tree", "hilbert", "mondrian") and drawn.random() < 0.5
    source = place(shared_db, rows)
    asked = {**ASKED, "k": k, "l": l, "person_share": share, "method": method, "execution": execution, "refine": refine}
    whole = reached([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    met = whole[0] >= k and whole[1] >= l and whole[2] >= l and whole[3] <= share
    try:
        made = shared_db.anonymize(source, **asked)
    except InfeasibleError:
        assert not met
        return
    assert met
    check(shared_db, source, rows, made.report, k, l, share)


def test_groups_that_fail_together_are_united(shared_db: Any) -> None:
    """Two classes of equal boxes that each meet l over persons, and are one group to readers, which does not."""
    drawn = random.Random(81)
    rows = visits(81, drawn.randrange(20, 200))
    source = place(shared_db, rows)
    asked = {**ASKED, "k": 4, "l": 3, "person_share": "2/5", "method": "hilbert", "refine": True}
    made = shared_db.anonymize(source, **asked, execution="pushdown")
    check(shared_db, source, rows, made.report, 4, 3, Fraction(2, 5))
    assert any("were united with others" in note for note in made.report.notes)
    found = sorted(map(str, read_table(shared_db, ("release", source))))
    shared_db.anonymize(source, **asked, execution="kernel")
    assert sorted(map(str, read_table(shared_db, ("release", source)))) == found


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["starred", "left_out"])
@pytest.mark.parametrize("seed", range(10))
def test_suppressed_rows(shared_db: Any, seed: int, kind: str) -> None:
    """Starred rows are a class that meets all that is asked; those left out are in none."""
    rows = visits(seed + 500, 120)
    source = place(shared_db, rows)
    made = shared_db.anonymize(
        source,
        **ASKED,
        method="fulldomain:search=global" if kind == "starred" or seed % 2 else "fulldomain",
        suppression={"limit": 0.2, "rows": kind},
    )
    own = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows}
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in read_table(shared_db, ("release", source)):
        groups[tuple(str(value) for name, value in row.items() if name not in ("mark", "s"))].append(own[row["mark"]])
    assert sum(map(len, groups.values())) == len(rows) - made.report.left_out
    for members in groups.values():
        found = reached(members)
        assert found[0] >= 4
        assert min(found[1:3]) >= 2


def owner() -> list[tuple[Any, ...]]:
    """Ten persons, of whom one owns 991 of 1,000 rows, all of one diagnosis."""
    rows = [(i, i % 12, "p", "b", "z0", 0) for i in range(991)]
    return rows + [(991 + i, i, "p", "acd"[i % 3], f"z{i + 1}", 0) for i in range(9)]


def test_metadata_say_that_persons_are_counted(shared_db: Any) -> None:
    table = place(shared_db, visits(3))
    shared_db.anonymize(table, **ASKED)
    (facts,) = (row for row in read_table(shared_db, ("release", f"{table}_metadata")) if not row["column_name"])
    assert json.loads(facts["published"])["persons"] == "rows"


def test_one_who_owns_nearly_all_rows_does_not_pass(shared_db: Any) -> None:
    """Over persons alone it would: ten of them, none of whose values weighs more than 3/10."""
    source = place(shared_db, owner())
    asked = {**ASKED, "k": 10}
    with pytest.raises(InfeasibleError, match=r"l = 2 of s; the largest feasible value is 1\.009"):
        shared_db.anonymize(source, **asked)
    with pytest.raises(InfeasibleError, match=r"person_share = 0\.5 of pid; the least feasible value is 0\.991"):
        shared_db.anonymize(source, **{**asked, "l": None}, person_share="1/2")
    made = shared_db.anonymize(source, **{**asked, "l": None})
    assert (made.report.classes, made.report.max_person_share) == (1, pytest.approx(0.991))


def test_persons_of_one_value_do_not_pass_by_the_rows_of_another(shared_db: Any) -> None:
    """Nine of ten persons have the diagnosis a; one has as many rows of others, so that over rows it is 1/2."""
    rows = [(i, 0, "p", "a", f"z{i}", 0) for i in range(9)] + [(9 + i, 0, "p", "bcd"[i % 3], "z9", 0) for i in range(9)]
    source = place(shared_db, rows)
    with pytest.raises(InfeasibleError, match=r"l of persons = 2 of s; the largest feasible value is 1\.111"):
        shared_db.anonymize(source, **ASKED)


@pytest.mark.parametrize("seed", range(12))
def test_what_kernels_count(seed: int) -> None:
    """Every cut of an order, whole sets, and an order counted in parts, against the definitions."""
    drawn = np.random.default_rng(seed)
    many = seed % 2  # persons and values of whom most have no row
    n, persons, values = (int(drawn.integers(2, 60)), int(drawn.integers(1, 9 + 12 * many)), int(drawn.integers(1, 5)))
    who, value = drawn.integers(0, persons, n).astype(np.int32), drawn.integers(0, values, n).astype(np.int32)
    if many:
        who, value, persons, values = who * 50, value * 3, persons * 50, values * 3
    coded = Coded(n, [value], [values], persons=[who], person_codes=[persons])
    l, share = Fraction(int(drawn.integers(2, 7)), 2), Fraction(1, int(drawn.integers(1, 4)))  # noqa: E741
    k = int(drawn.integers(1, 5))
    asked = [Persons(Fraction(k), "p", 0), PersonShare(share, "p", 0), PersonDiversity(l, "s", 0, 0)]
    demands = demands_of(1, [one.tally(coded) for one in asked])
    counters, rows = make_counters(demands, n), np.arange(n, dtype=np.int32)
    order = drawn.permutation(n).astype(np.int64)
    ends = np.unique(np.append(drawn.integers(1, n + 1, 6), n)).astype(np.int64)
    allowed = np.zeros(len(ends), np.bool_)

    def meets(positions: Any) -> bool:
        found = reached([{"pid": int(who[i]), "s": int(value[i])} for i in positions])
        return found[0] >= k and found[1] >= l and found[3] <= share

    for _ in range(2):  # counters are zero again
        mark_allowed(demands, rows, order, ends, len(ends), counters, allowed)
        assert [bool(a) for a in allowed[:-1]] == [meets(order[:e]) and meets(order[e:]) for e in ends[:-1]]
        assert satisfied(demands, rows, order, counters) == meets(order)
    assert not counters.counts.any()
    held, begin = order_last_first(demands, rows)
    holds = np.zeros(n, np.bool_)
    backwards = np.arange(n)[::-1]
    for first, past in ((0, n // 2), (n // 2, n)):
        grow_count(demands, held, begin, first, past, np.arange(1, past - first + 1), counters, holds)
        assert [bool(h) for h in holds[: past - first]] == [meets(backwards[:e]) for e in range(first + 1, past + 1)]


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("bordered", [True, False])
def test_many_equal_rows_do_not_collapse_into_one_class(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch, bordered: bool
) -> None:
    """More rows of one value than the longest run, or about as many without runs that end where values change."""
    from sqlanon.methods.onedim import direct

    drawn = random.Random(7)
    rows = [(i, i % 4, "p", drawn.choice("abcd"), f"z{drawn.randrange(60)}", 0) for i in range(4000)]
    if bordered:
        monkeypatch.setattr(direct, "_STEPS", 0)
    else:

        def one_run(*arrays: Any) -> None:
            arrays[-1][:] = False
            arrays[-1][0] = True

        monkeypatch.setattr(direct, "divide_bordered", one_run)
        monkeypatch.setattr(direct, "_STEPS", 4000 * 1024)
    made = shared_db.anonymize(place(shared_db, rows), **ASKED, method="tree")
    assert made.report.classes >= 4
    assert made.report.loss.gcp <= (0 if bordered else 0.1)
