"""Releases in another database that a variable of the environment names, whose value changes between runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.release.publish import send
from sqlanon.target_url import address_of
from tests.contract.elsewhere import Pair, pair, shown, visits_spec

__all__ = ["pair"]
pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]
TARGET = "${SQLANON_TARGET}"
FORMER = rf"the database that \{TARGET} named before"


class Two:
    """A pair, and a second target: a file of DuckDB."""

    def __init__(self, pair: Pair, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.pair, self._patch = pair, patch
        self.urls = {"first": pair.target, "second": f"duckdb:///{folder}/second.duckdb"}
        self.name("first")

    def name(self, target: str) -> None:
        self._patch.setenv("SQLANON_TARGET", self.urls[target])

    def rows(self, target: str) -> Counter[str]:
        with sqlanon.connect(self.urls[target]) as db:
            return shown(db)


@pytest.fixture
def two(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Two:
    return Two(pair, tmp_path, monkeypatch)


def test_another_value_is_another_place(two):
    spec = visits_spec(TARGET)
    with sqlanon.connect(two.pair.source) as db:
        db.run(spec)
        assert db.run(spec).outcome == "unchanged"
        before = two.rows("first")
        two.name("second")
        planned = db.plan(spec)
        moved = db.run(spec)
        assert moved.outcome == "published"
        assert f"{TARGET} names another database than the one that got version 1" in str(moved.why)
        for report in (planned, moved):
            assert any("named before keeps version 1 and is not refreshed any more" in line for line in report.warnings)
        assert two.rows("second") == shown(db)
        assert two.rows("first") == before
        assert db.run(spec).outcome == "unchanged"
        with pytest.raises(PolicyError, match=rf"version 1 is in another place, {FORMER}"):
            db.rollback("visits")
        assert any(
            line.startswith("the database that") and "has version 1" in line for line in db.unpublish("visits").warnings
        )
        two.name("first")
        assert db.run(spec).outcome == "published"
        assert two.rows("first") == shown(db)


def test_a_version_is_not_withdrawn_from_a_place_that_is_not_named(two):
    with sqlanon.connect(two.pair.source) as db:
        db.run(visits_spec(TARGET))
        two.name("second")
        with pytest.raises(PolicyError, match=r"got version 1: nothing is changed; set the variable.*unpublish again"):
            db.unpublish("visits")
        audited = db.audit("release.visits", spec=visits_spec(TARGET))
        assert "names another database" in str(audited.not_measured)
        two.name("first")
        db.unpublish("visits", purge=True)
        assert two.rows("first") == Counter() == shown(db)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_before_the_value_changes(two, moment, monkeypatch):
    """Nobody is asked there any more whether readers got the version: it counts as published."""
    plain = send.Receiver.add

    def last(*asked: Any) -> None:
        if moment == "before":
            raise KeyboardInterrupt
        plain(*asked)

    def lost(*_: Any) -> None:
        raise KeyboardInterrupt

    with sqlanon.connect(two.pair.source) as db:
        with monkeypatch.context() as patched:
            patched.setattr(send.Receiver, "add", last)
            patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
            patched.setattr("sqlanon.release.publish.new_version.NewVersion.record_shown", lost)
            with pytest.raises(KeyboardInterrupt):
                db.run(visits_spec(TARGET))
        two.name("second")
        moved = db.run(visits_spec(TARGET))
        assert [row.status for row in db.releases()] == ["replaced", "published"]
        assert any("named before keeps version 1" in line for line in moved.warnings)
        assert two.rows("second") == shown(db)
    assert bool(two.rows("first")) == (moment == "after")


def test_the_catalog_has_nothing_of_the_value(two):
    with sqlanon.connect(two.pair.source) as db:
        db.run(visits_spec(TARGET))
        catalog = str(db.engine.fetch("SELECT * FROM _sqlanon.catalog"))
    assert two.urls["first"].rpartition("/")[2] not in catalog


def test_a_password_that_changes_is_no_other_place():
    """Nor is another user: the hash is of server, port and database."""
    addresses = {
        address_of(f"postgresql://{user}@Host/db{rest}", {"PGHOST": "other", "PGPORT": "5432"})
        for user in ("a", "b:1", "b:2#x", "b:p@ss?w")
        for rest in ("", "?sslmode=require")
    }
    assert addresses == {"postgresql://host:5432/db"}
    others = ["postgresql://host/other", "postgresql://host:5433/db", "postgresql://two/db", "duckdb:////db"]
    assert len({*map(address_of, others), *addresses}) == 5
    by_libpq = {address_of("postgresql:///db", {"PGHOST": host}) for host in ("host", "two")}
    assert by_libpq == {"postgresql://host:5432/db", "postgresql://two:5432/db"}
    url = "postgresql://host/"
    assert len({address_of(url, {name: v}) for name in ("PGHOSTADDR", "PGSERVICE") for v in ("10.0.0.1", "b")}) == 4


def test_a_policy_of_another_text_is_another_place(pair, monkeypatch):
    monkeypatch.setenv("SQLANON_TARGET", pair.target)
    with sqlanon.connect(pair.source) as db:
        db.run(visits_spec(TARGET))
        assert db.run(pair.spec()).outcome == "published"
        assert db.run(pair.spec()).outcome == "unchanged"
