"""Rows that a method leaves out by declaration: counted everywhere, in the bounds of queries too, and only where the policy allows."""

from __future__ import annotations

import itertools
import json
import random
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import duckdb
import numpy as np
import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.methods.base import Assignment
from sqlanon.query.refusal import Refused
from tests.declared import declare
from tests.engines import create_table, quote, read_table
from tests.oracle import queries, sources

ROWS = [(i, "abc"[i % 3], i % 2) for i in range(12)]
ALONE = (11,)
"""The code that the toy method leaves out; the others are classes of four and more, by order."""


class Leaving:
    """A toy: classes of at least four by the code of the first quasi column, and some codes in none."""

    out: ClassVar[Sequence[int]] = ALONE
    first: ClassVar[int] = 0
    declares: ClassVar[bool] = True
    asked: ClassVar[list[int]] = []

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        self.asked.append(context.most_unassigned)
        work, code = context.encoded.work, context.encoded.quasi[0].code
        rows = context.scratch.engine.fetch(
            f"SELECT rid, {code} FROM {quote(work.name)} ORDER BY {code}, rid"
        )
        kept = [rid for rid, c in rows if c not in self.out][self.first :]
        table = context.scratch.table("assign")
        classes = [min(i // 4, max(len(kept) // 4 - 1, 0)) for i in range(len(kept))]
        arrays = {"rid": np.array(kept, np.int32), "class": np.array(classes, np.int32)}
        context.scratch.engine.load_arrays(table, arrays)
        return Assignment(table, "kernel", unassigned=self.declares)


@pytest.fixture
def leaving(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Releases `ROWS` by the toy method; the source's name is new for every test."""
    declare(monkeypatch, "leaving", Leaving, suppresses="rows")
    monkeypatch.setattr(Leaving, "out", ALONE)
    monkeypatch.setattr(Leaving, "declares", True)
    name = f"leaving_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, ROWS)

    def release(**options: Any) -> Any:
        asked = {"quasi": "q", "sensitive": "s", "insensitive": "c", "accept_unique": ["c"], "k": 3, "method": "leaving",
                 "suppression": {"limit": "2/12", "rows": "left_out"}}  # fmt: skip
        return shared_db.anonymize(name, allow_weaker=True, **{**asked, **options})

    release.name = name  # type: ignore[attr-defined]
    return release


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed", "anatomy"])
def test_rows_in_are_rows_published_and_rows_left_out(shared_db: Any, leaving: Any, kind: str) -> None:
    report = leaving(format=kind, l=2, presence="disclosed" if kind == "anatomy" else None).report
    assert (report.rows, report.suppressed, report.verified) == (12, 1, True)
    assert any("1 of 12 rows" in note for note in report.notes)
    published = read_table(shared_db, ("release", leaving.name))
    assert len(published) == 11
    assert all(row.get("q", row.get("q_hi")) != 11 for row in published)
    (row,) = shared_db.releases(leaving.name)
    assert (row.rows, row.suppressed) == (12, 1)
    assert json.loads(json.dumps(report.to_dict()))["suppressed"] == 1
    audited = shared_db.audit(f"release.{leaving.name}")
    assert (audited.rows, audited.suppressed, audited.satisfied) == (11, 1, True)
    counted = {one.name: (one.asked, one.reached) for one in audited.requirements}
    assert counted["rows, with those left out"] == (12, 12)
    if kind == "anatomy":
        values = read_table(shared_db, ("release", f"{leaving.name}_sensitive"))
        assert sum(row["count"] for row in values) == 11


def test_the_method_is_told_how_many_it_may_leave_out(leaving: Any) -> None:
    for suppression, most in (
        ("1/6", 2),
        (0.24, 2),
        (0.1, 1),
    ):
        leaving(suppression={"limit": suppression, "rows": "left_out"})
        assert Leaving.asked[-1] == most


@pytest.mark.parametrize(
    ("out", "suppression", "said"),
    [
        pytest.param((11,), None, "leaves 1 of 12 rows out, and the policy allows none", id="none allowed"),
        pytest.param((9, 10, 11), "1/6", "3 of 12 rows out, and suppression allows 2", id="too many"),
        pytest.param((10, 11), 0.1, "2 of 12 rows out, and suppression allows 1", id="too large a share"),
        pytest.param(range(12), 1, "none would be published", id="all"),
    ],
)  # fmt: skip
def test_more_than_the_policy_allows_is_refused(
    shared_db: Any,
    leaving: Any,
    monkeypatch: pytest.MonkeyPatch,
    out: Sequence[int],
    suppression: Any,
    said: str,
) -> None:
    monkeypatch.setattr(Leaving, "out", out)
    given = suppression and {"limit": suppression, "rows": "left_out"}
    with pytest.raises(InfeasibleError, match=said):
        leaving(suppression=given)
    assert shared_db.releases(leaving.name) == ()


def test_which_of_equal_rows_is_left_out_does_not_follow_the_source(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The method leaves out the first of six rows that differ in an insensitive column alone; a keyed hash picks another."""
    monkeypatch.setattr(Leaving, "out", ())
    monkeypatch.setattr(Leaving, "first", 1)
    published = []
    for order in (1, -1):
        rows = [(i // 6, "abc"[i % 3], i) for i in range(12)][::order]
        shared_db.engine.execute(f"DROP TABLE {quote(leaving.name)}")
        create_table(shared_db, leaving.name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, rows)
        leaving(sensitive=(), insensitive=["s", "c"], accept_unique=["s", "c"])
        published.append({row["c"] for row in read_table(shared_db, ("release", leaving.name))})
    assert published[0] == published[1]
    assert len(published[0]) == 11


def test_rows_that_nobody_declares_are_lost(leaving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leaving, "declares", False)
    with pytest.raises(PrivacyViolation, match="of 12 rows 11 have a class"):
        leaving()


def test_refine_leaves_them_out(shared_db: Any, leaving: Any) -> None:
    report = leaving(refine=True).report
    assert (report.rows, report.suppressed) == (12, 1)
    published = read_table(shared_db, ("release", leaving.name))
    assert len(published) == 11
    assert max(row["q_hi"] for row in published) == 10


def test_a_row_more_or_less_than_said_fails_an_audit(shared_db: Any, leaving: Any) -> None:
    leaving()
    spec = shared_db.engine.relation(f"release.{leaving.name}_metadata").ref
    (entry,) = shared_db.engine.fetch(
        f"SELECT physical FROM _sqlanon.catalog WHERE release = '{leaving.name}'"
    )
    shared_db.engine.execute(f"DELETE FROM _sqlanon.\"{entry[0]}\" WHERE q_lo = 0 AND s = 'a' AND c = 0")
    audited = shared_db.audit(f"release.{spec.name.removesuffix('_metadata')}")
    assert not audited.satisfied


def test_a_row_left_out_counts_as_all_lost(leaving: Any) -> None:
    """By hand: classes of q from 0 to 3 and from 4 to 10, over a range of 11; and one row that has lost all."""
    loss = leaving().report.loss
    assert loss.ncp == pytest.approx((4 * 3 / 11 + 7 * 6 / 11 + 1) / 12)
    assert loss.gcp == pytest.approx(loss.ncp)
    assert loss.dm == 4**2 + 7**2 + 12


def test_versions_and_rollback_keep_the_number(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving()
    monkeypatch.setattr(Leaving, "out", ())
    assert leaving(suppression=None).report.suppressed == 0
    assert shared_db.query(f"SELECT count(*) AS n FROM {leaving.name}").rows[0]["n"].exact
    shared_db.rollback(leaving.name)
    cell = shared_db.query(f"SELECT count(*) AS n FROM {leaving.name}").rows[0]["n"]
    assert (cell.low, cell.high, cell.exact) == (11, 12, False)
    assert {row.version: row.suppressed for row in shared_db.releases(leaving.name)} == {1: 1, 2: 0}


# --- queries, against every source that is consistent with the release and has one more row -----------------------------

HIDDEN = {"q": [-5, 2, 6, 99, None], "s": ["a", "x", None], "c": [-9, 0, 9, None]}
"""What a row that is left out may be, as far as a reader knows; a part of it."""

AGGREGATES = {
    "n": "count(*)", "nc": "count(c)", "sc": "sum(c)", "ac": "avg(c)", "mc": "min(c)", "xc": "max(c)", "ds": "count(distinct s)",
    "nq": "count(q)", "sq": "sum(q)", "aq": "avg(q)", "mq": "min(q)", "xq": "max(q)",
}  # fmt: skip
CONDITIONS = [
    "", "WHERE q < 5", "WHERE q > 50", "WHERE q BETWEEN 2 AND 6 AND s = 'a'", "WHERE c = 0 OR q >= 8", "WHERE s = 'x'", "WHERE q IS NULL",
    "WHERE NOT (q > 3)", "WHERE c > 5",
]  # fmt: skip
KEYS = ([], ["s"], ["c"], ["q"], ["s", "c"])


@pytest.fixture(scope="module")
def enumerated() -> Iterator[duckdb.DuckDBPyConnection]:
    """Where sources are enumerated."""
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed", "anatomy"])
def test_bounds_hold_for_every_source_with_the_rows_left_out(
    shared_db: Any, leaving: Any, enumerated: duckdb.DuckDBPyConnection, kind: str
) -> None:
    """The released boxes are cut down to two values each, so that the sources can be enumerated: bounds must hold for fewer."""
    leaving(format=kind, l=2, presence="disclosed" if kind == "anatomy" else None)
    rows, facts = sources.read(shared_db, f"release.{leaving.name}")
    own = [fact for fact in facts if fact["column_name"]]
    names = [fact["column_name"] for fact in own]
    rng = random.Random(kind)
    if kind == "anatomy":
        counted = sources.rows_of(shared_db, f"release.{leaving.name}_sensitive")
        parts = sources.ways_of_groups(rows, counted, own, "s")
    else:
        parts = sources.ways_of(rows, own, {"q": HIDDEN["q"][:-1]})
    parts = [rng.sample(ways, min(len(ways), 2)) for ways in parts]
    every = list(itertools.product(*(HIDDEN[name] for name in names)))
    parts = [*parts[:8], *(ways[:1] for ways in parts[8:]), [[way] for way in rng.sample(every, 40)]]
    types = {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}
    count = sources.enumerate_sources(enumerated, types, names, parts)
    assert count
    for where, keys in rng.sample(list(itertools.product(CONDITIONS, KEYS)), 10):
        listed = dict(
            rng.sample([own for own in AGGREGATES.items() if kind != "anatomy" or own[0] != "ds"], 5)
        ) | {"n": "count(*)"}
        truth = sources.outcomes(enumerated, ", ".join(listed.values()), where, keys)
        named = [f"k{i}" for i in range(len(keys))]
        items = [f"{key} AS {short}" for key, short in zip(keys, named, strict=True)]
        items += [f"{text} AS {short}" for short, text in listed.items()]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        text = f"SELECT {', '.join(items)} FROM {leaving.name} {where}{group}"
        answer = shared_db.query(text)
        found = queries.problems(answer, truth, count, list(listed), named, known=False)
        assert found == [], text
        assert answer.left_out == 1
        assert answer.unlisted_groups == bool(keys)
        assert not any(cell.tight for row in answer.rows for cell in row.values() if hasattr(cell, "tight"))


def test_a_declared_domain_bounds_what_is_left_out(shared_db: Any, leaving: Any, tmp_path: Any) -> None:
    """The leaves of a hierarchy are in the metadata: q is from -2 to 20 for any row."""
    tree = tmp_path / "q.csv"
    tree.write_text("".join(f"{leaf};*\n" for leaf in range(-2, 21)))
    leaving(hierarchies={"q": tree}, k=11)
    (row,) = shared_db.query(
        f"SELECT sum(q) AS s, min(q) AS m, max(q) AS x, avg(q) AS a FROM {leaving.name}"
    ).rows
    assert [(row[name].low, row[name].high) for name in "smxa"] == [(-24, 240), (-2, 20), (-2, 20), (-2, 20)]
    (row,) = shared_db.query(f"SELECT sum(c) AS s, min(c) AS m, max(c) AS x FROM {leaving.name}").rows
    assert [(row[name].low, row[name].high) for name in "smx"] == [(None, None), (None, 0), (1, None)]


def test_limits_and_having_count_the_rows_left_out(shared_db: Any, leaving: Any) -> None:
    leaving()
    ask = f"SELECT s, count(*) AS n FROM {leaving.name} GROUP BY s"
    assert shared_db.query(ask).certain == (True, True, True)
    assert shared_db.query(f"{ask} ORDER BY 2 DESC LIMIT 5").certain == (False, False, False)
    assert shared_db.query(f"{ask} HAVING count(*) < 5").certain == (
        False,
        False,
        True,
    )  # 4 a, 4 b, 3 c and one more


def test_a_join_that_repeats_rows_gives_them_no_bound(shared_db: Any, leaving: Any) -> None:
    leaving()
    name = f"dim_{leaving.name}"
    create_table(shared_db, name, {"s": "TEXT", "w": "INTEGER"}, [("a", 1), ("a", 2), ("b", 3)])
    with pytest.raises(Refused, match="leaves 1 rows of its source out"):
        shared_db.query(f"SELECT count(*) AS n FROM {leaving.name} JOIN {name} USING (s)", allow_linking=True)


def test_histories_hold_what_was_published(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row that the first version leaves out arrives with the second for readers; the source has not changed."""
    shared_db.engine.execute(f"ALTER TABLE {quote(leaving.name)} ADD COLUMN id INTEGER")
    shared_db.engine.execute(f"UPDATE {quote(leaving.name)} SET id = q")
    options = {"identifiers": "id", "key": "id"}
    leaving(**options)
    monkeypatch.setattr(Leaving, "out", ())
    report = leaving(**options).report
    assert (report.data.before, report.data.after, report.data.added, report.data.removed) == (12, 12, 0, 0)
    (compared,) = report.history
    assert (compared.arrived.rows, compared.left.rows, compared.common.rows) == (1, 0, 11)
    (again,) = shared_db.history(leaving.name)
    assert (again.arrived.rows, again.common.rows) == (1, 11)


def test_links_hold_rows_that_are_left_out(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count for what changed in the source, and for nothing that readers of one release see; readers of two can subtract them."""
    shared_db.engine.execute(f"ALTER TABLE {quote(leaving.name)} ADD COLUMN id INTEGER")
    shared_db.engine.execute(f"UPDATE {quote(leaving.name)} SET id = q")
    events = {"identifiers": "id", "rows_are": "events", "k": 4}
    report = leaving(**events).report
    assert report.min_identifiers == {"id": 4}
    audited = shared_db.audit(f"release.{leaving.name}")
    assert audited.min_identifiers == {"id": 4}
    assert audited.highest_risk == 1 / 4
    shared_db.engine.execute(f"INSERT INTO {quote(leaving.name)} VALUES (3, 'a', 0, 12)")
    monkeypatch.setattr(Leaving, "out", (10, 11))
    data = leaving(**events).report.data
    assert (data.before, data.after, data.added, data.removed) == (12, 13, 1, 0)
    other = {**events, "name": f"{leaving.name}_other", "publish": f"release.{leaving.name}_other"}
    monkeypatch.setattr(Leaving, "out", ALONE)
    leaving(**other)
    together = shared_db.together(leaving.name, f"{leaving.name}_other")
    assert (together.matched, together.unmatched) == (11, 2)


def test_diversity_may_be_reached_without_the_rows_that_are_left_out(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five of eight rows have one value, so that not all of them are 2-diverse; without two of these they are."""
    rows = [(i, "a" if i in (0, 2, 4, 6, 7) else "b", i % 2) for i in range(8)]
    shared_db.engine.execute(f"DROP TABLE {quote(leaving.name)}")
    create_table(shared_db, leaving.name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, rows)
    monkeypatch.setattr(Leaving, "out", (6, 7))
    report = leaving(l=2, suppression={"limit": "2/8", "rows": "left_out"}).report
    assert (report.suppressed, report.pm) == (2, {"s": 2})
    with pytest.raises(
        InfeasibleError, match=r"no release of .* reaches l = 2 of s; the largest feasible value is 1\.6"
    ):
        leaving(l=2, suppression={"limit": "2/8"})
