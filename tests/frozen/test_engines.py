"""Frozen refreshes on the engines, against the model in plain Python: what is published, who waits, who leaves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

import sqlanon
from tests.covering import seeds
from tests.frozen.model import Key, Lineage, Member, Row
from tests.frozen.wards import classes, lineage_table, patient, seen, spec_of, ward, write

FRESH = count()
K, L, COHORT, NIGHTS = 3, 2, 8, 5


def by_hand(source: dict[int, tuple[Any, ...]]) -> dict[Key, Row]:
    return {number: Row(row[:2], (row[2], row[3])) for number, row in source.items()}


@pytest.mark.parametrize("seed", seeds(50, 2))
def test_versions_are_those_of_the_model(shared_db: Any, seed: int) -> None:
    """Random nights, with erasures and rollbacks.

    Every count, every published row, and that classes are lawful, cover their rows and never change.
    """
    draw, table = random.Random(seed), f"f{seed}_{next(FRESH)}"
    spec, source, number = spec_of(table, rows=COHORT, k=K, l=L, keep=3), ward(draw, 24), count(24)
    gone: dict[int, tuple[Any, ...]] = {}

    def divided(rows: Sequence[Member]) -> list[list[Key]] | None:
        """The product's classes of the cohort, or that there are none: judged by itself whether there could be."""
        ill = Counter(member.value[0] for member in rows)
        if len(rows) < K or max(ill.values()) * L > len(rows):
            return None
        exits.update(classes(shared_db, table, [member.key for member in rows]))
        names = "_sqlanon_class, age_lo, age_hi, dose_lo, dose_hi"
        cells = {
            number: tuple(box)
            for number, *box in shared_db.engine.fetch(
                f'SELECT {names} FROM {lineage_table(shared_db, table)[:-1]}_classes"'
            )
        }
        groups: dict[tuple[int, ...], list[Key]] = {}
        for member in rows:
            groups.setdefault(cells[exits[member.key]], []).append(member.key)
        return list(groups.values())

    def parted(rows: Sequence[Member]) -> list[list[Key]]:
        """The product's exit groups of a class; the model judges them."""
        groups: dict[int, list[Key]] = {}
        for member in rows:
            groups.setdefault(exits[member.key], []).append(member.key)
        return list(groups.values())

    exits: dict[Key, int] = {}
    model, changed, kept = Lineage(K, L, COHORT, None, divided, parted), True, 0
    for night in range(NIGHTS):
        write(shared_db, table, source)
        erased = night > 1 and draw.random() < 0.2
        if erased:
            key = draw.choice(sorted(source))
            done = shared_db.erase(spec, [{"id": key}], confirmed=True)
            assert done.rows == len(model.erase({key}))
            kept = 1
        back = kept > 1 and draw.random() < 0.2
        if back:
            shared_db.rollback(table)
        report = shared_db.run(spec, full=back)
        version = model.run(by_hand(source), night)
        made = back or (bool(version.cohort) if erased else changed)
        assert report.outcome == ("published" if made else "unchanged")
        kept += made
        found = report.lineage
        assert (
            found.current,
            found.stale,
            found.retained,
            found.waiting,
            found.refused,
            found.gone,
            found.erased,
        ) == version.counts
        assert found.published == len(version.cells)
        records = Counter((*cell.box[0], *cell.box[1], *cell.value) for cell in version.cells.values())
        assert seen(shared_db, table) == records
        before = dict(source)
        for one in draw.sample(sorted(source), min(5, len(source))):
            gone[one] = source.pop(one)
        for one in draw.sample(sorted(source), min(4, len(source))):
            source[one] = patient(draw)
        for one in draw.sample(sorted(gone), min(draw.randrange(3), len(gone))):
            source[one] = gone.pop(one)
        for _ in range(draw.randrange(11)):
            source[next(number)] = patient(draw)
        changed = source != before
    together = shared_db.history(table) if seed % 4 == 0 else ()
    assert all(one.failing == 0 and not one.unknown for one in together)


def test_a_run_again_changes_nothing_and_full_shows_the_same(shared_db: Any) -> None:
    draw, table = random.Random(5), f"again_{next(FRESH)}"
    spec, source = spec_of(table), ward(draw, 20)
    write(shared_db, table, source)
    shared_db.run(spec)
    rows = seen(shared_db, table)
    assert shared_db.run(spec).outcome == "unchanged"
    full = shared_db.run(spec, full=True)
    assert (full.version, full.lineage.number, full.lineage.entered) == (2, 1, 0)
    assert seen(shared_db, table) == rows


@pytest.mark.thorough
@pytest.mark.parametrize("seed", seeds(6, 2))
def test_runs_that_are_skipped_or_repeated_give_the_same(shared_db: Any, seed: int) -> None:
    """One release runs every night, and twice.

    The other only when a cohort is due: no class is deleted whole, which a run decides for ever.
    """
    draw, number = random.Random(seed), count(24)
    source = ward(draw, 24)
    often, seldom = (f"{name}{seed}_{next(FRESH)}" for name in ("often", "seldom"))
    specs = {table: spec_of(table, rows=COHORT, k=K, l=1) for table in (often, seldom)}
    for table, spec in specs.items():
        write(shared_db, table, source)
        shared_db.run(spec)
    gone: dict[int, tuple[Any, ...]] = {}
    entered = skipped = 0
    for _ in range(NIGHTS):
        published = classes(shared_db, often, range(24))
        stays = {of: min(key for key in published if published[key] == of) for of in published.values()}
        for one in draw.sample(sorted(set(source) - set(stays.values())), 4):
            gone[one] = source.pop(one)
        for one in draw.sample(sorted(source), 3):
            source[one] = patient(draw)
        for one in draw.sample(sorted(gone), draw.randrange(3)):
            source[one] = gone.pop(one)
        for _ in range(draw.randrange(2, 6)):
            source[next(number)] = patient(draw)
        write(shared_db, often, source)
        found = shared_db.run(specs[often]).lineage
        rows, kept = seen(shared_db, often), _kept(shared_db, often)
        assert shared_db.run(specs[often]).outcome == "unchanged"
        assert (seen(shared_db, often), _kept(shared_db, often)) == (rows, kept)
        full = shared_db.run(specs[often], full=True).lineage
        assert (full.entered, full.left, seen(shared_db, often), _kept(shared_db, often)) == (0, 0, rows, kept)
        entered += found.entered
        if not found.entered:
            skipped += 1
            continue
        write(shared_db, seldom, source)
        late = shared_db.run(specs[seldom]).lineage
        assert (late.published, late.entered, late.stale, late.retained) == (
            found.published,
            found.entered,
            found.stale,
            found.retained,
        )
        assert seen(shared_db, seldom) == rows
    assert entered
    assert skipped


def _kept(db: Any, table: str) -> Counter[tuple[Any, ...]]:
    """What the lineage keeps."""
    return Counter(map(tuple, db.engine.fetch(f"SELECT * FROM {lineage_table(db, table)}")))


def test_after_a_rollback_everything_that_was_shown_counts(shared_db: Any) -> None:
    draw, table = random.Random(6), f"back_{next(FRESH)}"
    spec, source = spec_of(table), ward(draw, 20)
    write(shared_db, table, source)
    shared_db.run(spec)
    source |= {number: (number, 1, ("flu", "hiv")[number % 2], 0) for number in range(30, 40)}
    write(shared_db, table, source)
    assert shared_db.run(spec).lineage.entered == 10
    rows = seen(shared_db, table)
    shared_db.rollback(table)
    assert sum(seen(shared_db, table).values()) == 20
    after = shared_db.run(spec, full=True)
    assert (after.lineage.published, after.lineage.entered) == (30, 0)
    assert seen(shared_db, table) == rows


def test_a_null_that_comes_later_adds_its_column_and_changes_no_cell(shared_db: Any) -> None:
    draw, table = random.Random(7), f"null_{next(FRESH)}"
    spec, source = spec_of(table), ward(draw, 20)
    write(shared_db, table, source)
    shared_db.run(spec)
    rows = seen(shared_db, table)
    source |= {number: (None, 2, ("flu", "hiv")[number % 2], 0) for number in range(30, 40)}
    write(shared_db, table, source)
    shared_db.run(spec)
    assert not rows - seen(shared_db, table)
    states = dict(shared_db.engine.fetch(f"SELECT age_null, COUNT(*) FROM release.{table} GROUP BY age_null"))
    assert states == {"none": 20, "all": 10}
    source |= {number: (number, 2, ("flu", "hiv")[number % 2], 0) for number in range(50, 60)}
    write(shared_db, table, source)
    shared_db.run(spec)
    states = dict(shared_db.engine.fetch(f"SELECT age_null, COUNT(*) FROM release.{table} GROUP BY age_null"))
    assert states == {"none": 30, "all": 10}


@pytest.mark.cover
@pytest.mark.parametrize("form", ["labels", "points", "suppressed"])
def test_every_format_of_classes(shared_db: Any, form: str) -> None:
    draw, table = random.Random(8), f"{form}_{next(FRESH)}"
    spec, source = spec_of(table, format=form), ward(draw, 20)
    write(shared_db, table, source)
    shared_db.run(spec)
    names = ", ".join(shared_db.run(spec).columns)
    rows = Counter(shared_db.engine.fetch(f"SELECT {names} FROM release.{table}"))
    del source[0], source[1]
    source |= {number: (number, 1, ("flu", "hiv")[number % 2], 0) for number in range(30, 40)}
    write(shared_db, table, source)
    report = shared_db.run(spec)
    after = Counter(shared_db.engine.fetch(f"SELECT {names} FROM release.{table}"))
    assert (report.lineage.published, report.lineage.retained, sum((after - rows).values())) == (30, 2, 10)
    assert not rows - after


def test_starred_rows_are_one_class_of_their_cohort(shared_db: Any) -> None:
    """Three rows of each cohort fit no class: they have the extent of the cohort, and leave together."""
    table, ill = f"starred_{next(FRESH)}", ("flu", "cold", "hiv")

    def cohort(first: int, rows: int) -> dict[int, tuple[Any, ...]]:
        ages = [*[5] * (rows - 3), *(20 + 9 * i for i in range(rows - 3, rows))]
        return {first + i: (age, 1, ill[i % 3], 1) for i, age in enumerate(ages)}

    spec = spec_of(table, l=None, method="fulldomain:search=global", suppression={"limit": "3/10"})
    source = cohort(0, 20)
    found = []
    for night in (source, source | cohort(100, 12), {key: source[key] for key in range(17)} | cohort(100, 12)):
        write(shared_db, table, night)
        report = shared_db.run(spec)
        ends = Counter({})
        for row, n in seen(shared_db, table).items():
            ends[row[:2]] += n
        found.append((report.suppressed, report.lineage.left, dict(ends)))
    first, second = {(5, 191): 3}, {(5, 119): 3}
    assert found == [(3, 0, {(5, 5): 17} | first), (6, 0, {(5, 5): 26} | first | second), (3, 3, {(5, 5): 26} | second)]


@pytest.mark.thorough
def test_a_first_cohort_of_more_rows_than_a_row_group() -> None:
    """DuckDB's threads insert many rows in batches, which a table without rows from the same transaction loses."""
    with sqlanon.connect("duckdb:///:memory:", threads=2) as db:
        db.engine.execute(
            "CREATE TABLE wide AS SELECT CAST(range AS INTEGER) AS id, CAST(hash(range) % 90 AS INTEGER) AS age, "
            "CAST(range % 5 AS INTEGER) AS dose , CAST(range % 3 AS VARCHAR) AS ill, CAST(0 AS INTEGER) AS cost FROM "
            "range(130000)"
        )
        found = db.run(spec_of("wide", l=None)).lineage
        assert found is not None
        assert found.published == 130_000
        assert db.engine.fetch("SELECT COUNT(ill) FROM release.wide") == [(130_000,)]
