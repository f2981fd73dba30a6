"""Commands that read, while another session drops what they read.

An answer of before, or one error that says what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import PolicyError, SqlanonError
from tests.refresh.conftest import release
from tests.refresh.test_rollback import nights
from tests.safety.test_locks import FILE, SERVER

READ: dict[str, Callable[[Any], object]] = {
    "history": lambda db: db.history("t"),
    "releases": lambda db: db.releases("t"),
    "audit": lambda db: db.audit("release.t", spec=release("t", key=["id"])),
    "report": lambda db: db.report("t"),
    "query": lambda db: db.query("SELECT count(*) AS n FROM t WHERE age < 30"),
    "diff": lambda db: db.diff("t@1", "t@2"),
    "evaluate": lambda db: db.evaluate("t"),
    "attack": lambda db: db.attack("t"),
}
SENT = ("fetch", "execute", "execute_all", "relation", "look_up", "exists")


class Interrupting:
    """Runs an action once, before the so-manieth call of an engine."""

    def __init__(self, patch: pytest.MonkeyPatch, engine: Any, at: int, action: Callable[[], None]) -> None:
        self._left: int | None = at
        for name in SENT:
            patch.setattr(type(engine), name, self._wrapped(engine, getattr(type(engine), name), action))

    @property
    def done(self) -> bool:
        return self._left is None

    def _wrapped(self, own: Any, method: Any, action: Callable[[], None]) -> Any:
        def called(engine: Any, *given: Any, **named: Any) -> Any:
            if engine is own and self._left is not None:
                self._left -= 1
                if self._left < 0:
                    self._left = None
                    action()
            return method(engine, *given, **named)

        return called


def purged(url: str) -> None:
    # Where it is held while it is read, nothing is dropped.
    with sqlanon.connect(url) as other, suppress(sqlanon.LockedError):
        other.unpublish("t", purge=True)


def read_meanwhile(engine: Any, folder: Path, kind: str, at: int) -> bool:
    """Whether the command ran so long that something could be dropped at this call."""
    url = engine.fresh(folder)
    try:
        with sqlanon.connect(url) as db, pytest.MonkeyPatch.context() as patch:
            nights(db, "t", (40, 50, 60), key=["id"], keep=3)
            between = Interrupting(patch, db.engine, at, lambda: purged(url))
            try:
                READ[kind](db)
            except SqlanonError as error:
                text = str(error)
                assert "\n" not in text
                clear = isinstance(error, PolicyError) or any(
                    said in text
                    for said in ("another session", "another version", "no table or view", "not there any more")
                )
                assert clear, text
                assert "--debug" not in text
            return between.done
    finally:
        engine.drop(url)


@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
@pytest.mark.parametrize(("kind", "at"), [("history", 4), ("audit", 2), ("query", 7)])
def test_dropped_between_two_reads(engine: Any, tmp_path: Path, kind: str, at: int) -> None:
    assert read_meanwhile(engine, tmp_path, kind, at)


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
@pytest.mark.parametrize("kind", READ)
def test_dropped_before_any_read(engine: Any, tmp_path: Path, kind: str) -> None:
    for at in (0, 2, 4, 6, 9, 13, 20, 30):
        folder = tmp_path / str(at)
        folder.mkdir()
        if not read_meanwhile(engine, folder, kind, at):
            return
