"""Suppressed rows that are published as `*`, and classes at levels that a method decides: what is published, counted and answered."""

from __future__ import annotations

import itertools
import json
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
import pytest

from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.methods.base import Assignment
from tests.declared import declare
from tests.engines import create_table, quote, read_table
from tests.oracle import queries, sources

TYPES = {"q": "INTEGER", "h": "TEXT", "n": "TEXT", "s": "TEXT", "c": "INTEGER"}
TREE = (("a", "X"), ("b", "X"), ("d", "Y"), ("e", "Y"), ("f", "Z"))
"""Leaves and parents; Z has one leaf."""
ROWS = [(i, "abdedeafabdf"[i], "uuuuvvwwuvwx"[i], "klm"[i % 3], i % 2) for i in range(12)]
"""Class 0 has the first four rows, and so on."""


class Generalizing:
    """A toy: the classes are those of the first code divided by four; what is starred and which levels are asked, tests say."""

    starred: ClassVar[int | None] = 2
    levels: ClassVar[Sequence[tuple[int | None, ...]] | None] = None
    size: ClassVar[int] = 4

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        scratch, encoded = context.scratch, context.encoded
        code = encoded.quasi[0].code
        rows = scratch.engine.fetch(
            f"SELECT rid, {code} FROM {quote(encoded.work.name)} ORDER BY {code}, rid"
        )
        table, levels = scratch.table("assign"), None
        arrays = {"rid": np.array([rid for rid, _ in rows], np.int32)}
        scratch.engine.load_arrays(
            table, arrays | {"class": np.arange(len(rows), dtype=np.int32) // self.size}
        )
        if self.levels is not None:
            levels = scratch.table("levels")
            columns = [("class", "INTEGER"), *((domain.code, "SMALLINT") for domain in encoded.quasi)]
            scratch.engine.load_rows(levels, columns, ((i, *own) for i, own in enumerate(self.levels)))
        return Assignment(table, "kernel", starred=self.starred, levels=levels)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The hierarchy file of column h."""
    path = tmp_path / "h.csv"
    path.write_text("".join(f"{leaf};{parent};*\n" for leaf, parent in TREE))
    return path


Release = Callable[..., Any]


@pytest.fixture
def starring(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tree: Path) -> Release:
    """Releases `ROWS`, or rows of the same columns, by the toy method; the source's name is new for every test."""
    declare(monkeypatch, "generalizing", Generalizing, suppresses="rows")
    name = f"starring_{uuid.uuid4().hex[:10]}"

    def release(rows: Sequence[tuple[Any, ...]] = ROWS, **options: Any) -> Any:
        if not shared_db.engine.exists(shared_db.engine.target(name)):
            create_table(shared_db, name, TYPES, rows)
        asked = {
            "quasi": ["q", "h", "n"], "sensitive": "s", "insensitive": "c", "accept_unique": ["c"], "k": 3, "method": "generalizing",
            "hierarchies": {"h": tree}, "suppression": {"limit": "4/12"},
        }  # fmt: skip
        made = shared_db.anonymize(name, allow_weaker=True, **{**asked, **options})
        return made.report

    release.name = name  # type: ignore[attr-defined]
    return release


def cells(db: Any, name: str) -> dict[int, tuple[Any, ...]]:
    """What is published of each class: rows in the order of the source, which c and s fix within a class."""
    rows = read_table(db, ("release", name))
    found: dict[Any, int] = {}
    for row in rows:
        own = tuple(tuple(v) if isinstance(v, list) else v for key, v in row.items() if key not in "sc")
        found[own] = found.get(own, 0) + 1
    return found  # type: ignore[return-value]


PUBLISHED = {
    # q 0-3, leaves a b d e, all u; q 4-7, leaves d e a f, v v w w; starred: q 8-11
    "labels": {("[0, 3]", "*", "u"): 4, ("[4, 7]", "*", "{v, w}"): 4, ("*", "*", "*"): 4},
    "suppressed": {(None, None, "u"): 4, (None, None, None): 8},
    "ranges": {
        (0, 3, "*", ("u",)): 4, (4, 7, "*", ("v", "w")): 4, (0, 11, "*", ("u", "v", "w", "x")): 4,
    },
}  # fmt: skip


@pytest.mark.cover
@pytest.mark.parametrize("kind", list(PUBLISHED))
def test_a_starred_class_publishes_no_quasi_value(shared_db: Any, starring: Any, kind: str) -> None:
    report = starring(format=kind, k=3, l=2)
    assert cells(shared_db, starring.name) == PUBLISHED[kind]
    assert (report.rows, report.suppressed, report.left_out, report.verified) == (12, 4, 0, True)
    assert "4 of 12 rows of the source are published with * in every quasi column" in report.notes
    assert json.loads(json.dumps(report.to_dict()))["suppressed"] == 4
    (row,) = shared_db.releases(starring.name)
    assert (row.rows, row.suppressed) == (12, 4)
    audited = shared_db.audit(f"release.{starring.name}")
    assert (audited.rows, audited.suppressed, audited.missing, audited.satisfied) == (12, 4, 0, True)
    assert audited.k == 4


LEVELS = {
    # a class without a row in the table of levels, and a NULL level, have their least nodes
    "some": [(None, 1, 1), (1, None, None)],
    "levels": [(1, 2, 0), (1, 2, 1), (1, 2, 1)],
}


@pytest.mark.cover
@pytest.mark.parametrize(
    ("kind", "published"),
    [
        ("labels", {("*", "*", "u"): 4, ("*", "*", "*"): 8}),
        ("suppressed", {(None, None, "u"): 4, (None, None, None): 8}),
        ("ranges", {(0, 11, "*", ("u",)): 4, (0, 11, "*", ("u", "v", "w", "x")): 8}),
        ("points", {(1, "a", "u"): 4, (5, "a", "v"): 4, (9, "a", "u"): 4}),
    ],
)
def test_columns_without_hierarchy_have_the_value_or_any(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, published: Any
) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(1, 2, 0), (1, 2, 1), (1, 2, 1)])
    report = starring(format=kind, suppression={"limit": 0, "rows": "left_out"})
    assert cells(shared_db, starring.name) == published
    assert report.suppressed == 0


SPREAD = [(i, leaf, "u", "klm"[i % 3], i % 2) for i, leaf in enumerate("aabbddddffffffff")]


@pytest.mark.cover
@pytest.mark.parametrize(
    ("levels", "published", "loss"),
    [
        # One level a column: the label of that level, also where the class has one leaf, or its node covers one.
        ([1, 1, 1, 1], {"X": 4, "Y": 4, "Z": 8}, (4 * 1 / 4 + 4 * 1 / 4) / 16),
        ([0, 0, 0, 0], None, None),  # a and b are not one value
        ([1, 0, 0, 1], {"X": 4, "d": 4, "f": 4, "Z": 4}, (4 * 1 / 4) / 16),
        ([2, 2, 2, 2], {"*": 16}, 1),
        ([None, 1, 0, None], {"X": 4, "Y": 4, "f": 8}, (4 * 1 / 4 + 4 * 1 / 4) / 16),
    ],
)
@pytest.mark.parametrize("kind", ["labels", "ranges"])
def test_a_hierarchy_column_publishes_the_node_at_the_level(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, levels: Any, published: Any, loss: Any
) -> None:  # fmt: skip
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(None, level, None) for level in levels])
    if published is None:
        with pytest.raises(PrivacyViolation, match="2 rows are not covered"):
            starring(SPREAD, format=kind)
        assert shared_db.releases(starring.name) == ()
        return
    report = starring(SPREAD, format=kind)
    found: dict[str, int] = {}
    for row in read_table(shared_db, ("release", starring.name)):
        found[row["h"]] = found.get(row["h"], 0) + 1
    assert found == published
    assert report.loss.columns["h"]["lm"] == pytest.approx(loss)


def test_levels_of_a_column_with_nulls(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NULL is a value of its own below the root, and part of it at the root: any value or NULL."""
    rows = [(i, leaf, n, "klm"[i % 3], 0) for i, (leaf, n) in enumerate(zip(
        [None, None, None, None, "a", "b", "b", "b", "d", "d", "d", "d", None, "a", "d", "d"],
        [None, None, None, None, "u", "u", "u", "u", "v", "v", "v", "v", "u", "u", None, "w"], strict=True))]  # fmt: skip
    for kind, starred, expected in (
        ("ranges", None, {(None, "all", None, "all"), ("X", "none", None, "some"), (None, "some", None, "some")}),
        ("suppressed", 3, {(None, False, None, False), (None, True, None, True)}),
        ("labels", 3, {("NULL", "NULL"), ("X", "*"), ("*", "*")}),
    ):  # fmt: skip
        monkeypatch.setattr(Generalizing, "starred", starred)
        monkeypatch.setattr(
            Generalizing, "levels", [(None, 1, 0), (None, 1, 1), (None, 2, 1), (None, None, None)]
        )
        starring(rows, format=kind, quasi=["q", "h", "n"])
        names = [name for name in read_table(shared_db, ("release", starring.name))[0] if name[0] in "hn"]
        found = {
            tuple(row[name] for name in names) for row in read_table(shared_db, ("release", starring.name))
        }
        assert found == expected


def test_starred_rows_have_lost_everything(starring: Any) -> None:
    """By hand. The classes of four cover q 3/11 each; of h five leaves; of n one value and two of four; four rows are starred."""
    loss = starring(format="labels").loss
    assert loss.columns["q"]["ncp"] == pytest.approx((4 * 3 / 11 * 2 + 4) / 12)
    assert loss.columns["h"]["ncp"] == pytest.approx(1)
    assert loss.columns["n"]["ncp"] == pytest.approx((4 * 0 + 4 * 2 / 4 + 4) / 12)
    assert loss.columns["n"]["lm"] == pytest.approx((4 * 0 + 4 * 1 / 3 + 4) / 12)
    assert loss.dm == 4**2 + 4**2 + 4 * 12
    assert loss.cm == pytest.approx((2 + 2 + 4) / 12)  # k l m k, l m k l
    assert (loss.il_inf, loss.stars) == (pytest.approx(1), None)


def test_a_constant_column_of_starred_rows_is_lost_too(starring: Any) -> None:
    rows = [(i, "a", "u", "klm"[i % 3], i % 2) for i in range(12)]
    loss = starring(rows, format="suppressed").loss
    assert [loss.columns[name]["hidden"] for name in "qhn"] == pytest.approx([1, 4 / 12, 4 / 12])
    assert (loss.stars, loss.starred_rows, loss.hidden_rows) == (12 + 4 + 4, 12, 4)


def test_the_loss_of_suppressed_is_what_is_hidden(starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    report = starring(format="suppressed")
    assert {name: lost["hidden"] for name, lost in report.loss.columns.items()} == pytest.approx(
        {"q": 1, "h": 1, "n": 8 / 12}
    )
    assert [lost["ncp"] for lost in report.loss.columns.values()] == pytest.approx([1, 1, 8 / 12])
    assert (report.loss.stars, report.loss.starred_rows, report.loss.hidden_rows) == (12 + 12 + 8, 12, 8)
    assert report.loss.gcp == pytest.approx(32 / 36)


def test_groups_that_look_starred_count_their_own_rows(starring: Any) -> None:
    """In format suppressed the second class hides all as well: its rows look like eight, the starred ones cost twelve."""
    assert starring(format="suppressed").loss.dm == 4**2 + 4 * 8 + 4 * 12


def test_a_set_of_many_values_is_starred(shared_db: Any, starring: Any) -> None:
    """Sets of more than 62 values are found by their class."""
    rows = [(i, "a", f"v{i:02}", "klm"[i % 3], 0) for i in range(72)]
    starring(rows, format="labels", suppression={"limit": "4/72"})
    found = cells(shared_db, starring.name)
    assert found[("*", "*", "*")] == 4  # type: ignore[index]
    assert found[("[0, 3]", "a", "{v00, v01, v02, v03}")] == 4  # type: ignore[index]
    starring(rows, format="ranges", suppression={"limit": "4/72"})
    assert (0, 71, "*", tuple(f"v{i:02}" for i in range(72))) in cells(shared_db, starring.name)


def test_means_of_starred_rows_are_hidden(shared_db: Any, starring: Any) -> None:
    rows = [*ROWS, *((i, "a", "u", "klm"[i % 3], 0) for i in range(12, 20))]
    Generalizing.size = 5
    try:
        starring(rows, mean="q", k=5, suppression={"limit": "5/20"})
    finally:
        Generalizing.size = 4
    means = {(row["q_lo"], row["q_mean"]) for row in read_table(shared_db, ("release", starring.name))}
    assert means == {(0, None), (0, 2), (5, 7), (15, 17)}
    (row,) = shared_db.query(f"SELECT sum(q) AS s FROM {starring.name}").rows
    assert row["s"].low <= sum(range(20)) <= row["s"].high


@pytest.mark.cover
@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"format": "points"}, PolicyError, "format points hides no values.*ranges, labels or suppressed, or rows: left_out"),
        ({"format": "anatomy", "l": 2, "k": None}, PolicyError, "format anatomy hides no values"),
        ({"suppression": {"limit": "3/12"}}, InfeasibleError, "stars 4 of 12 rows, and suppression allows 3.*limit: 4/12, rows: starred"),
        ({"suppression": None}, InfeasibleError, "stars 4 of 12 rows, and the policy allows none"),
        ({"suppression": {"limit": 1, "rows": "left_out"}}, PolicyError, "the policy says rows: left_out, and the method"),
        ({"suppression": {"limit": 1.5}}, PolicyError, "too large"),
        ({"suppression": {"limit": -1}}, PolicyError, "too small"),
        ({"suppression": {"rows": "dropped"}}, PolicyError, "starred, left_out"),
        ({"suppression": {"max_rows": 3}}, PolicyError, "limit, rows"),
        ({"method": "tree"}, PolicyError, "tree suppresses no rows.*0.0963"),
        ({"k": 5}, PrivacyViolation, "k: asked 5, reached 4"),
        ({"l": 3}, PrivacyViolation, "asked 3"),
        ({"suppression": None, "format": "anatomy", "l": 2, "k": None}, PolicyError, "format anatomy hides no values.*ranges, labels or suppressed"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    shared_db: Any, starring: Any, options: Any, error: Any, said: str
) -> None:
    with pytest.raises(error, match=said):
        starring(**options)
    assert shared_db.releases(starring.name) == ()


def test_maximized_privacy_takes_no_suppression(starring: Any) -> None:
    with pytest.raises(PolicyError, match="k is maximized for all rows of the source"):
        starring(k=None, maximize="k", max_loss=0.5, at_least={"k": 2})


def test_anatomy_takes_no_levels(starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(0, 0, 0)] * 3)
    with pytest.raises(PolicyError, match="this method generalizes them; use the format ranges"):
        starring(format="anatomy", l=2, k=None, suppression=None)


def test_plan_says_what_is_allowed(shared_db: Any, starring: Any) -> None:
    starring()
    from sqlanon.policy import release

    columns = {"quasi": ["q", "n"], "insensitive": ["h", "s", "c"], "k": 3, "method": "generalizing"}
    for rows, words in (("starred", "published with [*] in every"), ("left_out", "left out of")):
        spec = release(source=starring.name, **columns, suppression={"limit": 0.3, "rows": rows})
        notes = shared_db.plan(spec).notes
        assert any(
            note.startswith(f"suppression: at most 3 of 12 rows of the source are {words[:9]}")
            for note in notes
        )


def test_refine_leaves_starred_rows_alone(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = starring(format="labels", refine=True)
    assert (report.suppressed, cells(shared_db, starring.name)[("*", "*", "*")]) == (4, 4)  # type: ignore[index]
    monkeypatch.setattr(Generalizing, "levels", [(0, 0, 0)] * 3)
    with pytest.raises(PolicyError, match="leave refine out"):
        starring(refine=True)


def test_versions_rollback_and_history_keep_the_number(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(shared_db, starring.name, TYPES | {"id": "INTEGER"}, [(*row, row[0]) for row in ROWS])
    keyed = {"identifiers": "id", "key": "id", "format": "suppressed"}
    starring(**keyed)
    monkeypatch.setattr(Generalizing, "starred", None)
    report = starring(**keyed, suppression=None)
    assert (report.suppressed, report.data.before, report.data.added, report.data.removed) == (0, 12, 0, 0)
    (compared,) = report.history
    assert (compared.common.rows, compared.arrived.rows) == (12, 0)
    shared_db.rollback(starring.name)
    assert {row.version: row.suppressed for row in shared_db.releases(starring.name)} == {1: 4, 2: 0}
    together = shared_db.audit(f"release.{starring.name}")
    assert together.suppressed == 4
    assert shared_db.query(f"SELECT count(*) AS n FROM {starring.name}").rows[0]["n"].exact


# --- queries, against every source that is consistent with the release ---------------------------------------------------

ANYTHING = {"q": [-1, 1, 6, 50], "n": ["u", "w", "y"]}
CONDITIONS = [
    "", "WHERE q < 3", "WHERE q > 20 OR h = 'a'", "WHERE n = 'y'", "WHERE h IN ('a', 'd') AND s = 'k'", "WHERE q IS NULL", "WHERE NOT (n = 'u')",
    "WHERE h IS NULL OR c = 1",
]  # fmt: skip
AGGREGATES = {
    "n": "count(*)",
    "nq": "count(q)",
    "sq": "sum(q)",
    "mq": "min(q)",
    "xq": "max(q)",
    "sc": "sum(c)",
    "nh": "count(h)",
}
KEYS = ([], ["s"], ["h"], ["n"])


@pytest.fixture(scope="module")
def enumerated() -> Iterator[duckdb.DuckDBPyConnection]:
    """Where sources are enumerated."""
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed"])
def test_bounds_hold_for_every_source(
    shared_db: Any, starring: Any, enumerated: duckdb.DuckDBPyConnection, kind: str
) -> None:
    """Stars read as any value, in labels as any value or NULL; the boxes are cut down to two values each, to enumerate sources."""
    starring(format=kind)
    rows, facts = sources.read(shared_db, f"release.{starring.name}")
    own = [fact for fact in facts if fact["column_name"]]
    names = [fact["column_name"] for fact in own]
    rng = random.Random(kind)
    parts = [rng.sample(ways, min(len(ways), 3)) for ways in sources.ways_of(rows, own, ANYTHING)]
    rng.shuffle(parts)
    parts = [*parts[:8], *(ways[:1] for ways in parts[8:])]
    count = sources.enumerate_sources(enumerated, TYPES, names, parts)
    assert count
    for where, keys in rng.sample(list(itertools.product(CONDITIONS, KEYS)), 5):
        truth = sources.outcomes(enumerated, ", ".join(AGGREGATES.values()), where, keys)
        named = [f"k{i}" for i in range(len(keys))]
        items = [f"{key} AS {short}" for key, short in zip(keys, named, strict=True)]
        items += [f"{text} AS {short}" for short, text in AGGREGATES.items()]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        answer = shared_db.query(f"SELECT {', '.join(items)} FROM {starring.name} {where}{group}")
        found = queries.problems(answer, truth, count, list(AGGREGATES), named, known=False)
        # The sources are not all that there are: that a value is missing in these says nothing.
        assert [text for text in found if "no value" not in text] == [], (where, keys)
        assert answer.left_out == 0


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed"])
@pytest.mark.parametrize("rows", ["starred", "left_out"])
def test_releases_with_suppressed_rows_are_evaluated(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, rows: str
) -> None:
    """The source's own values are always within the bounds; no cell of the source is missed but by rows that are left out."""
    from sqlanon.spec import GeneratorSpec, WorkloadSpec

    if rows == "left_out":
        from tests.contract.test_unassigned import Leaving

        declare(monkeypatch, "generalizing", Leaving, suppresses="rows")
    starring(format=kind, suppression={"limit": "4/12", "rows": rows})
    asked = (
        GeneratorSpec("equality", "equality", queries=4),
        GeneratorSpec("ranges", "ranges", queries=4),
        GeneratorSpec("joint", "joint"),
    )
    found = shared_db.evaluate(starring.name, WorkloadSpec(generators=asked))
    assert all(one.inside for cells in found.cells.values() for one in cells)
    (cube,) = found.cubes
    if rows == "starred":
        assert cube.missed == 0
        assert cube.kld > 0
