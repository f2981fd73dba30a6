"""Locks as tables of the private schema: to create a table whose name is there already fails, whoever tries.

A lock's table is named after the lock and a fencing number. Its properties are the holder and the time of expiry,
which the holder renews. A session that finds an expired lease, or a holder on this machine that is gone, creates the
table of the next number: of several sessions only one succeeds, and the former holder has lost the lock, which is that
of the highest number. A holder checks before it replaces a view.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlanon.engines.base import PRIVATE_SCHEMA, Row
from sqlanon.engines.spark.names import quote
from sqlanon.errors import DatabaseError, LockedError

LEASE = 120.0
"""Seconds that a lock is held without news from the holder."""
ANSWER = 5.0
"""Seconds for which the answer that all locks are held counts, while no other session can take one over."""
_WAIT = 0.5
"""Seconds between two tries of who waits."""

Run = Callable[[str], list[Row]]
"""Runs a statement and returns the rows."""


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock that this session holds."""

    name: str
    stem: str
    number: int
    token: str

    @property
    def table(self) -> str:
        """The table that is the lock."""
        return f"{self.stem}{self.number}"


class Locks:
    """The locks of a session."""

    def __init__(self, run: Run, catalog: str, lease: float = LEASE) -> None:
        """Nothing is held yet.

        Args:
            run: runs a statement.
            catalog: the catalog that has the private schema.
            lease: seconds.
        """
        self._run, self._lease = run, lease
        self._schema = f"{quote(catalog)}.{quote(PRIVATE_SCHEMA)}"
        self._held: list[HeldLock] = []
        self._checked: float | None = None
        self._until: dict[str, float] = {}
        self._guard = threading.Lock()
        self._renewing: threading.Thread | None = None
        self._stop = threading.Event()

    @contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[None]:
        lock = self._take(name)
        while lock is None:
            if not wait:
                raise LockedError(
                    f"{name} is being run by another session; try again when it is done. A run that was killed on "
                    f"another machine holds its lock for {self._lease:.0f} seconds"
                )
            time.sleep(_WAIT)
            lock = self._take(name)
        with self._guard:
            self._held.append(lock)
            self._checked = None
        self._renew()
        try:
            yield
        finally:
            with self._guard:
                self._held.remove(lock)
                self._until.pop(lock.token, None)
            with suppress(DatabaseError):  # a table that is not dropped expires
                if self._read(lock.table).get("sqlanon.holder") == lock.token:
                    self._drop(lock.table)

    def check(self) -> None:
        """Make sure that every lock of this session is still held by it.

        An answer of a few seconds ago counts, if all leases last: until they end no other session takes a lock over.

        Raises:
            LockedError: another session has taken a lock over; nothing may be published.
        """
        now, held_locks = time.time(), list(self._held)
        last = all(now < self._until.get(lock.token, 0.0) for lock in held_locks)
        if last and self._checked is not None and 0 <= now - self._checked < ANSWER:
            return
        for lock in held_locks:
            if not self._is_ours(lock):
                raise LockedError(
                    f"{lock.name}: this session was away for longer than {self._lease:.0f} seconds, and another one "
                    "has taken over; nothing was published, run again"
                )
        self._checked = now

    def close(self) -> None:
        """End the renewals."""
        self._stop.set()
        if self._renewing is not None:
            self._renewing.join(timeout=5)

    def _take(self, name: str) -> HeldLock | None:
        stem = _stem(name)
        with suppress(DatabaseError):  # mostly nobody has it, and nothing is asked before; else it is asked for now
            if lock := self._create(name, stem, 1):
                return lock
        there = self._numbers(stem)
        highest = there[-1] if there else 0
        before = self._read(f"{stem}{highest}") if highest else {}
        if self._is_alive(before):
            return None
        try:
            lock = self._create(name, stem, highest + 1)
        except DatabaseError:
            if highest + 1 in self._numbers(stem):
                return None
            raise
        if lock is None:
            return None
        if highest and self._read(f"{stem}{highest}").get("sqlanon.holder") != before.get("sqlanon.holder"):
            self._drop(lock.table)  # it was free for a moment, and another session has it now
            return None
        for number in there:
            with suppress(DatabaseError):
                self._drop(f"{stem}{number}")
        return lock

    def _create(self, name: str, stem: str, number: int) -> HeldLock | None:
        """Make the table of a number; None: there is one of a higher number, of a session that has passed this one."""
        lock, until = HeldLock(name, stem, number, secrets.token_hex(8)), time.time() + self._lease
        self._run(
            f"CREATE TABLE {self._schema}.{quote(lock.table)} (held INT) TBLPROPERTIES "
            f"({self._properties(lock, until)})"
        )
        self._until[lock.token] = until
        if self._numbers(stem)[-1] == number:
            return lock
        self._drop(lock.table)
        return None

    def _numbers(self, stem: str) -> list[int]:
        rows = self._run(f"SHOW TABLES IN {self._schema} LIKE '{stem}*'")
        names = [str(row[1]) for row in rows]
        return sorted(int(name[len(stem) :]) for name in names if name.startswith(stem))

    def _properties(self, lock: HeldLock, until: float) -> str:
        properties = {
            "holder": lock.token,
            "until": f"{until:.3f}",
            "process": _process(os.getpid()),
        }
        return ", ".join(f"'sqlanon.{key}' = '{value}'" for key, value in properties.items())

    def _read(self, table: str) -> dict[str, str]:
        try:
            rows = self._run(f"SHOW TBLPROPERTIES {self._schema}.{quote(table)}")
        except DatabaseError:
            if any(str(row[1]) == table for row in self._run(f"SHOW TABLES IN {self._schema} LIKE '{table}'")):
                raise  # a session that cannot read the holder of a lock does not take it over
            return {}
        return {str(row[0]): str(row[1]) for row in rows}

    def _is_alive(self, properties: Mapping[str, str]) -> bool:
        """Whether the holder of a lock with these properties may still be there; without any it is gone."""
        if not properties or float(properties.get("sqlanon.until", "0")) < time.time():
            return False
        process = properties.get("sqlanon.process", "")
        here, _, pid = process.rpartition(":")
        return not (here == _process(0).rpartition(":")[0] and pid.isdigit() and not _runs(int(pid)))

    def _is_ours(self, lock: HeldLock) -> bool:
        numbers = self._numbers(lock.stem)
        return (
            bool(numbers) and numbers[-1] == lock.number and self._read(lock.table).get("sqlanon.holder") == lock.token
        )

    def _drop(self, table: str) -> None:
        self._run(f"DROP TABLE IF EXISTS {self._schema}.{quote(table)}")

    def _renew(self) -> None:
        if self._renewing is None:
            self._renewing = threading.Thread(target=self._keep, name="sqlanon-lease", daemon=True)
            self._renewing.start()

    def _keep(self) -> None:
        while not self._stop.wait(self._lease / 4):
            with self._guard:
                for lock in self._held:
                    until = time.time() + self._lease
                    with suppress(DatabaseError):  # a lost lock is found by `check`
                        self._run(
                            f"ALTER TABLE {self._schema}.{quote(lock.table)} SET TBLPROPERTIES ('sqlanon.until' = "
                            f"'{until:.3f}')"
                        )
                        self._until[lock.token] = until


def _stem(name: str) -> str:
    """Stem of the names of a lock's tables.

    A scratch lock has the stem of the run's scratch tables, so that it is found after the run was killed.
    """
    run = re.fullmatch(r"scratch ([0-9a-f]{8})", name)
    return f"_sqlanon_{run[1]}_lock_" if run else f"lock_{hashlib.sha256(name.encode()).hexdigest()[:16]}_"


def _process(pid: int) -> str:
    """A process: of which boot of which machine, of which space of process ids, and the number."""
    place = "elsewhere"
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        place = f"{boot}:{Path('/proc/self/ns/pid').readlink()}"
    return f"{place}:{pid}"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
