"""A requirement that the package has never heard of, from a policy to the catalog, on both engines."""

from __future__ import annotations

import random
import uuid
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from sqlanon.declared import REQUIREMENTS
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import release, schema
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.policy_diff import list_differences
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.extend.share import DECLARED
from tests.safety.bad import tampering

SHARE = Fraction(2, 5)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension is there for a test."""
    monkeypatch.setitem(REQUIREMENTS._known, DECLARED.name, DECLARED)


def rows_of(seed: int, count: int = 90) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [(rng.randrange(12), rng.choice("pqrs"), rng.choices("abcde", [3, 2, 2, 2, 2])[0], i) for i in range(count)]


def shares(released: list[tuple[Any, ...]], classes: int) -> list[Fraction]:
    """The largest share of a value in every class, by brute force; the last column holds the value."""
    groups: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for row in released:
        groups[row[:classes]][row[-1]] += 1
    return [Fraction(max(found.values()), found.total()) for found in groups.values()]


def rows_in(db: Any, table: str) -> list[tuple[Any, ...]]:
    """The published rows; the sensitive column is the last."""
    return [tuple(map(str, row.values())) for row in read_table(db, ("release", table))]


WAYS = [
    ("tree", "kernel"),
    ("hilbert", "kernel"),
    ("hilbert", "pushdown"),
    ("idistance", "kernel"),
    ("mondrian", "kernel"),
    ("mondrian", "pushdown"),
    ("mondrian:variant=relaxed", "kernel"),
    ("mondrian:variant=relaxed", "pushdown"),
    ("mondrian:cut=median", "kernel"),
    ("mondrian:cut=median", "pushdown"),
]


@pytest.fixture
def table(shared_db: Any) -> str:
    name = f"share_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"q": "INTEGER", "w": "TEXT", "s": "TEXT", "id": "INTEGER"}, rows_of(1))
    return name


ASKED: dict[str, Any] = {"quasi": ["q", "w"], "sensitive": "s", "identifiers": "id", "k": 4}


@pytest.mark.cover("engine execution")
@pytest.mark.parametrize(("method", "execution"), WAYS)
def test_every_class_meets_it_and_both_executions_agree(
    shared_db: Any, table: str, method: str, execution: str
) -> None:
    asked = {**ASKED, "requirements": {"max_share": "2/5"}, "method": method}
    found = shared_db.anonymize(table, execution=execution, **asked)
    released = rows_in(shared_db, table)
    reached = shares(released, len(released[0]) - 1)
    one = next(item for item in found.report.requirements if item.name == "max_share")
    assert (one.column, one.asked, one.satisfied) == ("s", 0.4, True)
    assert Fraction(one.reached).limit_denominator(1000) == max(reached) <= SHARE
    assert len(reached) == found.report.classes > 1
    assert max(shares(released, 0)) < 1
    without = shared_db.anonymize(table, execution=execution, allow_weaker=True, **{**asked, "requirements": None})
    assert without.report.classes > found.report.classes
    if execution == "pushdown":
        other = shared_db.anonymize(table, execution="kernel", allow_weaker=True, **asked)
        assert sorted(map(str, rows_in(shared_db, table))) == sorted(map(str, released))
        assert other.report.loss == found.report.loss


@pytest.mark.parametrize("method", ["topdown", "hilbert_fast", "idistance_fast", "anatomy"])
def test_a_method_that_cannot_take_it_is_refused_with_what_does(shared_db: Any, table: str, method: str) -> None:
    with pytest.raises(PolicyError, match=r"use|leave"):
        shared_db.anonymize(table, **ASKED, method=method, requirements={"max_share": 0.4})


def test_a_solver_of_l_alone_does_not_take_it(shared_db: Any, table: str) -> None:
    for solver in ("optimal", "dual"):
        with pytest.raises(PolicyError, match="for l of one sensitive column and nothing else"):
            shared_db.anonymize(
                table, **ASKED, l=2, method=f"hilbert:solver={solver},minimize=max", requirements={"max_share": 0.4}
            )


@pytest.mark.thorough
def test_what_no_release_reaches_is_refused_with_what_one_does(shared_db: Any, table: str) -> None:
    whole = max(shares([(row[2],) for row in rows_of(1)], 0))
    with pytest.raises(InfeasibleError, match="least feasible value is") as refused:
        shared_db.anonymize(table, **ASKED, requirements={"max_share": 0.1})
    least = Fraction(str(refused.value).rpartition(" ")[2])
    assert 0 <= least - whole < Fraction(1, 1000)
    assert shared_db.anonymize(table, **ASKED, requirements={"max_share": least}).report.classes >= 1


def test_verify_finds_a_class_that_does_not_meet_it(
    shared_db: Any, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, "careless", tampering(), "mondrian")
    with pytest.raises(PrivacyViolation, match=r"max_share of s: asked 0.4, reached 1; [0-9]+ classes fail"):
        shared_db.anonymize(table, **{**ASKED, "k": 1}, method="careless", requirements={"max_share": "2/5"})


def test_the_catalog_the_audit_and_the_history_know_it(shared_db: Any, table: str) -> None:
    asked = {**ASKED, "key": "id", "requirements": {"max_share": "2/5"}}
    first = shared_db.anonymize(table, **asked)
    entry = Catalog(shared_db.engine).entries(table)[-1]
    assert entry.policy["privacy"]["max_share"] == "2/5"
    assert [item["name"] for item in entry.report["requirements"]] == ["k", "max_share"]
    audit = shared_db.audit(f"release.{table}", spec=first.spec)
    assert [(one.name, one.satisfied) for one in audit.requirements] == [("k", True), ("max_share", True)]
    weaker = {**asked, "requirements": {"max_share": "1/2"}}
    with pytest.raises(sqlanon.errors.GuardError, match="max_share 2/5 -> 1/2"):
        shared_db.anonymize(table, **weaker)
    shared_db.engine.execute(f"INSERT INTO {table} VALUES (3, 'p', 'a', 900), (3, 'q', 'a', 901)")
    second = shared_db.anonymize(table, **asked)
    # Two newcomers with one value are a group of their own: below k, and all of one value.
    assert second.report.history[0].arrived.failing == 2
    (reported,) = shared_db.history(table)
    assert reported.failing >= 2


def test_a_version_that_asked_for_what_is_not_installed_is_not_judged(
    shared_db: Any, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {**ASKED, "key": "id", "requirements": {"max_share": "2/5"}}
    shared_db.anonymize(table, **asked)
    shared_db.anonymize(table, **asked)
    monkeypatch.delitem(REQUIREMENTS._known, "max_share")
    with pytest.raises(PolicyError, match="requirement max_share is not installed"):
        shared_db.history(table)


def test_policies_check_it(tmp_path: Any) -> None:
    def read(value: object, **more: Any) -> Any:
        return release(source="t", quasi="q", sensitive="s", k=2, requirements={"max_share": value}, **more)

    assert read("2/5").privacy.value("max_share") == Fraction(2, 5)
    for value in ("x", "2", -1, True, [1], "1/0"):
        with pytest.raises(PolicyError, match=r"^requirements\[max_share\]: .*; a number "):
            read(value)
    with pytest.raises(PolicyError, match=r"max_share\]: no sensitive column"):
        release(source="t", quasi="q", k=2, requirements={"max_share": 0.5})
    with pytest.raises(PolicyError, match=r"max_shares\]: unknown key .did you mean max_share"):
        release(source="t", quasi="q", sensitive="s", k=2, requirements={"max_shares": 0.5})
    with pytest.raises(PolicyError, match=r"max_share\]: cannot be combined with maximize"):
        release(
            source="t",
            quasi="q",
            sensitive="s",
            maximize="k",
            max_loss=0.5,
            at_least={"k": 2},
            requirements={"max_share": 0.5},
        )
    assert "max_share" in schema()["$defs"]["PrivacyModel"]["properties"]
    file = tmp_path / "anon.yml"
    file.write_text(
        "version: 1\nreleases:\n  - name: a\n    source: t\n    columns: {q: quasi, s: sensitive}\n"
        "    privacy: {k: 2, max_share: 2/5}\n",
        encoding="utf-8",
    )
    (spec,) = sqlanon.load_policy(file).releases
    assert spec.privacy.more == {"max_share": Fraction(2, 5)}


@pytest.mark.parametrize(
    ("old", "new", "weaker"),
    [("1/2", "2/5", False), ("2/5", "1/2", True), ("2/5", None, True), (None, "2/5", False)],
)
def test_a_larger_share_is_weaker(old: str | None, new: str | None, weaker: bool) -> None:
    before, after = (
        {"name": "a", "source": "t", "columns": [], "privacy": {"k": 2, "max_share": share}} for share in (old, new)
    )
    (found,) = list_differences(before, after)
    assert (found.what, found.weaker) == ("max_share", weaker)
