"""Single templates against their definitions on tiny tables."""

from __future__ import annotations

import math
import random
import uuid
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.sqltext import statement
from tests.engines import create_table


def make_table(db: Any, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> Any:
    """A table of a new name."""
    name = f"defined_{uuid.uuid4().hex[:10]}"
    create_table(db, name, columns, rows)
    return db.engine.target(name)


@pytest.mark.parametrize("within", [[], ["h"]])
def test_groups_with_too_large_or_too_small_shares_are_found(shared_db: Any, within: list[str]) -> None:
    """Of every combination within a group: a value above p / q, one below least_p / least_q, or one that is absent."""
    draw, engine, seen = random.Random(len(within)), shared_db.engine, set()
    for needed in (False, True) * 8:
        rows = [tuple(map(draw.randrange, (3, 2, 3))) for _ in range(draw.randrange(3, 12))]
        bounds = []
        for value in range(3):
            least = Fraction(draw.choice((0, 0, 1, 2)), 8)
            most = least + Fraction(draw.randrange(4, 8), 8)
            bounds.append((value, most.numerator, most.denominator, least.numerator, least.denominator))
        wanted = [value for value, *_, least, _ in bounds if least > 0] if needed else []
        expected = set()
        for group in {row[0] for row in rows}:
            own = [row for row in rows if row[0] == group]
            for part in {row[1] for row in own} if within else {None}:
                values = Counter(row[2] for row in own if part is None or row[1] == part)
                shares = {value: Fraction(n, sum(values.values())) for value, n in values.items()}
                beyond = any(
                    shares[value] > Fraction(p, q) or shares[value] < Fraction(least, of)
                    for value, p, q, least, of in bounds
                    if value in shares
                )
                if beyond or any(value not in shares for value in wanted):
                    expected.add(group)
        made = engine.target(f"made_{uuid.uuid4().hex[:10]}")
        bound_columns = dict.fromkeys(("value", "p", "q", "least_p", "least_q"), "BIGINT")
        engine.execute(
            statement(
                "privacy/below_shares",
                engine.dialect,
                made=made,
                rows=make_table(shared_db, dict.fromkeys(("g", "h", "s"), "INTEGER"), rows),
                groups=["g"],
                within=within,
                value="s",
                count=None,
                bounds=make_table(shared_db, bound_columns, bounds),
                needed=len(wanted),
            )
        )
        found = {int(group) for (group,) in engine.fetch(f"SELECT g FROM {made}")}
        assert found == expected, (rows, bounds)
        groups = {row[0] for row in rows}
        seen |= {"none" if not found else "all" if found == groups else "some"}
    assert seen == {"none", "some", "all"}


def test_places_of_integers_on_a_line(shared_db: Any) -> None:
    """Codes by value with NULL first, places in 2^20 parts of the range, distances from the least value."""
    engine = shared_db.engine
    for values in ([None, -7, 3, 4, 93], [5], [None], [-2, 8]):
        made = engine.target(f"made_{uuid.uuid4().hex[:10]}")
        rows = [(value, 1) for value in reversed(values)]
        engine.execute(
            statement(
                "table/domain_ordered",
                engine.dialect,
                domain=made,
                ordinals=make_table(shared_db, {"value": "INTEGER", "n": "BIGINT"}, rows),
                kind="integer",
                by_ord=False,
                whole=True,
                counted=None,
            )
        )
        known = [value for value in values if value is not None]
        low, width = (min(known), max(known) - min(known)) if known else (0, 0)
        expected = [
            (
                code,
                value,
                0 if value is None or not width else (value - low) * 2**20 // width,
                0 if value is None else value - low,
            )
            for code, value in enumerate(values)
        ]
        found = engine.fetch(f"SELECT code, value, pos, ord FROM {made} ORDER BY code")
        assert [tuple(row) for row in found] == expected


def test_a_report_is_replaced_in_one_version_of_one_release(shared_db: Any) -> None:
    engine = shared_db.engine
    versions = [(release, version, "as it was") for release in ("a", "b") for version in (1, 2)]
    catalog = make_table(shared_db, {"release": "TEXT", "version": "INTEGER", "report": "TEXT"}, versions)
    binds = {"report": "new", "release": "b", "version": 1}
    engine.execute(statement("catalog/report", engine.dialect, binds, catalog=catalog))
    changed = engine.fetch(f"SELECT release, version FROM {catalog} WHERE report = 'new'")
    assert [tuple(row) for row in changed] == [("b", 1)]


def test_cells_of_one_person_have_one_owner(shared_db: Any) -> None:
    draw, engine, seen = random.Random(3), shared_db.engine, set()
    for _ in range(12):
        cells = [(cell, draw.randrange(4)) for cell in range(4)]
        touching = [(draw.randrange(5), draw.randrange(1, 3)) for _ in range(draw.randrange(1, 6))]
        owners = Counter[int]()
        for cell, persons in touching:
            owners[cell] += persons
        wrong = sum(persons == 1 and owners[cell] != 1 for cell, persons in cells)
        query = statement(
            "statistics/verify_owners",
            engine.dialect,
            cells=make_table(shared_db, {"cell": "BIGINT", "persons": "BIGINT"}, cells),
            touching=make_table(shared_db, {"cell": "BIGINT", "persons": "BIGINT"}, touching),
        )
        ((failing,),) = engine.fetch(query)
        assert failing == wrong
        seen.add(wrong > 0)
    assert seen == {True, False}


def test_a_float_lies_between_the_floats_nearest_to_the_ends_of_its_interval(shared_db: Any) -> None:
    """With one decimal and steps of 0.3: also just below an end, where ten times the float is the end."""
    engine, ends = shared_db.engine, [place / 10 for place in range(-30, 31)]
    below = [math.nextafter(end, -math.inf) for end in ends]
    assert any(math.floor(value * 10) / 10 > value for value in below)
    values = {float(value) for value in (*ends, *below, 0.05, 2.34, -1.27)}
    query = statement(
        "table/level_steps",
        engine.dialect,
        values=make_table(shared_db, {"value": "DOUBLE PRECISION"}, [(value,) for value in sorted(values)]),
        kind="float",
        scale=10,
        origin=0,
        steps=[3],
        zoned=False,
    )
    found = {float(value): int(low) for value, low in engine.fetch(query)}
    assert found == {value: max(low for low in range(-33, 31, 3) if low / 10 <= value) for value in values}
