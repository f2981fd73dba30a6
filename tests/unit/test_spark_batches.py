"""Which statements run at the same time on Spark.

Never two of which one needs, or undoes, what the other does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.engines.base import Statement, TableRef
from sqlanon.engines.spark.batches import BackgroundStatements, is_named
from sqlanon.errors import DatabaseError, PrivacyViolation
from sqlanon.table.scratch import Scratch

TABLES = [f"`c`.`s`.`_sqlanon_0123abcd_t{i}`" for i in range(5)]


@st.composite
def batches(draw: Any) -> list[tuple[Statement, str, str | None, set[str]]]:
    """Statements with their kind, what they make or drop, and what they read."""
    made = []
    for at in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(["table", "view", "held", "drop", "other", "bound", "query", "insert"]))
        name = draw(st.sampled_from(TABLES))
        read = set(draw(st.lists(st.sampled_from(TABLES), max_size=2))) - {name}
        source = " JOIN ".join(sorted(read)) or "VALUES (1)"
        text = {
            "table": f"/* name: x */ CREATE TABLE {name} AS SELECT {at} FROM {source}",
            "view": f"-- name: x\nCREATE TEMPORARY VIEW {name} AS\nSELECT {at} FROM {source}",
            "held": f"/* name: x */ CREATE TEMPORARY TABLE {name} AS SELECT {at} FROM {source}",
            "drop": f"/* name: x */ DROP TABLE IF EXISTS {name}",
            "other": "ALTER VIEW v AS SELECT 1",
            "bound": f"CREATE TABLE {name} AS SELECT :n FROM {source}",
            "query": f"-- name: x\nSELECT {at} FROM {source}",
            "insert": "INSERT INTO t SELECT 1",
        }[kind]
        binds = {"n": 1} if kind == "bound" else {}
        reads = read if kind in ("table", "view", "held", "bound", "query") else set()
        made.append((Statement(f"x{at}", text, binds), kind, name, reads))
    return made


def run_all(batch: list[Statement]) -> list[tuple[str, str]]:
    """When each statement began and ended, in the order of time, as a session runs them."""
    log: list[tuple[str, str]] = []

    def execute(one: Statement) -> None:
        running.wait_for(one.text)
        log.append((one.name, "began"))
        time.sleep(0.0002)
        log.append((one.name, "ended"))

    running = BackgroundStatements()
    running.run(batch, execute)
    running.wait()
    assert not running.busy
    return log


@settings(max_examples=60, deadline=None)
@given(batches())
def test_no_two_depend_on_each_other(batch: list[tuple[Statement, str, str, set[str]]]) -> None:
    log = run_all([one for one, *_ in batch])
    assert len(log) == 2 * len(batch)
    for later, (one, kind, name, read) in enumerate(batch):
        for other, its_kind, its_name, its_read in batch[:later]:
            creates = its_kind in ("table", "view", "held", "bound")
            needs = (
                kind == "other"
                or its_kind in ("other", "query", "insert", "bound")  # which nobody runs in a thread
                or (kind in ("drop", "insert") and creates)  # it may read what is dropped by way of a view
                or its_name in read
                or (kind not in ("query", "insert") and name == its_name)
                or (kind in ("table", "view", "held") and name in its_read)
            )
            if needs:
                assert log.index((other.name, "ended")) < log.index((one.name, "began"))


def created(at: int) -> Statement:
    return Statement(str(at), f"CREATE TABLE {TABLES[at]} AS SELECT 1", {})


def test_what_is_apart_runs_at_the_same_time_and_the_first_error_is_raised_once() -> None:
    met = threading.Barrier(3, timeout=300)
    done = []

    def execute(one: Statement) -> None:
        met.wait()  # fails unless three are here
        if one.name != "2":
            raise ValueError(one.name)
        done.append(one.name)

    running = BackgroundStatements()
    running.run([created(at) for at in range(3)], execute)
    running.wait_for(f"SELECT 1 FROM {TABLES[2]}")
    assert done == ["2"]
    with pytest.raises(ValueError, match="0"):
        running.wait()
    running.wait()


def test_an_error_is_raised_where_the_table_is_needed_and_the_table_is_dropped_all_the_same() -> None:
    ran = []

    def execute(one: Statement) -> None:
        ran.append(one.name)
        if one.name == "0":
            raise ValueError("0")

    running = BackgroundStatements()
    second = Statement("1", f"CREATE TABLE {TABLES[1]} AS SELECT 1 FROM {TABLES[0]}", {})
    drop = Statement("drop", f"DROP TABLE IF EXISTS {TABLES[0]}", {})
    running.run([created(0), second, drop], execute)
    running.wait_for(f"SELECT 1 FROM {TABLES[2]}")
    running.wait_for(f"-- name: x\nSELECT 1 FROM {TABLES[2]}")
    with pytest.raises(ValueError, match="0"):
        running.wait_for(f"SELECT 1 FROM {TABLES[1]}")
    running.wait()
    assert ran == ["0", "drop"]


def test_statements_that_tidy_up_do_not_meet_the_errors_of_before() -> None:
    """Of two tables of a version and a scratch table that fail the first is heard of, and what is there is dropped."""
    ran = []

    def execute(one: Statement) -> None:
        running.wait_for(one.text)
        if one.text.startswith("CREATE"):
            raise DatabaseError(one.name)
        ran.append(one.name)

    running = BackgroundStatements()
    names = ["`c`.`_sqlanon`.`people_v3`", "`c`.`_sqlanon`.`people_v3_link`"]
    made = [Statement(name, f"CREATE TABLE {name} AS SELECT 1 FROM {TABLES[0]}") for name in names]
    with pytest.raises(DatabaseError, match="0"):
        running.run([created(0), created(1), *made], execute)
    running.wait_for_creations()
    running.run([Statement(name, f"DROP TABLE IF EXISTS {name}") for name in names], execute)
    assert ran == names


def test_a_drop_that_fails_is_tried_again() -> None:
    ran = []

    def execute(one: Statement) -> None:
        ran.append(one.name)
        if ran.count(one.name) == 1:
            raise DatabaseError(one.name)

    running = BackgroundStatements()
    running.run([Statement("drop", f"DROP TABLE IF EXISTS {TABLES[0]}", {})], execute)
    running.wait()
    running.run([created(1)], execute)
    with pytest.raises(DatabaseError, match="1"):
        running.wait()
    assert ran == ["drop", "drop", "1"]


def test_a_name_that_begins_with_a_space_is_compared_with_other_statements() -> None:
    assert is_named("", "CREATE TABLE `c`.`s`.` t` AS SELECT 1")


def test_tables_of_a_version_are_dropped_in_order() -> None:
    """The released rows first, so that a kill leaves no version that looks whole: a rollback asks for them alone."""
    version = [f"`c`.`_sqlanon`.`people_v3{part}`" for part in ("", "_link", "_meta")]
    drops = [Statement(str(at), f"/* name: x */ DROP TABLE IF EXISTS {name}") for at, name in enumerate(version)]
    assert run_all(drops) == [(str(at), when) for at in range(3) for when in ("began", "ended")]


def test_tables_of_readers_are_there_when_the_call_returns() -> None:
    done = []

    def execute(one: Statement) -> None:
        time.sleep(0.01)
        done.append(one.name)

    BackgroundStatements().run([Statement("rows", "CREATE TABLE `c`.`_sqlanon`.`people_v3` AS SELECT 1", {})], execute)
    assert done == ["rows"]


def test_a_table_is_loaded_after_the_drop_of_one_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the rows would be added to the table that is about to go."""
    spark = pytest.importorskip("sqlanon.engines.spark.session")
    ran = []

    def execute(one: Statement) -> None:
        time.sleep(0.01)
        ran.append(one.text)

    session: Any = object.__new__(spark.Session)
    session._gone, session._few, session._session = False, True, MagicMock()
    session._metered = SimpleNamespace(sql=ran.append)
    session._running, session.execute = BackgroundStatements(), execute
    monkeypatch.setattr(spark, "frame_of", MagicMock())
    drop = Statement("drop", f"DROP TABLE IF EXISTS {TABLES[0]}", {})
    session.execute_all([drop])
    session.load_arrays(TableRef("s", "_sqlanon_0123abcd_t0", "c"), {"n": np.arange(3)})
    assert ran[0] == drop.text
    assert ran[1].startswith(f"CREATE TABLE {TABLES[0]} AS ")


def test_no_thread_is_left_when_a_session_is_closed() -> None:
    before, done = set(threading.enumerate()), []
    running = BackgroundStatements()
    running.close()
    running.run([created(0), created(1)], lambda one: done.append(one.name))
    running.close()
    assert sorted(done) == ["0", "1"]
    assert set(threading.enumerate()) <= before


def test_the_first_error_is_heard_of_and_not_that_of_a_drop_after_it() -> None:
    """Drops run in threads, whose errors are raised before the lock is given back."""

    def execute(one: Statement) -> None:
        raise DatabaseError(one.name)

    @contextmanager
    def lock(_name: str) -> Iterator[None]:
        yield
        running.wait()

    running = BackgroundStatements()
    engine: Any = SimpleNamespace(
        temporary=False, dialect="spark", lock=lock, execute_all=lambda statements: running.run(statements, execute)
    )
    engine.target = lambda name: TableRef("_sqlanon", name.rpartition(".")[2].strip('"'), "c")
    engine.capabilities = SimpleNamespace(session_views=False)

    def fill_table(error: Exception | None) -> None:
        with Scratch(engine).beside() as scratch:
            scratch.table("stage")
            if error is not None:
                raise error

    with pytest.raises(PrivacyViolation, match="first"):
        fill_table(PrivacyViolation("first"))
    with pytest.raises(DatabaseError, match="table/drop"):
        fill_table(None)
