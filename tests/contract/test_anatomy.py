"""Format anatomy with every method: exact rows, sensitive values by group, numbers that say nothing."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import METHODS
from sqlanon.errors import PolicyError
from tests.contract.anatomies import Pair, bare, expected_groups, frozen, release_pair
from tests.contract.axes import Way, executions, ways
from tests.contract.cases import QI, Case
from tests.contract.samples import DIVERSE
from tests.engines import ENGINES, Enum
from tests.oracle.requirements import Privacy

FIRST = {
    way.method: way
    for way in reversed(ways())
    if METHODS[way.method].formats is None or "anatomy" in METHODS[way.method].formats
}
ABLE = [
    pytest.param(way, execution, id=f"{way}-{execution}")
    for way in FIRST.values()
    if way.takes(DIVERSE)
    for execution in executions(way)
]
"""Every method whose classes can be published so, with its first options."""
ALONE = Case(DIVERSE.name, DIVERSE.columns, DIVERSE.rows, DIVERSE.quasi, DIVERSE.sensitive, Privacy(k=1, l=Fraction(3)))
"""Without k, which exact rows do not meet."""


def every_row(case: Case) -> Counter[Any]:
    """The source's rows as the first table must show them."""
    names = list(case.quasi)
    return Counter(bare(dict(zip(names, row, strict=True))) for row in zip(*map(case.values, names), strict=True))


def found_groups(pair: Pair, sensitive: str) -> Counter[Any]:
    return Counter(frozen(*group) for group in pair.groups(sensitive).values())


@pytest.mark.cover
@pytest.mark.parametrize(("way", "execution"), ABLE)
def test_any_methods_classes_are_the_groups(shared_db: Any, way: Way, execution: str, tmp_path: Path) -> None:
    """Permutation publishing: the classes that another format would recode."""
    pair = release_pair(shared_db, ALONE, tmp_path, **way.arguments, execution=execution)
    groups = pair.groups("illness")
    sizes = [sum(values.values()) for _, values in groups.values()]
    assert found_groups(pair, "illness") == expected_groups(ALONE, way.classes(ALONE))
    assert sum((members for members, _ in groups.values()), Counter()) == every_row(ALONE)
    assert sum((values for _, values in groups.values()), Counter()) == Counter(ALONE.values("illness"))
    assert all(sum(members.values()) == sum(values.values()) for members, values in groups.values())
    report = pair.report
    assert (report.verified, report.execution, report.rows) == (True, execution, len(ALONE.rows))
    assert (report.classes, report.min_class, report.max_class) == (len(sizes), min(sizes), max(sizes))
    assert sorted({row["group_id"] for row in pair.rows}) == list(range(1, len(sizes) + 1))
    assert list(pair.rows[0]) == ["age", "a", "sex", "group_id"]
    assert list(pair.counted[0]) == ["group_id", "illness", "count"]
    asked = {item.name: item for item in report.requirements}
    reached = min(sum(c.values()) / max(c.values()) for _, c in groups.values())
    assert asked["l"].reached == pytest.approx(reached, rel=1e-12)
    assert reached >= 3
    assert asked["k"].reached == min(sizes)


@pytest.mark.cover
@pytest.mark.parametrize("way", FIRST.values(), ids=str)
def test_loss_is_the_error_of_reconstruction(shared_db: Any, way: Way, tmp_path: Path) -> None:
    """Xiao & Tao's RCE from its definition: per row, the squared distance of (c(v) / |G|) from the truth."""
    if not way.takes(DIVERSE):
        return
    report = release_pair(shared_db, ALONE, tmp_path, **way.arguments).report
    values, truth = ALONE.values("illness"), Fraction(0)
    for members in way.classes(ALONE):
        counts = Counter(values[row] for row in members)
        for row in members:
            for value, count in counts.items():
                truth += (Fraction(count, len(members)) - (value == values[row])) ** 2
    assert report.loss.rce == pytest.approx(float(truth), rel=1e-9)
    assert report.loss.rce >= len(values) * (1 - 1 / 3) - 1e-9  # the paper's lower bound at l = 3
    assert report.loss.gcp == report.loss.lm == 0


def test_groups_of_the_method_are_those_of_the_paper(shared_db: Any, tmp_path: Path) -> None:
    """Figure 3: l rows of l values, one more for a left-over row; a row is tied to a value with at most 1/l."""
    for needed in (2, 3):
        case = Case(
            *[getattr(ALONE, name) for name in ("name", "columns", "rows", "quasi", "sensitive")],
            Privacy(k=1, l=Fraction(needed)),
        )
        groups = release_pair(shared_db, case, tmp_path, method="anatomy").groups("illness")
        assert len(groups) == len(case.rows) // needed
        left_over = sum(sum(values.values()) - needed for _, values in groups.values())
        assert left_over == len(case.rows) % needed
        for members, values in groups.values():
            size = sum(members.values())
            assert size >= needed
            assert set(values.values()) == {1}
            assert max(Fraction(count, size) for count in values.values()) <= Fraction(1, needed)


def test_engines_and_executions_publish_the_same(both_dbs: Any, tmp_path: Path) -> None:
    """Equal seeds give equal tables, group numbers and stored order included."""
    made = [
        release_pair(db, ALONE, tmp_path, method="anatomy", execution=execution)
        for db in both_dbs
        for execution in ("kernel", "pushdown")
    ]
    for pair in made[1:]:
        assert (pair.rows, pair.counted) == (made[0].rows, made[0].counted)


@pytest.mark.cover
@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_nothing_shows_the_sources_order(shared_db: Any, method: str, tmp_path: Path) -> None:
    order = random.Random(8).sample(range(len(ALONE.rows)), len(ALONE.rows))
    first, second = (release_pair(shared_db, case, tmp_path, method=method) for case in (ALONE, ALONE.shuffled(order)))
    assert (first.rows, first.counted) == (second.rows, second.counted)
    for table in (first.rows, first.counted):
        numbers = [row["group_id"] for row in table]
        assert numbers == sorted(numbers)


@pytest.mark.cover
@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_numbers_are_drawn(shared_db: Any, method: str, tmp_path: Path) -> None:
    """Mondrian's classes are the same with any seed; their numbers are not, and are not in the order of the classes."""
    source = ALONE.create(shared_db)
    made = [release_pair(shared_db, ALONE, tmp_path, source=source, method=method, seed=seed) for seed in (1, 1, 2)]
    assert made[0].rows == made[1].rows
    assert made[0].rows != made[2].rows
    if method == "mondrian":
        assert found_groups(made[0], "illness") == found_groups(made[2], "illness")
        first, last = (
            {number: members for number, (members, _) in pair.groups("illness").items()} for pair in made[1:]
        )
        assert first != last


TYPED = {
    "DOUBLE PRECISION": [-0.0, 0.0, math.nan, math.inf, None, 1.5],
    "DECIMAL(10,2)": [Decimal("0.10"), Decimal("-5.00"), None, Decimal("99999999.99")],
    "BOOLEAN": [True, False, None],
    "DATE": [dt.date(1899, 12, 31), dt.date(2024, 2, 29), None],
    "TIMESTAMP": [dt.datetime(2024, 5, 17, 12, 0, 0, micro) for micro in (0, 1, 999999)],
    "TEXT": ["it's", "a, b", "", "NULL", None, "Ünï"],
    "enum": ["low", "mid", None],
}


@pytest.mark.cover
@pytest.mark.parametrize("kind", TYPED)
def test_values_of_every_type_are_exact(shared_db: Any, kind: str, tmp_path: Path) -> None:
    """As a quasi column, as an insensitive one and as the sensitive one."""
    values = TYPED[kind]
    rows = tuple(
        (i % 3, values[i % len(values)], values[i * 5 % len(values)], values[(i * 3 + i // 7) % len(values)])
        for i in range(40)
    )
    typed: Any = Enum(("low", "mid", "high")) if kind == "enum" else kind
    columns = {"n": "INTEGER", "q": typed, "kept": typed, "sa": typed}
    quasi = {"n": QI(), "q": QI("nominal" if kind in ("TEXT", "enum") else "number")}
    case = Case("typed", columns, rows, quasi, ("sa",), Privacy(l=Fraction(3, 2)))
    pair = release_pair(shared_db, case, tmp_path, method="mondrian", insensitive="kept", accept_unique=["sa", "kept"])
    shown = Counter(tuple(repr(row[name]) for name in ("n", "q", "kept")) for row in pair.rows)
    assert shown == Counter(tuple(repr(value) for value in row[:3]) for row in rows)
    totals: Counter[str] = Counter()
    for row in pair.counted:
        totals[repr(plain_zero(row["sa"]))] += row["count"]
    assert totals == Counter(repr(plain_zero(row[3])) for row in rows)
    pair.groups("sa")


def plain_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value


@pytest.mark.thorough
def test_a_release_in_a_file(connect_module: Any, tmp_path: Path) -> None:
    """Both tables are in it, and an audit of the file alone reads both."""
    import sqlanon
    from tests.contract.anatomies import read_pair

    db, source, file = connect_module(ENGINES[1]), "of_a_file", tmp_path / "out.duckdb"
    from tests.engines import create_table

    create_table(db, source, ALONE.columns, ALONE.rows)
    for _ in range(2):  # the second is swapped in
        db.anonymize(
            source,
            **{**ALONE.arguments(tmp_path), "format": "anatomy", "k": 1, **Way("anatomy").arguments},
            publish_file=str(file),
        )
    with sqlanon.connect(f"duckdb:///{file}") as reader:
        pair = read_pair(reader, source)
        audit = reader.audit(f"release.{source}")
    way = Way("anatomy")
    assert found_groups(pair, "illness") == expected_groups(ALONE, way.classes(ALONE))
    assert (audit.groups.groups, audit.sensitive[0].frequency_l) == (len(way.classes(ALONE)), 3)


def test_what_the_format_does_not_take(shared_db: Any, tmp_path: Path) -> None:
    """k without a word on presence, no l, no or several sensitive columns.

    Run and plan refuse each with advice.
    """
    source = ALONE.create(shared_db)
    good = {**ALONE.arguments(tmp_path), "format": "anatomy", "k": 1}
    bad = {
        "presence: disclosed": {"k": 3},
        "ask for l": {"l": None},
        r"exactly one sensitive.*\(sex, illness\)": {
            "quasi": ["age", "a"],
            "sensitive": ["sex", "illness"],
            "accept_unique": [],
            "weights": {},
            "l": "3/2",
        },
    }
    for problem, change in bad.items():
        with pytest.raises(PolicyError, match=problem):
            shared_db.anonymize(source, **{**good, **change})
    assert shared_db.releases(source) == ()
