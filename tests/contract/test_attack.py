"""Attacks on releases of both engines, in every format.

The expected results are those of an attacker in plain Python who reads the published rows.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.contract.attacked import (
    COLUMNS,
    FORMATS,
    check_beyond,
    check_guess,
    check_linkage,
    grouped,
    people,
    release,
    victims,
)
from tests.engines import read_table
from tests.oracle import attacks


@pytest.mark.cover("engine", "form")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("nulls", [False, True])
def test_every_format_against_a_reader(shared_db: Any, form: str, nulls: bool, tmp_path: Path) -> None:
    rows = people(7 + nulls, 24, nulls=nulls)
    name, published, _ = release(shared_db, tmp_path, rows, form)
    report = shared_db.attack(name)
    expected = attacks.linkage(form, COLUMNS, published, victims(rows))
    check_linkage(report, expected, None if form == "anatomy" else 3)
    bound = Fraction("1.2")
    by = {one.among: one for one in report.homogeneity}
    check_guess(by["class"], attacks.shares(grouped(shared_db, name, form, published)), bound)
    if form == "anatomy":
        assert set(by) == {"class"}
        assert any("promises no k" in one for one in report.not_measured)
        assert any(one.startswith("errors: ") for one in report.not_measured)
    else:
        check_guess(
            by["candidates"], attacks.candidate_shares(form, COLUMNS, published, victims(rows), "disease"), bound
        )
        assert report.not_measured == ()
    assert report.held
    assert (report.victims, report.published, report.unmatched) == (24, 24, 0)
    check_beyond(report, form, published, victims(rows), grouped(shared_db, name, form, published))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", FORMATS)
def test_random_tables_against_a_reader(shared_db: Any, form: str, seed: int, tmp_path: Path) -> None:
    rows = people(100 + seed, 10 + 9 * seed, nulls=seed % 2 == 1)
    method = ("tree", "mondrian", "hilbert")[seed % 3]
    name, published, _ = release(shared_db, tmp_path, rows, form, l="1.1", method=method)
    report = shared_db.attack(name)
    expected = attacks.linkage(form, COLUMNS, published, victims(rows))
    check_linkage(report, expected, None if form == "anatomy" else 3)
    check_guess(report.homogeneity[0], attacks.shares(grouped(shared_db, name, form, published)), Fraction("1.1"))


@pytest.mark.cover
def test_a_hand_computed_release(shared_db: Any, tmp_path: Path) -> None:
    """Classes {20, 21} f and {30, 31} m of two: one value of age leaves two candidates, sex as well.

    Both are together 1/2.
    """
    rows = [(20, "f", "a1", "flu"), (21, "f", "a1", "cold"), (30, "m", "a1", "flu"), (31, "m", "a1", "flu")]
    name, _, _ = release(shared_db, tmp_path, rows, "ranges", k=2, l=None)
    report = shared_db.attack(name)
    one, two, three = (each for each in report.linkage if not each.errors)
    assert (one.mean, one.worst_mean, one.highest, one.fewest) == (pytest.approx((0.5 + 0.5 + 0.25) / 3), 0.5, 0.5, 2)
    assert (two.mean, two.highest, three.mean, three.highest, three.promised) == (0.5, 0.5, 0.5, 0.5, 0.5)
    guess = {one.among: one for one in report.homogeneity}
    assert (guess["class"].mean, guess["class"].highest, guess["class"].promised) == (0.75, 1.0, None)
    assert (guess["candidates"].mean, guess["candidates"].highest) == (0.75, 1.0)
    assert report.held


@pytest.mark.thorough
def test_points_show_classes_only(shared_db: Any, tmp_path: Path) -> None:
    rows = people(3, 20, nulls=False)
    name, published, made = release(shared_db, tmp_path, rows, "points")
    report = shared_db.attack(name)
    (one,) = report.linkage
    sizes = [len(group) for group in grouped(shared_db, name, "points", published)]
    assert (one.known, one.fewest, one.highest) == (3, min(sizes), pytest.approx(1 / min(sizes)))
    assert one.mean == pytest.approx(len(sizes) / 20)
    assert made.min_class <= min(sizes)
    assert any("representative" in what for what in report.not_measured)
    assert any(what.startswith("errors: ") for what in report.not_measured)


def altered(db: Any, name: str, change: str) -> None:
    """Put a view of changed cells in the release's place."""
    db.engine.execute(f"CREATE TABLE release.changed_{name} AS SELECT * FROM release.{name}")
    db.engine.execute(f"UPDATE release.changed_{name} SET {change}")
    db.engine.execute(f"DROP VIEW release.{name}")
    db.engine.execute(f"CREATE VIEW release.{name} AS SELECT * FROM release.changed_{name}")


def test_an_altered_view_exceeds_both_promises(shared_db: Any, tmp_path: Path) -> None:
    """One class of four is divided into four boxes: every victim has one candidate, whose disease is certain."""
    rows = [(20, "f", "a1", "flu"), (21, "f", "a1", "cold"), (22, "f", "a1", "cough"), (23, "f", "a1", "asthma")]
    name, published, _ = release(shared_db, tmp_path, rows, "ranges", k=4, l=4, accept_unique=["disease"])
    assert shared_db.attack(name).held
    ages = "CASE disease WHEN 'flu' THEN 20 WHEN 'cold' THEN 21 WHEN 'cough' THEN 22 ELSE 23 END"
    altered(shared_db, name, f"age_lo = {ages}, age_hi = {ages}")
    report = shared_db.attack(name)
    assert not report.held
    assert (report.linkage[2].known, report.linkage[2].highest, report.linkage[2].exceeded) == (3, 1.0, True)
    assert any(what.startswith("errors") for what in report.not_measured)
    assert all(one.exceeded and one.highest == 1.0 for one in report.homogeneity)
    check_linkage(
        report, attacks.linkage("ranges", COLUMNS, read_table(shared_db, ("release", name)), victims(rows)), 4
    )
    assert len(published) == 4


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["ranges", "labels"])
def test_boxes_of_their_own(shared_db: Any, tmp_path: Path, form: str) -> None:
    rows = people(5, 21, nulls=True)
    name, published, _ = release(shared_db, tmp_path, rows, form, l=None, method="freeform", boxes="own")
    report = shared_db.attack(name)
    check_linkage(report, attacks.linkage(form, COLUMNS, published, victims(rows)), 3)
    assert {one.among for one in report.homogeneity} == {"candidates"}
    assert report.held
    assert any(what.startswith("errors: ") for what in report.not_measured)
