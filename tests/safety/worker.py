"""Runs in processes that tests kill: one release that stops where it is asked to and waits for its end."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


class StopAt:
    """A `Progress` that stops for ever at the nth beginning of a stage, and says so."""

    def __init__(self, reported: Connection, stage: str, nth: int) -> None:
        self._reported, self._stage, self._left = reported, stage, nth

    def stage(self, release: str, stage: str) -> None:
        self._left -= stage == self._stage
        if self._left == 0 and stage == self._stage:
            stop(self._reported)

    def update(self, done: int, total: int, unit: str) -> None: ...

    def note(self, message: str) -> None: ...

    def finish(self, release: str) -> None: ...


def stop(reported: Connection) -> None:
    """Say that the place is reached and wait to be killed."""
    reported.send("here")
    time.sleep(600)


def run_until(reported: Connection, url: str, arguments: dict[str, Any], stage: str, nth: int) -> None:
    """Make a release of people up to a stage, or up to a step.

    ``replace`` or ``replaced`` of the file, ``swap`` of the views.
    """
    import sqlanon

    if stage in ("replace", "replaced"):
        _stop_at_replace(reported, stage)
    if stage == "swap":
        _stop_after_swap(reported)
    with sqlanon.connect(url, progress=StopAt(reported, stage, nth), threads=1) as db:
        db.anonymize("people", **arguments)
    reported.send("done")


def run_until_call(url: str, policy: Path, nth: int) -> None:
    """Run the first release of a policy, and kill this process before the nth call of the engine or of `os.replace`."""
    import sqlanon
    from sqlanon.policy import load

    left = nth

    def counted(method: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*arguments, **options)

        return call

    with sqlanon.connect(url) as db:
        for name in ("execute", "execute_all", "fetch", "load_rows"):
            setattr(db.engine, name, counted(getattr(db.engine, name)))
        os.replace = counted(os.replace)
        db.run(load(policy).releases[0], spend=True)


def tables_until(reported: Connection, url: str, policy: Path, stage: str, nth: int) -> None:
    """Run the tables of a policy up to the nth beginning of a stage, counted over all tables."""
    import sqlanon
    from sqlanon.policy import load

    with sqlanon.connect(url, progress=StopAt(reported, stage, nth), threads=1) as db:
        db.run_tables(load(policy).releases)
    reported.send("done")


def rollback_until(reported: Connection, url: str, stage: str) -> None:
    """Roll the release of people back up to ``replace`` or ``replaced`` of its file."""
    import sqlanon

    _stop_at_replace(reported, stage)
    with sqlanon.connect(url, threads=1) as db:
        db.rollback("people")
    reported.send("done")


def unpublish_until(reported: Connection, url: str, stage: str, file: str) -> None:
    """Withdraw the release of people up to a stage.

    The stages are ``unlink`` and ``unlinked`` of its file, and ``dropped`` of a view.
    """
    import sqlanon
    from sqlanon.release.publish import in_views

    unlink, withdrawn = Path.unlink, in_views.record_withdrawal

    def stopping(path: Path, *arguments: Any, **options: Any) -> None:
        if path.name == file and stage == "unlink":
            stop(reported)
        unlink(path, *arguments, **options)
        if path.name == file:
            stop(reported)

    def before(*arguments: Any) -> None:
        if stage == "dropped":
            stop(reported)
        withdrawn(*arguments)

    Path.unlink = stopping  # type: ignore[method-assign, assignment]
    in_views.record_withdrawal = before  # type: ignore[assignment]
    with sqlanon.connect(url, threads=1) as db:
        db.unpublish("people", purge=True)
    reported.send("done")


def _stop_at_replace(reported: Connection, stage: str) -> None:
    replace = os.replace

    def stopping(source: Any, target: Any) -> None:
        if stage == "replaced":
            replace(source, target)
        stop(reported)

    os.replace = stopping  # type: ignore[assignment]


def _stop_after_swap(reported: Connection) -> None:
    from sqlanon.release.publish import new_version

    swap = new_version.swap

    def stopping(*arguments: Any) -> None:
        swap(*arguments)
        stop(reported)

    new_version.swap = stopping  # type: ignore[assignment]


def run_beside_readers(
    reported: Connection, url: str, arguments: dict[str, Any], stage: str, nth: int, query: str, path: str
) -> None:
    """As `run_until`, with four connections of this process that read all the time and write down what they see."""
    import sqlanon

    if stage == "swap":
        _stop_after_swap(reported)
    said = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with sqlanon.connect(url, progress=StopAt(reported, stage, nth), threads=1) as db:
        for _ in range(4):
            cursor = db.engine._connection.cursor()
            threading.Thread(target=_read, args=(cursor, query, said), daemon=True).start()
        db.anonymize("people", **arguments)
    reported.send("done")


def _read(cursor: Any, query: str, said: int) -> None:
    while True:
        try:
            answer = cursor.execute(query).fetchone()
        except Exception as error:  # noqa: BLE001 - any error is a finding
            answer = f"{type(error).__name__}: {error}"
        os.write(said, (json.dumps(answer) + "\n").encode())
        time.sleep(0.005)


def hold_file(reported: Connection, path: str) -> None:
    """Read a DuckDB file and keep it open."""
    import duckdb

    with duckdb.connect(path, read_only=True) as connection:
        connection.execute("SELECT 1").fetchall()
        stop(reported)


def read_file(reported: Connection, path: str, query: str, ended: Any) -> None:
    """Open a published file, read it and close it, again and again; reports every answer, or the error."""
    import duckdb

    answers = []
    while True:
        last = ended.is_set()
        try:
            with duckdb.connect(path, read_only=True) as connection:
                answers.append(connection.execute(query).fetchone())
        except duckdb.Error as error:
            answers.append(f"{type(error).__name__}: {error}")
        if last:
            break
        time.sleep(0.05)  # others need the machine as well
    reported.send(answers)


def run_on_a_full_disk(reported: Connection, url: str, file: str, csv: str, limits: list[int]) -> None:
    """Make releases where files cannot grow beyond so many bytes, then where they can; reports how each ended."""
    import resource

    import sqlanon

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    given: dict[str, Any] = {
        "quasi": "age",
        "identifiers": "id",
        "insensitive": "note",
        "accept_unique": "note",
        "k": 5,
    }

    def ended(action: Any) -> tuple[str, str]:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - any error is a finding
            return type(error).__name__, str(error)
        return "", ""

    def make() -> None:
        with sqlanon.connect(url, threads=1) as db:
            db.anonymize("people", publish_file=file, name="people", **given)

    def spill() -> None:
        with sqlanon.connect("duckdb:///:memory:", threads=1, memory=64 << 20) as db:
            db.engine.execute(
                "CREATE TABLE t AS SELECT i AS age, md5(CAST(i AS VARCHAR)) AS note FROM range(3000000) AS r(i)"
            )

    actions = (make, lambda: sqlanon.anonymize(csv, to=f"{csv}.out.csv", **given), spill)
    for limit in limits:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
        for action in actions:
            reported.send((limit, *ended(action)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    for action in actions[:2]:
        reported.send((0, *ended(action)))


def spill_until(reported: Connection, url: str) -> None:
    """Spill what does not fit into memory, and wait to be killed."""
    import sqlanon

    with sqlanon.connect(url, threads=1, memory=48 << 20) as db:
        db.engine.execute(
            "CREATE TEMP TABLE t AS SELECT i, md5(CAST(i AS VARCHAR)) AS note FROM range(2000000) AS r(i)"
        )
        stop(reported)


def run_spec_until(reported: Connection, url: str, spec: Any, stage: str, nth: int) -> None:
    """Run a policy's release up to a stage, or up to a step, as `run_until`."""
    import sqlanon

    if stage in ("replace", "replaced"):
        _stop_at_replace(reported, stage)
    if stage == "swap":
        _stop_after_swap(reported)
    with sqlanon.connect(url, progress=StopAt(reported, stage, nth), threads=1) as db:
        db.run(spec)
    reported.send("done")


def compact_until(reported: Connection, url: str, step: str) -> None:
    """Rewrite a DuckDB file up to one step.

    The step is done for ``copied``; the others are ``replace`` and ``replaced`` of the file.
    """
    import sqlanon
    from sqlanon.engines.duckdb import fresh_copy

    name = "_copy" if step == "copied" else step

    def stopping(*arguments: Any) -> None:
        if step == "copied":
            done(*arguments)
        stop(reported)

    if step in ("replace", "replaced"):
        _stop_at_replace(reported, step)
    elif step != "nowhere":
        done = getattr(fresh_copy, name)
        setattr(fresh_copy, name, stopping)
    with sqlanon.connect(url, threads=1) as db:
        if step == "nowhere":
            reported.send("begins")
        db.compact()
    reported.send("done")


def compact_on_a_full_disk(reported: Connection, url: str, limit: int) -> None:
    """Write a DuckDB file anew where files cannot grow beyond so many bytes.

    Reports how that ended, and what is read then.
    """
    import resource

    import sqlanon

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    with sqlanon.connect(url, threads=1) as db:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
        try:
            db.compact()
        except sqlanon.SqlanonError as error:
            reported.send((type(error).__name__, str(error)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        reported.send(db.engine.fetch("SELECT count(*) FROM t"))


def try_until(reported: Connection, url: str, spec: Any, command: str, nth: int) -> None:
    """Attack a trial release, or compare two, up to the nth statement that changes something.

    Reports ``here`` after it, or ``done``.
    """
    from dataclasses import replace

    import sqlanon

    with sqlanon.connect(url, threads=1) as db:
        kind, left = type(db.engine), [nth]
        execute = kind.execute

        def stopping(*arguments: Any, **options: Any) -> Any:
            found = execute(*arguments, **options)
            left[0] -= 1
            if left[0] == 0:
                stop(reported)
            return found

        kind.execute = stopping  # type: ignore[method-assign]
        if command == "compare":
            db.compare([spec, replace(spec, name="again")], seed=1)
        else:
            db.attack_with_control(spec, seed=1)
    reported.send("done")


def decide_until(reported: Connection, url: str, spec: Any, action: str, nth: int) -> None:
    """Approve the plan of a release, or revoke its approvals, up to the nth statement.

    Reports ``here`` after it, or ``done``.
    """
    import sqlanon

    with sqlanon.connect(url, threads=1) as db:
        kind, left = type(db.engine), [nth]

        def counting(own: Any) -> Any:
            def stopping(*arguments: Any, **options: Any) -> Any:
                found = own(*arguments, **options)
                left[0] -= 1
                if left[0] == 0:
                    stop(reported)
                return found

            return stopping

        for name in ("execute", "execute_all", "fetch", "look_up"):
            setattr(kind, name, counting(getattr(kind, name)))
        if action == "approve":
            db.approve(spec.name, by="Ann", until="9999-12-31", planned=spec)
        else:
            db.revoke(spec.name, by="Bob")
    reported.send("done")
