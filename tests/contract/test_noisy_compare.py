"""Candidates of noisy statistics: expected errors against those of a version, and against releases of rows."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.cli.commands.compare import choose_candidate
from sqlanon.errors import PolicyError
from sqlanon.evaluate.noisy_candidates import read_epsilons
from sqlanon.noisy.split import mean_distance
from sqlanon.policy import choose_noise, loads, release
from sqlanon.release.budget.ledger import Ledger
from sqlanon.report.noisy_candidates import draw_noisy_candidates
from tests.contract.noisy_releases import Made, stays

pytest.importorskip("opendp")

AGES = "{bins: [" + ", ".join(map(str, range(101))) + "]}"
TWO = {
    "tables": "[{by: [age], totals: false}, {by: [region, sex]}]",
    "groups": f"{{region: [north, south, it's, empty], sex: [F, M], age: {AGES}}}",
    "contributions": "{groups: 1, rows: 1}",
}
FEW = "{region: [north, south], sex: [F, M], age: {bins: [0, 20, 40]}}"


@pytest.mark.parametrize("scale", [0.5, 1.0, 7.25])
def test_the_mean_distance_is_that_of_the_law(scale: float) -> None:
    weights = {z: math.exp(-abs(z) / scale) for z in range(-400, 401)}
    expected = sum(abs(z) * weight for z, weight in weights.items()) / sum(weights.values())
    assert mean_distance("laplace", scale) == pytest.approx(expected, rel=1e-9)
    weights = {z: math.exp(-(z**2) / (2 * 9.0)) for z in range(-400, 401)}
    expected = sum(abs(z) * weight for z, weight in weights.items()) / sum(weights.values())
    assert mean_distance("gaussian", 3.0) == pytest.approx(expected, rel=1e-2)


@pytest.mark.thorough
@pytest.mark.every_engine
def test_expected_errors_are_those_of_a_version(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("compare", 40, 1), **TWO)
    report = shared_db.compare_noisy(made.spec, [Fraction(1, 2), Fraction(1)], alone=True)
    assert made.budget not in Ledger(shared_db.engine).read()  # nothing is charged
    names = ("age", "region, sex")
    assert report.tables == names
    assert report.groups == (100, 8)
    asked = [(one.epsilon, one.tables) for one in report.candidates]
    assert asked == list(itertools.product([0.5, 1.0], [names, names[:1], names[1:]]))
    for one in report.candidates:
        assert 0 < one.cost <= one.epsilon
        assert one.versions >= 3 // one.epsilon  # the budget has 3
    half, _, _, whole, first, second = report.candidates
    assert half.errors[0] > whole.errors[0] > first.errors[0]  # type: ignore[operator]
    assert (first.errors[1], second.errors[0]) == (None, None)
    made.run()
    found = shared_db.evaluate(made.name)
    for family, expected in zip(found.families, whole.errors, strict=True):
        if family.errors.cells == 100:  # so many that chance moves the mean by less than that, but once in 10^8
            assert family.errors.absolute.mean == pytest.approx(expected, rel=0.45)


@pytest.mark.thorough
def test_releases_of_rows_are_asked_the_same(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("beside", 60, 1), **{**TWO, "groups": FEW})
    shared_db.anonymize(
        made.source,
        name=f"rows {made.source}",
        publish=f"release.r_{made.source}",
        quasi=["region", "sex", "age"],
        identifiers="pid",
        rest="drop",
        k=3,
        effort="fast",
    )
    made.run()
    (beside,) = shared_db.compare_noisy(made.spec).beside
    (evaluated,) = shared_db.evaluate(made.name).beside
    assert beside.release == evaluated.release == f"rows {made.source}"
    assert list(beside.errors) == [family.errors.absolute.mean for family in evaluated.families]
    assert max(beside.errors) > 0


def test_pairs_that_are_not_chosen_yet_are_one_line(shared_db: Any, tmp_path: Path) -> None:
    asked = {**TWO, "tables": "[{by: [region]}]", "groups": FEW, "more": "rows: sex"}
    made = Made(shared_db, tmp_path, stays("pairs", 9), **asked)
    report = shared_db.compare_noisy(made.spec)
    assert report.tables == ("region", "1 chosen pairs, each with sex")
    (one,) = report.candidates
    assert [error > 0 for error in one.errors] == [True, True]


@pytest.mark.thorough
def test_what_cannot_be_made_has_a_reason(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("refused", 9), **TWO)
    above, small = shared_db.compare_noisy(made.spec, [Fraction(5), Fraction(1, 10**15)]).candidates
    assert "more than the budget" in above.refused
    assert "too small" in small.refused
    with pytest.raises(PolicyError, match="more than 60"):
        shared_db.compare_noisy(made.spec, [Fraction(1, one) for one in range(1, 63)])
    made.write(**{**TWO, "measures": "{people: persons}"})
    with pytest.raises(PolicyError, match="no measure counts rows"):
        shared_db.compare_noisy(made.spec)


def test_a_release_of_rows_has_no_epsilon(shared_db: Any) -> None:
    with pytest.raises(PolicyError, match="about noisy statistics"):
        shared_db.compare_noisy(release(source="people", quasi="age", k=3))


@pytest.mark.parametrize("text", ["0", "-1", "101", "1/2", "nan", "x", ""])
def test_what_is_no_epsilon_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="--epsilon"):
        read_epsilons([text])


def test_a_candidate_is_written_as_a_policy(tmp_path: Path) -> None:
    made = Made.__new__(Made)
    made.folder, made.file, made.source = tmp_path, tmp_path / "anon.yml", "stays"
    made.name, made.view, made.budget = "noisy", "v_stays", "persons"
    made.write(**TWO)
    (spec,) = loads(choose_noise(made.file, "noisy", 0.25, None), {}).releases
    assert spec.noisy is not None
    assert made.spec.noisy == replace(spec.noisy, epsilon=made.spec.noisy.epsilon)  # type: ignore[union-attr]
    assert spec.noisy.epsilon == Fraction(1, 4)
    (alone,) = loads(choose_noise(made.file, "noisy", 2.0, [0]), {}).releases
    assert alone.noisy is not None
    assert (alone.noisy.epsilon, [one.name for one in alone.noisy.tables]) == (2, ["age"])
    assert [column.name for column in alone.columns if column.role == "quasi"] == ["age"]
    with pytest.raises(PolicyError, match="synthetic rows are drawn of all their tables"):
        choose_noise(made.file, "noisy", 2.0, [2])


@pytest.mark.every_engine
def test_a_comparison_writes_its_page_and_a_policy(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("written", 9), **TWO)
    report = shared_db.compare_noisy(made.spec, [Fraction(1, 2), Fraction(5)], alone=True)
    page = draw_noisy_candidates(report)
    assert "not possible: more than the budget" in page
    assert "region, sex" in page
    text = choose_candidate(made.file, report, 3)
    (spec,) = loads(text, {}).releases
    assert spec.noisy is not None
    assert [one.name for one in spec.noisy.tables] == [report.candidates[2].tables[0]]
    for number, why in ((0, "from 1 to 6"), (7, "from 1 to 6"), (4, "not possible, nothing is written")):
        with pytest.raises(PolicyError, match=why):
            choose_candidate(made.file, report, number)
