"""Releases in another database by policies of every kind: formats, suppression, persons, models, boxes of their own."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import DatabaseError, DependentsError, PrivacyViolation
from sqlanon.release.publish import send
from sqlanon.release.verify.received_tables import verify_promises
from tests.contract.elsewhere import Pair, pair

__all__ = ["pair"]
pytestmark = [pytest.mark.duckdb, pytest.mark.postgres, pytest.mark.thorough]
BOTH = pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-duckdb"], indirect=True)

POLICIES: dict[str, dict[str, Any]] = {
    "starred rows": {"method": "suppress", "suppression": {"limit": 1.0, "rows": "starred"}},
    "rows left out": {"quasi": ["city"], "method": "suppress", "suppression": {"limit": 0.5}, "l": None},
    "sets": {"format": "labels", "quasi": ["age", "city"]},
    "points": {"format": "points"},
    "values or a star": {"format": "suppressed", "method": "suppress", "suppression": {"limit": 1, "rows": "starred"}},
    "distances of ordered values": {"t": 0.3, "ordered": {"ill": ["d0", "d1", "d2", "d3"]}, "l": None},
    "entropy": {"entropy_l": 1.5},
    "events": {"person": "id", "persons": "rows"},
    "whole persons": {"person": "id", "l": None},
    "pseudonyms": {"identifiers": None, "pseudonyms": ["id"], "rows_are": "events", "person": "id", "l": None},
    "boxes of their own": {"method": "freeform", "boxes": "own", "l": None},
}


def fill(db: Any) -> None:
    db.engine.execute("CREATE TABLE events (id integer, age integer, city text, ill text)")
    rows = ", ".join(f"({i}, {20 + i * 7 % 30}, 'c{i % 3}', 'd{i % 4}')" for i in range(60))
    db.engine.execute(f"INSERT INTO events VALUES {rows}")


def spec_of(pair: Pair, **more: Any) -> Any:
    asked: dict[str, Any] = {
        "source": "events",
        "name": "visits",
        "publish": "release.visits",
        "identifiers": "id",
        "quasi": ["age"],
        "sensitive": "ill",
        "k": 3,
        "l": 2,
        "method": "mondrian",
        "rest": "drop",
        "publish_to": pair.target,
    }
    return policy.release(**{key: value for key, value in (asked | more).items() if value is not None})


def rows_in(db: Any, view: str) -> list[str]:
    return sorted(map(str, db.engine.fetch(f"SELECT * FROM {view}")))


@BOTH
@pytest.mark.parametrize("name", POLICIES)
def test_every_kind_of_policy(pair, name):
    with sqlanon.connect(pair.source) as db:
        fill(db)
        db.run(spec_of(pair, **POLICIES[name]))
        for view in ("release.visits", "release.visits_metadata"):
            with sqlanon.connect(pair.target) as there:
                assert rows_in(there, view) == rows_in(db, view) != []
        if name == "boxes of their own":
            return  # a second version gives boxes away
        db.engine.execute("DELETE FROM events WHERE id < 3")
        db.run(spec_of(pair, **POLICIES[name]))
        db.rollback("visits")
        with sqlanon.connect(pair.target) as there:
            assert rows_in(there, "release.visits") == rows_in(db, "release.visits")


@BOTH
def test_another_view_of_the_same_release(pair):
    with sqlanon.connect(pair.source) as db:
        fill(db)
        db.run(spec_of(pair))
        if not pair.of_file:
            with sqlanon.connect(pair.target) as there:
                there.engine.execute("CREATE VIEW public.mine AS SELECT * FROM release.visits")
            with pytest.raises(DependentsError, match="mine"):
                db.run(spec_of(pair, publish="release.others"))
            with sqlanon.connect(pair.target) as there:
                assert rows_in(there, "release.visits") == rows_in(db, "release.visits")
                there.engine.execute("DROP VIEW public.mine")
        db.run(spec_of(pair, publish="release.others"))
        with sqlanon.connect(pair.target) as there:
            assert rows_in(there, "release.others") == rows_in(db, "release.others")
            assert not there.engine.exists(there.engine.target("release.visits"))
        assert len(pair.tables()) == 3


@BOTH
def test_another_place(pair, tmp_path):
    """The first place keeps its version, which a run says; without publish_to readers here get their rights back."""
    with sqlanon.connect(pair.source) as db:
        fill(db)
        db.run(spec_of(pair))
        moved = db.run(spec_of(pair, publish_to=f"duckdb:///{tmp_path}/moved.duckdb"))
        assert any("keeps version 1 and is not refreshed any more" in line for line in moved.warnings)
        back = db.run(spec_of(pair, publish_to=None))
        assert back.published == "release.visits"
        assert any("keeps version 2" in line for line in back.warnings)
        assert db.run(spec_of(pair, publish_to=None)).outcome == "unchanged"


@BOTH
def test_erased_keys_are_gone_there(pair):
    text = f"""
version: 1
releases:
  - name: visits
    source: events
    publish_to: '{pair.target}'
    key: [id]
    refresh: {{mode: frozen}}
    columns: {{id: identifier, age: quasi, ill: sensitive, city: insensitive}}
    privacy: {{k: 3}}
    method: mondrian
"""
    (spec,) = policy.loads(text, {}).releases
    with sqlanon.connect(pair.source) as db:
        fill(db)
        db.run(spec)
        db.engine.execute("DELETE FROM events WHERE id = 7")
        if not pair.of_file:  # a view of DuckDB keeps no table
            with sqlanon.connect(pair.target) as there:
                (table,) = [name for name in pair.tables() if name.startswith("sent_") and "metadata" not in name]
                there.engine.execute(f"CREATE VIEW public.copy AS SELECT * FROM _sqlanon.{table}")
                with pytest.raises(DatabaseError, match="in the other database tables of version 1 could not be"):
                    db.erase(spec, [{"id": 7}], confirmed=True)
                there.engine.execute("DROP VIEW public.copy")
        db.erase(spec, [{"id": 7}], confirmed=True)
        with sqlanon.connect(pair.target) as there:
            assert rows_in(there, "release.visits") == rows_in(db, "release.visits")
            assert 0 < len(rows_in(there, "release.visits")) < 60
        assert len(pair.tables()) == 3


def test_a_requirement_is_measured_with_its_distances(pair, monkeypatch):
    """Of a rollback they are unknown, and the requirement is not measured: the rows are those that were verified."""
    measured = []

    def watching(target: Any, copy: Any, stored: Any, settings: Any) -> None:
        measured.append(settings is not None)
        verify_promises(target, copy, stored, settings)

    monkeypatch.setattr(send, "verify_promises", watching)
    with sqlanon.connect(pair.source) as db:
        fill(db)
        asked = POLICIES["distances of ordered values"]
        db.run(spec_of(pair, **asked))
        db.run(spec_of(pair, **asked), full=True)
        db.rollback("visits")
        assert measured == [True, True, False]
        entry = send.Catalog(db.engine).entries("visits", statuses=("published",))[0]
        with sqlanon.connect(pair.target) as there:
            view = there.engine.relation("release.visits")
            stored = {**entry.policy, "privacy": {**entry.policy["privacy"], "t": "1/1000"}}
            with pytest.raises(PrivacyViolation, match="t of ill in the other place"):
                verify_promises(there.engine, view, stored, spec_of(pair, **asked).columns)
            verify_promises(there.engine, view, stored, None)
