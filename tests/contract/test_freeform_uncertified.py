"""Audit of boxes of their own where the certificate is gone: what the source refutes, and what it leaves open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.engines.base import Statement
from sqlanon.release.audit import without_certificate
from tests.contract.cases import QI, Case
from tests.contract.own_boxes import OWN, SMALL, placed, version_of
from tests.contract.samples import CORE
from tests.oracle.requirements import Privacy

LINE = Case(
    "line", {"x": "INTEGER", "s": "TEXT"}, tuple((i, f"s{i}") for i in range(5)), {"x": QI()}, ("s",), Privacy(k=2)
)


def uncertified(db: Any, case: Case, directory: Path, **options: Any) -> Any:
    """A release whose certificate is lost."""
    arguments = {**case.arguments(directory), **OWN, "sensitive": list(case.sensitive) or None, **options}
    release = db.anonymize(case.create(db), allow_weaker=True, **arguments)
    for table in version_of(db, release.report).certificate:
        db.engine.execute(Statement("test", f"DROP TABLE {placed(table)}", {}))
    return release


def change(db: Any, release: Any, statement: str) -> None:
    table = placed(version_of(db, release.report).table)
    db.engine.execute(Statement("test", statement.format(table=table), {}))


@pytest.mark.parametrize("form", ["ranges", "labels"])
@pytest.mark.parametrize(
    "case", [SMALL, *(pytest.param(case, marks=pytest.mark.thorough) for case in CORE)], ids=lambda case: case.name
)
def test_boxes_that_were_made_may_be_k_matchings_and_are_not_said_to_be(
    shared_db: Any, case: Case, form: str, tmp_path: Path
) -> None:
    """Every type, NULLs, sets, nodes, hostile names, as both formats write them."""
    found = uncertified(shared_db, case, tmp_path, format=form).audit()
    k = case.privacy.k
    assert (found.candidates, found.k, found.requirements, found.satisfied) == (True, 0, (), False)
    assert found.not_measured == (f"k, as there is no certificate: a {k}-regular graph exists, the draw is unknown",)


def test_intervals_that_each_fit_twice_are_refuted(shared_db: Any, tmp_path: Path) -> None:
    """Points 0 to 4 and the intervals [0,1], [0,1], [0,2], [0,4], [0,4]: point 2's is certain."""
    release = uncertified(shared_db, LINE, tmp_path)
    for s, high in zip("01234", (1, 1, 2, 4, 4), strict=True):
        change(shared_db, release, f"UPDATE {{table}} SET x_lo = 0, x_hi = {high} WHERE s = 's{s}'")
    found = release.audit()
    assert found.not_measured == ("k, as there is no certificate: no 2-regular graph of rows and boxes exists",)
    assert [(one.name, one.asked, one.reached, one.satisfied) for one in found.requirements] == [
        ("k, at most", 2, 1, False)
    ]
    assert (found.k, found.satisfied) == (0, False)


def test_rows_that_fit_too_few_boxes_are_refuted_by_their_degrees(shared_db: Any, tmp_path: Path) -> None:
    release = uncertified(shared_db, LINE, tmp_path)
    change(shared_db, release, "UPDATE {table} SET x_lo = 3, x_hi = 4 WHERE s <> 's0'")
    found = release.audit()
    assert "3 rows fit fewer than 2 boxes, and 0 boxes fewer than 2 rows" in found.not_measured[0]
    assert [one.reached for one in found.requirements] == [0]


def test_what_is_not_decided_is_said(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other boxes than rows, more rows than are decided, and a policy that asks for classes."""
    release = uncertified(shared_db, LINE, tmp_path)
    view = release.report.published
    found = shared_db.audit(view, spec=replace(release.spec, privacy=replace(release.spec.privacy, own_boxes=False)))
    assert found.not_measured == ("the policy asks for classes, and the release has boxes of their own",)
    monkeypatch.setattr(without_certificate, "MOST_ROWS", 4)
    assert "not decided: of more than 4 rows" in release.audit().not_measured[0]
    change(shared_db, release, "DELETE FROM {table} WHERE s = 's0'")
    assert "not decided: the source has 5 rows now, and the release 4 boxes" in release.audit().not_measured[0]
    assert not release.audit().satisfied
