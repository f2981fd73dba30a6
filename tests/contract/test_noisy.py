"""Noisy statistics on every engine: what one person changes, what is published, and when."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.noisy import answers as answering
from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.published_values import estimate
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from tests.contract.noisy_releases import COLUMNS, MEASURES, REGIONS, Made, Rows, exact, stays
from tests.engines import create_table, read_table
from tests.oracle.noisy import bounded, own_name

pytest.importorskip("opendp")


def cell_of(row: tuple[Any, ...]) -> int | None:
    """The finest group of a row: regions by sexes."""
    return REGIONS.index(row[1]) * 2 + "FM".index(row[2]) if row[1] in REGIONS else None


def units(cost: float | None, low: int, high: int) -> int | None:
    return None if cost is None else int(min(max(cost, low), high))


@pytest.mark.every_engine
def test_answers_are_those_of_the_rows_that_a_keyed_hash_chooses(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("oracle", 30)
    made = Made(shared_db, tmp_path, rows, measures="{n: rows, people: persons, total: {sum: cost, range: [-10, 50]}}")
    shape = shape_of(made.spec)
    placed = [(own_name(row[0]), cell, units(row[4], -10, 50)) for row in rows if (cell := cell_of(row)) is not None]
    counted = bounded(placed, "key", 2, 2)
    for one, found in zip(shape.series, exact(shared_db, shape, made.source), strict=True):
        node = shape.tables[0].levels[one.level].node
        expected = [0] * len(found)
        for cells in counted.values():
            own = {(int(node[cell]), cell): values for cell, values in cells.items()}
            if one.part == "persons":
                for group in {group for group, _ in own}:
                    expected[group] += 1
                continue
            for (group, _), values in own.items():
                expected[group] += len(values) if one.part == "rows" else sum(value or 0 for value in values)
        assert list(found) == expected, one


ADVERSARIAL: dict[str, Rows] = {
    "many rows of one group": [(99, "north", "F", 5, 50.0)] * 40,
    "a row of every group": [(99, region, sex, 5, -1e300) for region in REGIONS for sex in "FM"],
    "many rows of every group": [(99, r, s, 5, 1e300) for r in REGIONS for s in "FM" for _ in range(9)],
    "nothing that is declared": [(99, "elsewhere", "F", None, None)] * 3,
    "infinite and not a number": [(99, "south", "M", 5, x) for x in (float("inf"), float("-inf"), float("nan"))],
}


def check_every_person(db: Any, folder: Path, rows: Rows, **asked: Any) -> None:
    """Without any one person the bounded answers differ by at most the norms."""
    made = Made(db, folder, rows, **({"measures": MEASURES, "more": "kept: true"} | asked))
    shape = shape_of(made.spec)
    whole = exact(db, shape, made.source)
    for person in {row[0] for row in rows}:
        other = f"without_{uuid4().hex[:10]}"
        create_table(db, other, COLUMNS, [row for row in rows if row[0] != person])
        for one, a, b in zip(shape.series, whole, exact(db, shape, other), strict=True):
            change = [abs(int(x) - int(y)) for x, y in zip(a, b, strict=True)]
            assert sum(change) <= one.l1, (person, one)
            assert sum(x * x for x in change) <= one.l2, (person, one)


def test_one_person_changes_no_more_than_the_norms(shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, stays("one", 2) + ADVERSARIAL["many rows of every group"])


@pytest.mark.thorough
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_person_changes_more_than_the_norms_whoever_it_is(name: str, shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, stays(name, 9) + ADVERSARIAL[name])


def answers_of(db: Any, folder: Path, kinds: dict[str, str], rows: list[str], **asked: Any) -> dict[str, list[int]]:
    """The bounded answers of the finest groups of a table of stays with some columns of other types; rows are SQL."""
    made = Made(db, folder, [], **asked)
    made.source = f"typed_{uuid4().hex[:10]}"
    create_table(db, made.source, COLUMNS | kinds, [])
    for row in rows:
        db.engine.execute(f"INSERT INTO {made.source} VALUES {row}")
    made.write(**asked)
    shape = shape_of(made.spec)
    found = zip(shape.series, exact(db, shape, made.source), strict=True)
    return {one.part: list(map(int, answer)) for one, answer in found if one.level == len(shape.tables[0].levels) - 1}


UUIDS = ("'aaaaaaaa-0000-0000-0000-00000000000A'", "'AAAAAAAA-0000-0000-0000-00000000000a'")


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("kind", "keys"), [("NUMERIC", ("1", "1.0", "1.00")), ("DOUBLE PRECISION", ("'0'", "'-0'", "0")), ("UUID", UUIDS)]
)
def test_equal_keys_that_are_written_otherwise_are_one_person(
    kind: str, keys: tuple[str, ...], shared_db: Any, tmp_path: Path
) -> None:
    rows = [f"({key}, 'north', 'F', 5, 5)" for key in keys]
    asked = {"tables": "[{by: [sex]}]", "groups": "{sex: [F, M]}", "contributions": "{groups: 1, rows: 1}"}
    found = answers_of(shared_db, tmp_path, {"pid": kind}, rows, measures="{n: rows, people: persons}", **asked)
    assert found == {"rows": [1, 0], "persons": [1, 0]}


EXTREME = {
    "small": ("DOUBLE PRECISION", "5e-324", 0, 0),
    "smaller": ("NUMERIC(38, 38)", "0.00000000000000000000000000000000000001", 0, 0),
    "below every double": ("NUMERIC", "1e-400", 0, 0),
    "large": ("NUMERIC(38, 0)", "9" * 38, 100, None),
    "an integer above every decimal": ("HUGEINT", "170141183460469231731687303715884105727", 100, None),
}


@pytest.mark.every_engine
@pytest.mark.parametrize("what", EXTREME)
def test_no_value_makes_a_run_fail(what: str, shared_db: Any, tmp_path: Path) -> None:
    kind, value, clipped, group = EXTREME[what]
    if kind == "HUGEINT" and shared_db.engine.dialect != "duckdb":
        kind = "NUMERIC"
    rows = [f"(1, 'north', 'F', {value}, {value})"]
    kinds, measures = {"age": kind, "cost": kind}, "{n: rows, total: {sum: cost, range: [0, 1000], unit: 10}}"
    by_sex = {"tables": "[{by: [sex]}]", "groups": "{sex: [F, M]}"}
    assert answers_of(shared_db, tmp_path, kinds, rows, measures=measures, **by_sex) == {
        "rows": [1, 0],
        "sum": [clipped, 0],
    }
    by_age = {"tables": "[{by: [age]}]", "groups": "{age: {bins: [0, 0.5, 100]}}"}
    assert answers_of(shared_db, tmp_path, kinds, rows, **by_age)["rows"] == [int(group == 0), 0]


@pytest.mark.thorough
def test_norms_are_attained(shared_db: Any, tmp_path: Path) -> None:
    together = [(1, "north", sex, 5, 50.0) for sex in "FM" for _ in range(3)]
    apart = [(1, region, "F", 5, 50.0) for region in REGIONS[:2] for _ in range(3)]
    measures = "{n: rows, people: persons, total: {sum: cost, range: [-10, 50]}}"
    found = []
    for rows in (together, apart):
        made = Made(shared_db, tmp_path, rows, measures=measures)
        shape = shape_of(made.spec)
        found.append(exact(shared_db, shape, made.source))
    for one, *both in zip(shape.series, *found, strict=True):
        assert max(sum(map(int, answer)) for answer in both) == one.l1, one
        assert max(sum(int(x) ** 2 for x in answer) for answer in both) == one.l2, one


def test_every_declared_group_is_published_with_totals_that_agree(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("published", 40)
    made = Made(
        shared_db,
        tmp_path,
        rows,
        tables="[{by: [region, sex]}, {name: by_age, by: [age], totals: false}]",
        groups="{region: [north, south, it's, empty], sex: [F, M], age: {bins: [0, 20, 40, 60.5]}}",
        measures=MEASURES,
        more="show: {persons: 5}",
    )
    report = made.run()
    assert report.verified
    view = made.rows()
    keys = [(row["table"], row["level"], row["region"], row["sex"], row["age"]) for row in view]
    expected = [("region, sex", 0, None, None, None)]
    expected += [("region, sex", 1, region, None, None) for region in REGIONS]
    expected += [("region, sex", 2, region, sex, None) for region in REGIONS for sex in "FM"]
    expected += [("by_age", 0, None, None, age) for age in ("[0, 20)", "[20, 40)", "[40, 60.5)")]
    assert sorted(map(repr, keys)) == sorted(map(repr, expected))
    by_level = {
        level: [row for row in view if row["level"] == level and row["table"] != "by_age"] for level in range(3)
    }
    for measure in ("n", "total"):
        (top,) = by_level[0]
        for level in (1, 2):
            assert top[measure] == pytest.approx(sum(row[measure] for row in by_level[level]))
    for row in view:
        assert row["shown"] == (row["people"] >= 5)
        assert 0 <= row["n_low"] <= max(row["n_high"], 0)
        assert row["total_low"] < row["total"] < row["total_high"]
        assert 0 <= row["cost_low"] <= row["cost"] <= row["cost_high"] <= 20
    assert "_sqlanon_order" not in view[0]


def test_with_almost_no_noise_the_numbers_are_the_exact_ones(shared_db: Any, tmp_path: Path) -> None:
    draw = random.Random("exact")
    rows = [(pid, draw.choice(REGIONS[:3]), draw.choice("FM"), 5, float(draw.randrange(21))) for pid in range(200)]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        contributions="{groups: 1, rows: 1}",
        epsilon="100",
        budget="epsilon: 100",
        measures="{n: rows}",
    )
    made.run()
    counts: Counter[Any] = Counter()
    for _, region, sex, _, _ in rows:
        counts.update([(None, None), (region, None), (region, sex)])
    assert {(row["region"], row["sex"]): round(row["n"]) for row in made.rows() if row["n"] > 0.5} == dict(counts)


@pytest.mark.thorough
def test_an_intermediate_level_of_a_hierarchy_is_published(shared_db: Any, tmp_path: Path) -> None:
    (tmp_path / "place.csv").write_text("north;up;*\nsouth;down;*\nit's;down;*\n")
    made = Made(
        shared_db,
        tmp_path,
        stays("tree"),
        tables="[{by: [region, sex]}]",
        groups=f"{{region: {tmp_path / 'place.csv'}, sex: [F, M]}}",
    )
    made.run()
    assert sorted((row["level"], str(row["region"]), str(row["sex"])) for row in made.rows()) == sorted(
        [(0, "None", "None"), (1, "up", "None"), (1, "down", "None")]
        + [(2, region, "None") for region in ("north", "south", "it's")]
        + [(3, region, sex) for region in ("north", "south", "it's") for sex in "FM"]
    )


def test_only_the_clock_makes_versions_and_each_is_paid(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("clock"))
    first = made.run()
    before = made.rows()
    assert first.noisy.spent == pytest.approx(1, rel=1e-3)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES (1000, 'north', 'F', 5, 5)")
    assert made.run().outcome == "fresh"
    assert made.rows() == before
    second = made.run(spend=True)
    assert (second.version, second.noisy.spent > first.noisy.spent) == (2, True)
    assert made.rows() != before
    assert shared_db.rollback(made.name).warnings == ()
    assert made.rows() == before
    shared_db.unpublish(made.name)
    with pytest.raises(GuardError, match="rollback publishes it again, at no cost"):
        made.run()
    shared_db.rollback(made.name)
    assert made.rows() == before
    assert made.states() == ["published", "published"]


@pytest.mark.thorough
@pytest.mark.every_engine
def test_a_version_is_due_by_the_clock_even_if_nothing_changed(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("due"))
    made.run()
    before = made.rows()
    long_ago = "UPDATE _sqlanon.catalog SET checked_at = '2020-01-01T00:00:00+00:00' WHERE release = '{}'"
    shared_db.engine.execute(long_ago.format(made.name))
    report = made.run()
    assert (report.version, report.why) == (2, ("the time of a new version has come",))
    assert made.rows() != before
    assert made.run().outcome == "fresh"
    assert made.states() == ["published", "published"]


@pytest.mark.parametrize("wrong", ["groups", "rows"])
def test_a_second_query_notices_other_answers(
    wrong: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, ADVERSARIAL["many rows of every group"])
    context, calls = answering._context, itertools.count()

    def fewer(*given: Any) -> dict[str, Any]:
        return context(*given) | ({wrong: 1} if next(calls) == 0 else {})

    monkeypatch.setattr(answering, "_context", fewer)
    with pytest.raises(PrivacyViolation, match="a second query does not give the same bounded answers"):
        made.run()


def test_no_number_of_the_data_is_in_the_catalog_the_ledger_the_metadata_or_the_anchor(
    shared_db: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [(pid, "north", "F", 5, 5.0) for pid in range(2963)]
    made = Made(shared_db, tmp_path, rows, measures="{n: rows}", epsilon="0.5", contributions="{groups: 1, rows: 1}")
    with caplog.at_level("DEBUG"):
        report = made.run()
    said = [json.dumps(report.to_dict(), default=str), caplog.text, (tmp_path / "anchor").read_text()]
    for table in ("catalog", "budgets"):
        said += [repr(row) for row in read_table(shared_db, ("_sqlanon", table)) if made.source in repr(row)]
    metadata = read_table(shared_db, ("release", f"{made.view}_metadata"))
    said += [repr(metadata)]
    assert len(said) == 3 + 1 + 4 + 1  # the report, the log, the anchor; rows of the catalog and the ledger; metadata
    assert not any(re.search(r"(?<![\w.])2963(?!\w)", text) for text in said)  # hashes may have these digits
    (row,) = [one for one in metadata if one["column_name"] == ""]
    facts = json.loads(row["published"])
    assert set(facts) == {
        "release",
        "source",
        "version",
        "sqlanon",
        "token",
        "statistics",
        "types",
        "collations",
        "equal_unlike",
    }
    assert set(facts["statistics"]) == {
        "budget",
        "epsilon",
        "delta",
        "unit",
        "noise",
        "interval",
        "contributions",
        "kept",
        "tables",
        "measures",
        "scales",
    }


@pytest.mark.thorough
def test_intervals_contain_the_bounded_answers(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("cover", 40), measures=MEASURES, more="kept: true")
    shape = shape_of(made.spec)
    found = exact(shared_db, shape, made.source)
    noise = noise_of(shape)
    inside = total = 0
    for _ in range(40):
        drawn = [add_noise(one, noise.law, scale) for one, scale in zip(found, noise.scales, strict=True)]
        made_of = estimate(shape, noise, drawn)
        for (table, level, measure), (one,) in made_of.items():
            part = {"rows": "rows", "persons": "persons", "sum": "sum"}.get(shape.spec.measures[measure].quantity)
            if part is not None:
                truth = found[shape.find_series(table, level, measure, part)]  # type: ignore[arg-type]
                inside += int(np.sum((one.low <= truth) & (truth <= one.high)))
                total += len(truth)
    # 1,560 intervals, of which those of one drawing depend on each other: below 0.9 is beyond 1e-6.
    assert inside / total > 0.9
