"""Locks that are tables: two sessions never hold one at once, on a catalog of names and properties."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from sqlanon.engines.spark import locks
from sqlanon.errors import DatabaseError, LockedError


class Tables:
    """The tables of a schema, as the statements of locks see them.

    Attributes:
        before: called before each statement.
        fails: statements that begin so are refused.
    """

    def __init__(self) -> None:
        self.properties: dict[str, dict[str, str]] = {}
        self.before: Callable[[str], None] = lambda _: None
        self.fails = ("-",)

    def run(self, text: str) -> list[tuple[Any, ...]]:
        self.before(text)
        if text.startswith(self.fails):
            raise DatabaseError("the catalog does not answer")
        listed = re.match(r"SHOW TABLES IN \S+ LIKE '(.*?)\*?'", text)
        if listed:
            return [("s", name, False) for name in self.properties if name.startswith(listed[1])]
        name = re.findall(r"`(\w+)`", text.partition("(")[0].partition(" SET ")[0])[-1]
        if text.startswith("DROP"):
            self.properties.pop(name, None)
            return []
        if text.startswith("CREATE") == (name in self.properties):
            raise DatabaseError("it is there, or it is missing")
        if text.startswith("SHOW"):
            return list(self.properties[name].items())
        self.properties.setdefault(name, {}).update(re.findall(r"'([\w.]+)' = '([^']*)'", text))
        return []


def test_an_answer_does_not_outlive_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder whose renewals fail asks again once its lease has ended, also within a few seconds of an answer."""
    tables, clock = Tables(), [1000.0]
    monkeypatch.setattr(locks.time, "time", lambda: clock[0])
    holder, other = (locks.Locks(tables.run, "c") for _ in range(2))
    with holder.lock("release x", wait=False):
        clock[0] += locks.LEASE - 1
        holder.check()
        tables.fails = ("SHOW",)
        holder.check()  # as of a moment ago
        tables.fails = ("-",)
        clock[0] += 2
        with other.lock("release x", wait=False), pytest.raises(LockedError, match="another one has taken over"):
            holder.check()
    holder.close()
    other.close()


@pytest.mark.parametrize(("frees", "takes"), [(i, j) for i in range(8) for j in range(i, 8)])
def test_a_lock_that_is_freed_and_taken_meanwhile_has_one_holder(frees: int, takes: int) -> None:
    """Before a statement of a session that looks for it the holder frees it; before a later one a third takes it."""
    tables = Tables()
    first, second, third = (locks.Locks(tables.run, "c") for _ in range(3))
    held, slow = first.lock("release x", wait=False), third.lock("release x", wait=False)
    held.__enter__()
    at, taken = [-1], [False]

    def meanwhile(_: str) -> None:
        at[0] += 1
        tables.before = lambda _: None
        if at[0] == frees:
            held.__exit__(None, None, None)
        if at[0] == takes:
            taken[0] = _enters(slow)
        tables.before = meanwhile

    tables.before = meanwhile
    waiting = second.lock("release x", wait=False)
    entered = _enters(waiting)
    tables.before = lambda _: None
    assert not (entered and taken[0])
    for session in (first, second, third):
        session.close()


def _enters(lock: Any) -> bool:
    try:
        lock.__enter__()
    except (LockedError, DatabaseError):  # also where its table came back between two looks
        return False
    return True
