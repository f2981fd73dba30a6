"""Rows published as `*`: what cannot be, what a plan says, and what refining, versions and a rollback do with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sqlanon.declared import METHODS
from sqlanon.declared.check import refuse_suppression
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.spec import SuppressionSpec
from tests.contract.starring import ROWS, TYPES, Generalizing, cells
from tests.engines import create_table


@pytest.mark.cover
@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (
            {"format": "points"},
            PolicyError,
            "format points hides no values.*ranges, labels or suppressed, or rows: left_out",
        ),
        ({"format": "anatomy", "l": 2, "k": None}, PolicyError, "format anatomy hides no values"),
        (
            {"suppression": {"limit": "3/12"}},
            InfeasibleError,
            "stars 4 of 12 rows, and suppression allows 3.*limit: 4/12, rows: starred",
        ),
        ({"suppression": None}, InfeasibleError, "stars 4 of 12 rows, and the policy allows none"),
        (
            {"suppression": {"limit": 1, "rows": "left_out"}},
            PolicyError,
            "the policy says rows: left_out, and the method",
        ),
        ({"suppression": {"limit": 1.5}}, PolicyError, "too large"),
        ({"suppression": {"limit": -1}}, PolicyError, "too small"),
        ({"suppression": {"rows": "dropped"}}, PolicyError, "starred, left_out"),
        ({"suppression": {"max_rows": 3}}, PolicyError, "limit, rows"),
        ({"method": "tree"}, PolicyError, "tree suppresses no rows.*0.0963"),
        ({"k": 5}, PrivacyViolation, "k: asked 5, reached 4"),
        ({"l": 3}, PrivacyViolation, "asked 3"),
        (
            {"suppression": None, "format": "anatomy", "l": 2, "k": None},
            PolicyError,
            "format anatomy hides no values.*ranges, labels or suppressed",
        ),
    ],
)
def test_what_cannot_be_is_refused(shared_db: Any, starring: Any, options: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        starring(**options)
    assert shared_db.releases(starring.name) == ()


@pytest.mark.parametrize("rows", ["starred", "left_out"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_that_suppress_nothing_say_why(name: str, rows: str) -> None:
    """All but three; `suppress` takes a cap on starred rows."""
    refused = refuse_suppression(METHODS[name], SuppressionSpec(Fraction(1, 20), rows))  # type: ignore[arg-type]
    if name in ("fulldomain", "koptimize") or (name, rows) == ("suppress", "starred"):
        assert refused is None
    elif name == "suppress":
        assert "leaves no row out; say rows: starred" in str(refused)
    else:
        assert f"{name} suppresses no rows: it would not help: " in str(refused)
        assert str(refused).endswith("leave suppression out, or use fulldomain")


@pytest.mark.parametrize(
    "method", ["suppress", "fulldomain:search=global", "fulldomain:search=all", "koptimize", "fulldomain"]
)
@pytest.mark.parametrize(("limit", "said"), [("-1/10", "too small"), ("3/2", "too large"), ("zqcanary", "limit")])
def test_a_limit_is_a_share(method: str, limit: str, said: str) -> None:
    from sqlanon.policy import release

    asked = {"source": "t", "quasi": "a", "k": 2, "format": "suppressed", "method": method}
    with pytest.raises(PolicyError, match=said) as refused:
        release(**asked, suppression={"limit": limit, "rows": "starred"})
    assert "canary" not in str(refused.value)


def test_maximized_privacy_takes_no_suppression(starring: Any) -> None:
    with pytest.raises(PolicyError, match="k is maximized for all rows of the source"):
        starring(k=None, maximize="k", max_loss=0.5, at_least={"k": 2})


def test_anatomy_takes_no_levels(starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(0, 0, 0)] * 3)
    with pytest.raises(PolicyError, match="this method generalizes them; use the format ranges"):
        starring(format="anatomy", l=2, k=None, suppression=None)


def test_plan_says_what_is_allowed(shared_db: Any, starring: Any) -> None:
    starring()
    from sqlanon.policy import release

    columns = {"quasi": ["q", "n"], "insensitive": ["h", "s", "c"], "k": 3, "method": "generalizing"}
    for rows, words in (("starred", "published with [*] in every"), ("left_out", "left out of")):
        spec = release(source=starring.name, **columns, suppression={"limit": 0.3, "rows": rows})
        notes = shared_db.plan(spec).notes
        assert any(
            note.startswith(f"suppression: at most 3 of 12 rows of the source are {words[:9]}") for note in notes
        )


def test_refine_leaves_starred_rows_alone(shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    report = starring(format="labels", refine=True)
    assert (report.suppressed, cells(shared_db, starring.name)[("*", "*", "*")]) == (4, 4)  # type: ignore[index]
    monkeypatch.setattr(Generalizing, "levels", [(0, 0, 0)] * 3)
    with pytest.raises(PolicyError, match="leave refine out"):
        starring(refine=True)


def test_versions_rollback_and_history_keep_the_number(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(shared_db, starring.name, TYPES | {"id": "INTEGER"}, [(*row, row[0]) for row in ROWS])
    keyed = {"identifiers": "id", "key": "id", "format": "suppressed"}
    starring(**keyed)
    monkeypatch.setattr(Generalizing, "starred", None)
    report = starring(**keyed, suppression=None)
    assert (report.suppressed, report.data.before, report.data.added, report.data.removed) == (0, 12, 0, 0)
    (compared,) = report.history
    assert (compared.common.rows, compared.arrived.rows) == (12, 0)
    shared_db.rollback(starring.name)
    assert {row.version: row.suppressed for row in shared_db.releases(starring.name)} == {1: 4, 2: 0}
    together = shared_db.audit(f"release.{starring.name}")
    assert together.suppressed == 4
    assert shared_db.query(f"SELECT count(*) AS n FROM {starring.name}").rows[0]["n"].exact
