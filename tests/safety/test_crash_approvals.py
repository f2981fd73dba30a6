"""Approvals: killed at every statement, and made by two at once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import GuardError, SqlanonError
from sqlanon.policy import load
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.people import write_people
from tests.safety.test_crash_trials import OTHERS
from tests.safety.worker import decide_until

POLICY = """
version: 1
releases:
  - name: people
    source: people
    columns: {age: quasi, sex: quasi, illness: sensitive, id: identifier}
    rest: drop
    method: tree
    privacy: {k: 3}
    publish: release.people
    refresh: {needs_approval: true}
"""
MOST = 60
"""Statements of a decision are fewer."""


@pytest.fixture
def spec(tmp_path: Path) -> Any:
    file = tmp_path / "anon.yml"
    file.write_text(POLICY)
    return load(file).releases[0]


@pytest.mark.parametrize(
    ("engine", "step"),
    [
        pytest.param(FILE, 3, id="duckdb"),
        pytest.param(FILE, 1, id="duckdb, each statement", marks=pytest.mark.thorough),
        pytest.param(SERVER, 1, id="postgres, each statement", marks=pytest.mark.thorough),
    ],
)
def test_a_decision_is_there_or_not(engine: Any, step: int, spec: Any, make_url: Any, start: Any) -> None:
    """The first one, which makes the schema and the table as well, and a revocation of it."""
    made = {"approve": 0, "revoke": 0}
    for action in made:
        nth, ended, url = step, False, make_url(engine)
        with sqlanon.connect(url) as db:
            write_people(db.engine)
            if action == "revoke":
                db.approve("people", by="Ann", until="9999-12-31", planned=spec)
        while not ended:
            assert nth < MOST
            process, pipe = start(decide_until, url, spec, action, nth)
            ended = hear(pipe) == "done"
            kill(process)
            with sqlanon.connect(url) as db:
                if engine is SERVER:
                    wait_for(lambda: db.engine.fetch(OTHERS) == [(0,)])
                listed = [one.approval.action for one in db.approvals()]
                before = [] if action == "approve" else ["approved"]
                assert listed == before + ["approved" if action == "approve" else "revoked"] * ended, nth
                if not ended and action == "approve":
                    with pytest.raises(GuardError, match="nobody approved"):
                        db.run(spec)
            made[action], nth = nth, nth + step
        with sqlanon.connect(url) as db:
            if action == "revoke":
                with pytest.raises(GuardError, match="Bob revoked"):
                    db.run(spec)
            else:
                assert db.run(spec).outcome == "published"
    assert min(made.values()) > step  # it was killed within each


@pytest.mark.parametrize("engine", [FILE, SERVER], ids=["duckdb", "postgres"])
def test_two_at_once(engine: Any, spec: Any, make_url: Any) -> None:
    """Both are kept, with numbers of their own."""
    url, barrier, errors = make_url(engine), threading.Barrier(2), []
    with sqlanon.connect(url) as db:
        write_people(db.engine)

    def approve(name: str) -> None:
        with sqlanon.connect(url) as db:
            barrier.wait()
            try:
                db.approve("people", by=name, until="9999-12-31", planned=spec)
            except SqlanonError as error:
                errors.append(error)

    both = [threading.Thread(target=approve, args=(name,)) for name in ("Ann", "Bob")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert errors == []
    with sqlanon.connect(url) as db:
        found = [one.approval for one in db.approvals()]
        assert [one.number for one in found] == [1, 2]
        assert {one.approver for one in found} == {"Ann", "Bob"}
        assert db.run(spec).outcome == "published"
