"""Which statements of a batch run at the same time on Spark.

Never two of which one needs, or undoes, what the other does.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.engines.base import Statement
from sqlanon.engines.spark.batches import run, split_steps

TABLES = [f"`c`.`s`.`_sqlanon_0123abcd_t{i}`" for i in range(5)]


@st.composite
def batches(draw: Any) -> list[tuple[Statement, str, str | None, set[str]]]:
    """Statements with their kind, what they make or drop, and what they read."""
    made = []
    for at in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(["table", "view", "held", "drop", "other", "bound"]))
        name, read = draw(st.sampled_from(TABLES)), set(draw(st.lists(st.sampled_from(TABLES), max_size=2)))
        source = " JOIN ".join(sorted(read - {name})) or "VALUES (1)"
        text = {
            "table": f"/* name: x */ CREATE TABLE {name} AS SELECT {at} FROM {source}",
            "view": f"-- name: x\nCREATE TEMPORARY VIEW {name} AS\nSELECT {at} FROM {source}",
            "held": f"/* name: x */ CREATE TEMPORARY TABLE {name} AS SELECT {at} FROM {source}",
            "drop": f"/* name: x */ DROP TABLE IF EXISTS {name}",
            "other": f"CREATE TABLE IF NOT EXISTS {name} (n INT)",
            "bound": f"CREATE TABLE {name} AS SELECT :n",
        }[kind]
        binds = {"n": 1} if kind == "bound" else {}
        reads = read if kind in ("table", "view", "held") else set()
        made.append((Statement(f"x{at}", text, binds), kind, name, reads))
    return made


@given(batches())
def test_no_two_depend_on_each_other(batch: list[tuple[Statement, str, str, set[str]]]) -> None:
    parts = split_steps([one for one, *_ in batch])
    place = {one.name: at for at, part in enumerate(parts) for one in part}
    assert len(place) == len(batch)
    for later, (one, kind, name, read) in enumerate(batch):
        for other, its_kind, its_name, its_read in batch[:later]:
            alone = {kind, its_kind} & {"other", "bound"}
            drops = (kind == "drop") != (its_kind == "drop")  # it may read what is dropped by way of a view
            if alone or drops or name == its_name or its_name in read or name in its_read:
                assert place[other.name] < place[one.name]


def test_what_is_apart_runs_at_the_same_time_and_the_first_error_is_raised() -> None:
    met = threading.Barrier(3, timeout=300)
    done = []

    def execute(one: Statement) -> None:
        met.wait()  # fails unless three are here
        if one.name != "2":
            raise ValueError(one.name)
        done.append(one.name)

    with pytest.raises(ValueError, match="0"):
        run([Statement(str(at), f"CREATE TABLE {TABLES[at]} AS SELECT 1", {}) for at in range(3)], execute)
    assert done == ["2"]


def test_tables_of_a_version_are_dropped_in_order() -> None:
    """The released rows first, so that a kill leaves no version that looks whole: a rollback asks for them alone."""
    version = [f"`c`.`_sqlanon`.`people_v3{part}`" for part in ("", "_link", "_meta")]
    drops = [Statement(str(at), f"/* name: x */ DROP TABLE IF EXISTS {name}") for at, name in enumerate(version)]
    scratch = [Statement(f"s{at}", f"DROP TABLE IF EXISTS {name}") for at, name in enumerate(TABLES[:2])]
    assert [[one.name for one in part] for part in split_steps(drops + scratch)] == [
        ["0"],
        ["1"],
        ["2"],
        ["s0", "s1"],
    ]
