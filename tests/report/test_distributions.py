"""Source against release: shares and associations, counted row by row in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from math import sqrt
from typing import Any

import pytest

import sqlanon
from sqlanon.report.compare import compare_release
from tests.engines import create_table
from tests.report.pages import Read, number, released

NAMES = ("age", "zip", "ill")


def drawn(rows: int = 120, ages: int = 6) -> list[tuple[Any, ...]]:
    """Older people live in other places; illness follows age."""
    draw = random.Random(5)
    made = []
    for n in range(rows):
        age = draw.randrange(ages)
        place = min((age + draw.randrange(3)) * 5 // (ages + 2), 4)
        made.append((1000 + n, 20 + 3 * age, f"zip{place}", ("flu", "asthma", "ulcer")[(age + draw.randrange(2)) % 3]))
    return made


def possible(released_row: dict[str, Any], source: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Per column the values of the source that a released row may have had, in format ranges."""
    ages = [age for age in source["age"] if released_row["age_lo"] <= age <= released_row["age_hi"]]
    return {"age": ages, "zip": list(released_row["zip"]), "ill": [released_row["ill"]]}


def expected(db: Any, name: str, rows: list[tuple[Any, ...]]) -> tuple[Any, Any]:
    """Shares of the source and of the release: by column and value, and by two columns and both values."""
    columns, sample = db.sample(f"release.{name}", rows=100_000)
    values = {column: sorted({row[at] for row in rows}) for at, column in enumerate(NAMES, 1)}
    single: Any = defaultdict(lambda: [0.0, 0.0])
    double: Any = defaultdict(lambda: [0.0, 0.0])
    as_rows = [{column: [row[at]] for at, column in enumerate(NAMES, 1)} for row in rows]
    for side, part in ((0, as_rows), (1, [possible(dict(zip(columns, row, strict=True)), values) for row in sample])):
        for one in part:
            for column in NAMES:
                for value in one[column]:
                    single[column, value][side] += 1 / len(one[column]) / len(part)
            for x, y in combinations(NAMES, 2):
                for value in one[x]:
                    for other in one[y]:
                        double[x, y, value, other][side] += 1 / len(one[x]) / len(one[y]) / len(part)
    return single, double


def association(double: Any, pair: tuple[str, str], side: int) -> float:
    """Cramer's V, as chi^2 of a contingency table."""
    cells = {key[2:]: shares[side] for key, shares in double.items() if key[:2] == pair and shares[side] > 0}
    across, down = defaultdict(float), defaultdict(float)
    for (x, y), share in cells.items():
        across[x] += share
        down[y] += share
    chi = sum(cells.get((x, y), 0) ** 2 / (across[x] * down[y]) for x in across for y in down) - 1
    return sqrt(chi / (min(len(across), len(down)) - 1))


def test_shares_and_associations(shared_db: Any) -> None:
    rows = drawn()
    name = released(shared_db, rows, k=8, l=1)
    single, double = expected(shared_db, name, rows)
    columns, pairs = compare_release(shared_db.engine, name)
    assert [one.name for one in columns] == ["age", "zip"]
    for one in columns:
        wanted = {str(value): shares for (column, value), shares in single.items() if column == one.name}
        assert {value: pytest.approx(shares, abs=1e-8) for value, shares in wanted.items()} == {
            value: [n, m] for value, n, m in one.bins
        }
        assert one.apart == pytest.approx(sum(abs(n - m) for n, m in wanted.values()) / 2, abs=1e-8)
        assert one.beyond == 0
    assert {pair.names for pair in pairs} == set(combinations(NAMES, 2))
    for pair in pairs:
        for side, found in enumerate((pair.source, pair.release)):
            assert found == pytest.approx(association(double, pair.names, side), abs=1e-6)
        for x, y, n, m in pair.cells:
            values = [
                int(label) if column == "age" else label
                for column, label in zip(pair.names, (pair.labels[0][x], pair.labels[1][y]), strict=True)
            ]
            assert (n, m) == pytest.approx(tuple(double[*pair.names, *values]), abs=1e-8)
    assert [pair.source for pair in pairs] == sorted((pair.source for pair in pairs), reverse=True)
    page = Read(shared_db.report(name))
    for one in columns:
        shares = page.column(f"{one.name}: shares of rows", "release")
        assert {value: number(text) for value, text in shares.items()} == {
            value: pytest.approx(m, rel=1e-3, abs=1e-6) for value, _, m in one.bins
        }


def test_few_rows_are_compared_without_a_search_for_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements are many, and most of the time is the engine's planning of each, on Spark above all."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        name = released(db, drawn(), k=8, l=1)
        entered, asked, fetch, few = [], set(), db.engine.fetch, db.engine.few_rows

        @contextmanager
        def watched() -> Iterator[None]:
            entered.append(True)
            with few():
                yield
            entered.pop()

        def seen(read: Any, **options: Any) -> Any:
            asked.add((getattr(read, "name", ""), bool(entered)))
            return fetch(read, **options)

        monkeypatch.setattr(db.engine, "few_rows", watched)
        monkeypatch.setattr(db.engine, "fetch", seen)
        compare_release(db.engine, name)
        assert ("report/joint", True) in asked
        assert not entered


@pytest.mark.thorough
def test_many_values_are_binned(shared_db: Any) -> None:
    """Numbers by equal parts of their range, names by frequency with the others together; no row is lost."""
    draw = random.Random(2)
    rows = [
        (n, draw.randrange(200) if n % 20 else None, f"z{min(draw.randrange(60), draw.randrange(60))}", "ab"[n % 2])
        for n in range(400)
    ]
    name = released(shared_db, rows, k=4, l=1)
    (age, place), pairs = compare_release(shared_db.engine, name)
    for column in (age, place):
        assert sum(n for _, n, _ in column.bins) == pytest.approx(1)
        assert sum(m for _, _, m in column.bins) + column.beyond == pytest.approx(1)
    assert age.bins[-1][0] == "NULL"
    assert age.bins[-1][1] == pytest.approx(sum(row[1] is None for row in rows) / 400)
    assert (len(age.bins), len(place.bins), age.others, place.others) == (25, 24, False, True)
    low, high = min(row[1] for row in rows if row[1] is not None), max(row[1] or 0 for row in rows)
    for text, n, _ in age.bins[:-1]:
        first, last = (int(part) for part in (text.split(" to ") if " to " in text else (text, text)))
        assert n == pytest.approx(sum(row[1] is not None and first <= row[1] <= last for row in rows) / 400)
        assert last - first <= (high - low) / 24 + 1
    assert "others" in place.bins[-1][0]
    assert all(len(labels) <= 7 for pair in pairs for labels in pair.labels)


def test_a_source_that_has_changed(shared_db: Any) -> None:
    """What is published is not in the source any more: the report says so, and has its other sections."""
    name = released(shared_db, drawn(60), k=5, l=1)
    shared_db.engine.execute(f"DELETE FROM {name} WHERE age < 32")
    page = Read(shared_db.report(name))
    assert "it has changed since the release was made" in page.text
    assert "Requirements" in page.tables


@pytest.mark.thorough
def test_types_of_columns(shared_db: Any) -> None:
    """Dates, timestamps, decimals, floats and booleans have bins and labels."""
    columns = {
        "id": "INTEGER",
        "d": "DATE",
        "t": "TIMESTAMP",
        "m": "DECIMAL(9, 2)",
        "f": "DOUBLE PRECISION",
        "b": "BOOLEAN",
        "ill": "VARCHAR(9)",
    }
    rows = [
        (
            n,
            f"2020-{1 + n % 12:02}-{1 + n % 28:02}",
            f"2021-01-{1 + n % 28:02} 10:00:00",
            n % 37 + 0.25,
            n % 41 / 8,
            n % 3 == 0,
            "ab"[n % 2],
        )
        for n in range(200)
    ]
    name = create_table(shared_db, f"types_{random.Random(9).randrange(10**9)}", columns, rows)
    shared_db.anonymize(
        name,
        name="typed",
        publish="release.typed",
        quasi=list(columns)[1:-1],
        sensitive="ill",
        identifiers="id",
        k=5,
        l=1,
    )
    found, pairs = compare_release(shared_db.engine, "typed")
    assert [one.name for one in found] == list(columns)[1:-1]
    for one in found:
        assert sum(m for _, _, m in one.bins) + one.beyond == pytest.approx(1)
    assert len(pairs) == 10
    shared_db.report("typed")


def test_of_many_columns_those_that_lost_the_most_are_compared(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the widest: every row has its own age, and zip is one value in most classes."""
    rows = [(n, n, f"zip{n % 2}", "f") for n in range(60)]
    name = released(shared_db, rows, k=6, l=1)
    losses = {one: figures["ncp"] for one, figures in shared_db.version(name).report["loss"]["columns"].items()}
    monkeypatch.setattr("sqlanon.report.compare.MOST_COLUMNS", 1)
    page = Read(shared_db.report(name))
    assert list(page.column("Distance of the distributions", "moved rows")) == [max(losses, key=losses.__getitem__)]
    assert "The columns that lost the most are compared; 1 other is left out." in page.text
