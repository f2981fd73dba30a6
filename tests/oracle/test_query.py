"""Queries over tiny releases against every consistent source.

Bounds are sound, tight where they say so, estimates are means.
"""

from __future__ import annotations

import random
import re
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.errors import InfeasibleError, UnsupportedError
from tests.oracle import queries, sources
from tests.properties.strategies import FEW

KEYS = [
    [],
    [],
    ["d"],
    ["a"],
    ["s"],
    ["h"],
    ["a % 2"],
    ["CASE WHEN a < 2 THEN 0 ELSE 1 END", "d"],
    ["a", "s"],
    ["c > 0"],
    ["s", "h"],
    ["length(s)"],
]
KINDS = ("ranges", "suppressed", "points", "labels", "anatomy", "ranges of freeform", "labels of freeform")
ASKED = 8 if settings().max_examples >= 25 else 3
"""Questions of a release, for ``--thorough`` and by default."""
USES = {"length(s)": "s", "a % 2": "a", "CASE WHEN a < 2 THEN 0 ELSE 1 END": "a", "c > 0": "c"}


def released(db: Any, rng: random.Random, tmp_path: Path, kind: str) -> tuple[str, list[str]] | None:
    """A random tiny release: its source's name and its quasi columns; None if there is none of these rows."""
    quasi = rng.choice([["a"], ["a", "s"], ["a", "h"], ["s", "h"], ["a", "s", "h"]])
    count = rng.randint(2, 6)
    rows = queries.table(rng, count, nulls=rng.random() < 0.4)
    names = [*quasi, "d", "c"]
    places = [list(queries.TYPES).index(name) for name in names]
    name = f"t{uuid.uuid4().hex[:12]}"
    db.engine.load_rows(
        db.engine.target(name),
        [(n, queries.TYPES[n]) for n in names],
        [tuple(row[i] for i in places) for row in rows],
    )
    tree = tmp_path / "h.csv"
    tree.write_text("\n".join(";".join(line) for line in queries.TREE), encoding="utf-8")
    privacy: dict[str, Any] = (
        {"distinct_l": 2} if kind == "anatomy" else {"k": rng.randint(1, max(1, min(3, count // 2)))}
    )
    form, _, boxes = kind.partition(" of ")
    if boxes:
        privacy |= {"method": "freeform", "boxes": "own"}
    try:
        db.anonymize(
            name,
            quasi=quasi,
            sensitive="d",
            insensitive=["c"],
            accept_unique=["c", "d"],
            format=form,
            hierarchies={"h": tree} if "h" in quasi else {},
            **privacy,
        )
    except InfeasibleError:
        return None
    return name, quasi


@pytest.mark.cover
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(seed=st.integers(0, 2**32))
def test_answers_hold_for_every_consistent_source(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int
) -> None:
    check(shared_db, side_by_side, tmp_path, kind, seed, ASKED)


@pytest.mark.cover
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [134, 834], ids=["a share of a count that is always 0", "a column that is NULL alone"])
def test_answers_hold_where_they_were_wrong(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int
) -> None:
    check(shared_db, side_by_side, tmp_path, kind, seed, 4)


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "anatomy", "suppressed", "ranges of freeform"])
@FEW
@given(seed=st.integers(0, 2**32))
def test_windows_hold_for_every_consistent_source(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int
) -> None:
    check_windows(shared_db, side_by_side, tmp_path, kind, seed)


def check_windows(
    db: Any, connection: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int, asked: int = 3
) -> None:
    """A few random queries with window functions over the groups of one random release."""
    rng = random.Random(seed)
    made = enumerated(db, connection, tmp_path, kind, rng)
    if made is None:
        return
    name, quasi, rows, _, consistent = made
    for _ in range(asked):
        columns = [*quasi, *"dc"]
        where = f"WHERE {queries.predicate(rng, columns, rng.randint(1, 3))}" if rng.random() < 0.6 else ""
        keys = rng.choice([key for key in KEYS if key and all(USES.get(one, one) in columns for one in key)])
        having = rng.choice(["", "", "", "HAVING count(*) > 1", "HAVING sum(c) >= 0", "HAVING NOT max(c) < 1"])
        known = [one for one, text in queries.WINDOWS.items() if "a" in quasi or not re.search(r"\ba\b", text)]
        names = sorted(rng.sample(known, 5))
        part = keys[0] if len(keys) > 1 and rng.random() < 0.7 else ""
        texts = [queries.WINDOWS[one].replace("{k}", keys[-1]) for one in names]
        own, of_all = f"PARTITION BY {part}" if part else "", f"PARTITION BY sid{', ' if part else ''}{part}"
        asked_of_all = ", ".join(t.replace("{p}", of_all) for t in texts)
        if db.engine.dialect == "postgres":  # where a descending order begins with NULL
            asked_of_all = asked_of_all.replace(" DESC", " DESC NULLS FIRST")
        truth = sources.only(sources.outcomes(connection, asked_of_all, where, keys, having), consistent)
        named = [f"k{i}" for i in range(len(keys))]
        items = [
            f"{text} AS {short}"
            for text, short in zip([*keys, *(t.replace("{p}", own) for t in texts)], [*named, *names], strict=True)
        ]
        group = ", ".join(str(i + 1) for i in range(len(keys)))
        text = f"SELECT {', '.join(items)} FROM {name} {where} GROUP BY {group} {having}"
        try:
            answer = db.query(text)
        except UnsupportedError as error:
            if "further groups" in str(error):
                continue
            raise
        found = queries.problems(
            answer, truth, len(consistent), names, named, known=False, weighed=False, missing=False
        )
        assert found == [], (found, text, rows)


def enumerated(
    db: Any, connection: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, rng: random.Random
) -> tuple[str, list[str], list[Any], int, frozenset[int]] | None:
    """A random tiny release with sources in table ``t``, its rows, and its consistent sources.

    The fourth value is the number of sources that lie in the release's boxes.

    None: too many, or no release.
    """
    made = released(db, rng, tmp_path, kind)
    if made is None:
        return None
    name, quasi = made
    rows, facts = sources.read(db, f"release.{name}")
    own = [fact for fact in facts if fact["column_name"]]
    if kind == "anatomy":
        counted = sources.rows_of(db, f"release.{name}_sensitive")
        parts = sources.ways_of_groups(rows, counted, own, "d")
    else:
        parts = sources.ways_of(rows, own, queries.ANYTHING)
    count = sources.enumerate_sources(connection, queries.TYPES, [fact["column_name"] for fact in own], parts)
    if count is None:
        return None
    holds = sources.attaining(rows, facts, parts)
    return name, quasi, rows, count, frozenset(sid for sid in range(count) if holds(sid))


def check(db: Any, connection: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int, asked: int) -> None:
    """A few random queries over one random release."""
    rng = random.Random(seed)
    made = enumerated(db, connection, tmp_path, kind, rng)
    if made is None:
        return
    name, quasi, rows, count, consistent = made
    unsure = any(value == "some" for row in rows for key, value in row.items() if key.endswith("_null"))
    unsure |= kind.startswith("labels") and any(row[q] == "*" for row in rows for q in quasi)
    if kind.endswith("freeform"):
        # A condition that NULL decides, as coalesce(a, 0) > 2, is counted as possible for a row that is NULL in every
        # candidate: sound, and wider than need be.
        unsure |= any(value == "all" for row in rows for key, value in row.items() if key.endswith("_null"))
        unsure |= any(row[q] == "NULL" for row in rows for q in quasi if q in row)
    for _ in range(asked):
        text, truth, alone, names, keys = question(rng, connection, name, quasi, kind)
        try:
            answer = db.query(text)
        except UnsupportedError as error:  # answered where every row is known
            if "standard deviations" not in str(error):
                raise
            at = names.index("xq8")
            text = text.replace(f", {queries.OF_ROWS[names.pop(at)]} AS xq8", "")
            truth, alone = (
                {g: {sid: (*v[:at], *v[at + 1 :]) for sid, v in own.items()} for g, own in one.items()}
                for one in (truth, alone)
            )
            answer = db.query(text)
        known = kind not in ("suppressed", "points") and not unsure
        # Of format anatomy, a condition on the sensitive column together with others is counted row by row: then the
        # counts of a group say how many rows may pass, not how many must.
        where = text.partition("WHERE")[2].partition("GROUP BY")[0]
        counted = kind != "anatomy" or not re.search(r"\bd\b", where)
        # Several columns that a formula mixes, and rows of a class that exact columns divide, have bounds that are not
        # the tightest.
        counted &= len(consistent) == count
        found = queries.problems(
            answer,
            sources.only(truth, consistent),
            len(consistent),
            names,
            keys,
            known=known,
            counted=counted,
            covered=(truth if kind == "anatomy" else sources.attainable(alone, consistent), count),
        )
        assert found == [], (found, text, rows)


def question(
    rng: random.Random, connection: duckdb.DuckDBPyConnection, name: str, quasi: list[str], kind: str
) -> tuple[str, Any, Any, list[str], list[str]]:
    """A random query, what it gives in every source, and what of each row there."""
    columns = [*quasi, *"dc"]
    if "a" in quasi:  # points are compared as they are, not value by value
        columns += ["A"] if kind == "points" else ["A", "B"]
    where = f"WHERE {queries.predicate(rng, columns, rng.randint(1, 6))}" if rng.random() < 0.9 else ""
    keys = rng.choice(KEYS)
    if not all(USES.get(key, key) in [*quasi, "c", "d"] for key in keys):
        keys = []
    aggregates = queries.ANATOMY if kind == "anatomy" else queries.AGGREGATES
    rows = dict(rng.sample(sorted(queries.OF_ROWS.items()), 4))
    if kind == "anatomy":  # its groups do not say whose a value is
        rows.pop("xq8", None)
    some = random.Random(where).sample(sorted(aggregates.items()), 5)
    listed = {
        short: text
        for short, text in (dict(some) | rows).items()
        if set(re.findall(r"\b[ash]\b", text)) <= set(quasi)
        and not ("coalesce" in text and any(USES.get(key, key) == "a" for key in keys))
    }
    truth, alone = (
        sources.outcomes(connection, ", ".join(listed.values()), where, own) for own in (keys, ["part", *keys])
    )
    named = [f"k{i}" for i in range(len(keys))]
    items = [f"{key} AS {own}" for key, own in zip(keys, named, strict=True)]
    items += [f"{text} AS {short}" for short, text in listed.items()]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join(items)} FROM {name} {where}{group}", truth, alone, list(listed), named
