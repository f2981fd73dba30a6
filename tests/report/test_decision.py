"""The sections of a report about context, risk, decision, variables and the trend over versions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from tests.engines import create_table
from tests.refresh.conftest import fill, release
from tests.report.pages import Read


def shown(db, table):
    return Read(db.report(table))


@pytest.fixture(scope="module")
def page(shared_db):
    fill(shared_db, "decided", 40)
    spec = replace(
        release("decided", k=4, l=None, method="tree"),
        context=ContextSpec(purpose="a study <b>", owner="A. Owner"),
        threshold=ThresholdSpec(Fraction(1, 3), "three researchers"),
        review=86400,
    )
    columns = [
        replace(column, because="ages are <known>") if column.name == "age" else column for column in spec.columns
    ]
    spec = replace(spec, columns=tuple(columns))
    shared_db.run(spec)
    shared_db.approve("decided", by="Ann", until="9999-12-31", condition="no linking")
    fill(shared_db, "decided", 60)
    shared_db.run(spec)
    return shown(shared_db, "decided")


def test_the_words_of_the_policy(page):
    assert "a study <b>" in page.text
    assert "not stated in the policy" in page.text  # the recipients
    assert "three researchers" in page.text
    assert "due for review" in page.text


def test_risk_and_threshold(page):
    (row,) = page.tables["Threshold"][1:]
    assert row[1:2] == ["33.33 % (1/3)"]
    assert row[3] == "met"
    risks = dict(page.tables["Measured risk"][1:])
    assert risks["journalist, in the population of k_map, quasi columns known"] == "not measured"
    assert risks["prosecutor, rows, quasi columns known"] == row[2]


def test_approvals(page):
    (row,) = page.tables["Approvals of this policy"][1:]
    assert (row[0], row[1], row[3], row[5]) == ("approved", "Ann", "9999-12-31", "no linking")


def test_variables(page):
    rows = {row[0]: row[1:] for row in page.tables["Variables"][1:]}
    assert rows["id"][:3] == ["identifier", "-", "left out"]
    assert rows["illness"][:3] == ["sensitive", "-", "published as it is, not protected"]
    assert rows["age"][1:3] == ["ages are <known>", "generalized to ranges of its class"]
    assert rows["age"][3].endswith(")")


@pytest.mark.every_engine
def test_a_column_that_is_published_as_it_is(shared_db):
    """By counting: 4 x 5 rows in 4 classes of one age each; every badge of a class is another one."""
    rows = [(n, 20 + n // 5, n % 5) for n in range(20)]
    create_table(shared_db, "badged", {"id": "INTEGER", "age": "INTEGER", "badge": "INTEGER"}, rows)
    asked = {"quasi": ["age"], "identifiers": ["id"], "insensitive": ["badge"], "k": 5, "method": "tree"}
    shared_db.anonymize("badged", name="badged", publish="release.badged", **asked)
    of = {row[0]: row[4:6] for row in shown(shared_db, "badged").tables["Variables"][1:]}
    # Ages alone: groups of 5, all rows alike without. Badges alone: groups of 4. Both: each row is alone.
    assert of["age"] == ["20 % (20 %)", "+15 % (+15 %)"]
    assert of["badge"] == ["25 % (25 %)", "+80 % (+80 %)"]


def test_trend(page):
    rows = page.tables["Risk and loss over the versions"][1:]
    assert [row[0] for row in rows] == ["1", "2"]


def test_an_approval_before_a_revocation_is_none(shared_db):
    fill(shared_db, "withdrawn", 40)
    kept = release("withdrawn", k=4, l=None, method="tree")
    shared_db.run(kept)
    shared_db.approve("withdrawn", by="Ann", until="9999-12-31")
    shared_db.revoke("withdrawn", by="Ann")
    other = replace(kept, privacy=replace(kept.privacy, k=5))
    shared_db.approve("withdrawn", by="Bob", until="9999-12-31", planned=other)
    rows = dict(row[:2] for row in Read(shared_db.report("withdrawn", frame="iso27559")).tables["Governance"][1:])
    assert rows["approval"] == "nobody approved this policy"
