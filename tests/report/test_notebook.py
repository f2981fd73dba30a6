"""What notebooks show of releases and reports: the figures, escaped names, no cell value, no script."""

from __future__ import annotations

import pytest

import sqlanon
from tests.report.pages import Read

NAME = "<script>alert('x')</script>&\x1b[31m"
CANARY = "Canary<b>"


@pytest.fixture(scope="module")
def release():
    db = sqlanon.connect("duckdb:///:memory:")
    quoted = NAME.replace('"', '""')
    db.engine.execute(
        f"""CREATE TABLE t AS SELECT i AS id, i // 5 AS "{quoted}", i % 3 AS visits,
            ['{CANARY}', 'flu'][1 + i % 2] AS ill
        FROM range(60) AS r(i)"""
    )
    yield db.anonymize("t", quasi=[NAME, "visits"], sensitive="ill", identifiers="id", k=5, l=1.5, name="<i>r")
    db.close()


def page_of(value) -> Read:
    text = value._repr_html_()
    page = Read(text)
    assert {tag for tag, _ in page.elements} <= {"div", "p", "strong", "table", "tbody", "thead", "tr", "th", "td"}
    assert "<script" not in text
    assert "\x1b" not in text
    assert CANARY not in text
    assert "Canary" not in text
    return page


def test_a_release_is_its_report(release):
    page = page_of(release)
    assert release._repr_html_() == release.report._repr_html_()
    assert f"{release.report.classes} of {release.report.min_class} to {release.report.max_class} rows" in page.text
    assert "<i>r, version 1: verified" in page.text
    assert f"{release.loss().gcp:.4f}" in page.text
    assert f"{release.loss().gcp:.4f}" in page_of(release.loss()).text
    assert "<script>alert('x')</script>&\N{REPLACEMENT CHARACTER}[31m" in page.text


def test_an_audit_has_its_risks_and_requirements(release):
    audit = release.audit()
    page = page_of(audit)
    assert "k, the smallest class" in page.text
    assert str(audit.k) in page.text
    assert f"{100 * audit.highest_risk:.4g} %" in page.text
    assert page.text.count("yes") == len(audit.requirements) == 2


def test_a_requirement_that_is_missed_is_marked(release):
    audit = release._database.audit("t", quasi=[NAME, "visits"], spec=release.spec)
    text = audit._repr_html_()
    assert not audit.satisfied
    assert ">NO<" in text
    assert "color:#c0392b" in text.split(">NO<")[0]


def test_a_plan_has_its_columns(release):
    plan = release._database.plan(release.spec)
    page = page_of(plan)
    for column in plan.columns:
        assert column.role in page.text
    assert plan.change in page.text
