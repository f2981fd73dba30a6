"""Method best: what it keeps loses least of its methods, by the oracle's own losses; what it refuses."""

from __future__ import annotations

import random
import sys
import uuid
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.database.database import Database
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Context
from sqlanon.methods.method import make_method
from sqlanon.policy import release as spec_of
from sqlanon.progress import SilentProgress
from sqlanon.release.divide.classes import Machine
from sqlanon.table.scratch import Scratch
from tests.contract.assigned import Sample, encoded_sample
from tests.contract.cases import multiset, release_rows
from tests.contract.lattices import case, ordered
from tests.engines import PAIR, create_table, read_table
from tests.oracle import lattice
from tests.oracle.domains import Table
from tests.oracle.losses import losses
from tests.oracle.requirements import Privacy
from tests.weakest import normal, weakest

OF = ["tree:minimize=max", "mondrian:cut=median", "fulldomain:search=global"]


def stars(table: Table, classes: list[list[int]]) -> int:
    return sum(len(rows) for rows in classes for column in table.quasi if len({column.codes[row] for row in rows}) > 1)


def at_levels(table: Table, rows: list[int], node: tuple[int, ...], less: int) -> Fraction:
    """NCP (less 0) or LM (1) of a class at a node, weighted."""
    lost, weights = Fraction(0), 0
    for column, level in zip(table.quasi, node, strict=True):
        leaves = lattice.leaves(column, level, rows[0])
        alone = leaves <= 1 and level < lattice.height(column)
        lost += column.weight * (0 if alone or leaves == 1 else Fraction(leaves - less, max(column.size - less, 1)))
        weights += column.weight
    return lost / weights


def notes_of(sample: Sample, options: dict[str, Any], form: str = "ranges") -> tuple[list[list[int]], tuple[str, ...]]:
    classes, _ = sample.classes("kernel", method=options, seed=1, format=form)
    spec = spec_of(**{**sample.arguments, "method": options, "seed": 1, "format": form})
    with Scratch(sample.scratch.engine) as scratch:
        context = Context(
            scratch, sample.encoded, sample.ready.requirements, "kernel", sys.maxsize, 2, SilentProgress(), 1
        )
        return classes, make_method(spec.method).assign(context).notes


@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("seed", range(2))
def test_every_metric_is_that_of_the_reports(connect_module: Any, tmp_path: Path, engine: Any, seed: int) -> None:
    one = case(seed + 60, Privacy(k=3), rows=31)
    with encoded_sample(connect_module(engine), one, tmp_path) as sample:
        table = sample.table
        own = [sample.classes("kernel", method=name, seed=1)[0] for name in OF]
        node = lattice.best(table, one.privacy, "loss", 0, starred=True).node
        for metric in ("gcp", "lm", "dm", "c_avg"):
            values = [getattr(losses(table, classes, 3), metric) for classes in own]
            if metric in ("gcp", "lm"):
                parts = [len(rows) * at_levels(table, rows, node, int(metric == "lm")) for rows in own[2]]
                values[2] = sum(parts) / table.rows
            made, notes = notes_of(sample, {"name": "best", "of": OF, "metric": metric})
            least = min(range(3), key=lambda at: values[at])
            assert {frozenset(rows) for rows in made} == {frozenset(rows) for rows in own[least]}, metric
            assert notes[0].startswith(f"best: {OF[least]} loses least by {metric}: ")
            stated = [float(part.rsplit(" ", 1)[1]) for part in notes[0].split(": ", 2)[2].split(", ")]
            assert stated == pytest.approx([float(value) for value in values], abs=1e-4), metric


def test_methods_that_lose_far_more_are_named(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlanon.methods.best.method.FAR", Fraction(101, 100))
    one = case(60, Privacy(k=3), rows=31)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        names = OF[:2]
        lost = {name: losses(sample.table, sample.classes("kernel", method=name, seed=1)[0], 3).gcp for name in names}
        best = min(names, key=lambda name: lost[name])
        _, notes = notes_of(sample, {"name": "best", "of": names, "metric": "gcp"})
        far = [name for name in names if lost[name] >= 1.01 * lost[best]]
        assert far
        assert [note for note in notes if "times as much" in note] == [
            f"best: {name} loses {float(lost[name] / lost[best]):.1f} times as much as {best}" for name in far
        ]


@pytest.mark.parametrize("seed", range(3))
def test_sparing_searches_the_classes_that_are_kept(db: Any, seed: int) -> None:
    rng = random.Random(seed)
    rows = ", ".join(f"({i}, {rng.randint(0, 99)}, {rng.randint(0, 99)}, {i % 3})" for i in range(200))
    db.engine.execute("CREATE TABLE t (id INTEGER, x INTEGER, y INTEGER, s INTEGER)")
    db.engine.execute(f"INSERT INTO t VALUES {rows}")
    found = {}
    for name, method, search in (
        ("tree", "tree", 0),
        ("mondrian", "mondrian", 0),
        ("kept", {"name": "best", "of": ["tree", "mondrian"], "run": "sparing"}, 64),
    ):
        report = db.anonymize(
            "t",
            quasi=["x", "y"],
            sensitive="s",
            identifiers="id",
            k=4,
            l=2,
            method=method,
            refine={"search": search},
            name=name,
            publish=f"release.{name}",
        ).report
        assert report.verified
        found[name] = report.loss.gcp
    assert found["kept"] < min(found["tree"], found["mondrian"])


def test_the_fewest_stars(connect_module: Any, tmp_path: Path) -> None:
    one = case(63, Privacy(k=3), rows=31)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        names = OF[:2]
        counts = [stars(sample.table, sample.classes("kernel", method=name, seed=1)[0]) for name in names]
        classes, notes = notes_of(sample, {"name": "best", "of": names, "metric": "stars"}, "suppressed")
        assert stars(sample.table, classes) == min(counts)
        assert notes[0].endswith(", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True)))


def test_a_whole_run_reports_each_method(connect_module: Any, tmp_path: Path) -> None:
    one = case(64, Privacy(k=2, l=Fraction(2)), rows=31)
    _, report = release_rows(connect_module(PAIR[0]), one, tmp_path, method="best", refine=True)
    assert report.verified
    assert report.method == "best:of=tree; hilbert; fulldomain:search=local,metric=gcp"
    (found,) = (note for note in report.notes if "loses least by gcp" in note)
    assert f" {report.loss.gcp:.4f}" in found
    # refine moves single rows, and divide: whole keeps groups.
    (left,) = (note for note in report.notes if "was left out" in note)
    assert "fulldomain:search=local,divide=whole" in left


def test_a_method_that_is_named_twice_is_run_once(connect_module: Any, tmp_path: Path) -> None:
    one = case(64, Privacy(k=2), rows=31)
    method = {"name": "best", "of": ["tree", "hilbert", "tree:minimize=gcp"]}
    _, report = release_rows(connect_module(PAIR[0]), one, tmp_path, method=method)
    (found,) = (note for note in report.notes if "loses least by gcp" in note)
    assert found.count("tree ") == 1 + found.count("best: tree ")


@pytest.mark.parametrize(
    ("chosen", "more", "what"),
    [
        ({"of": ["tree", "best"]}, {}, "best does not run itself; name other methods"),
        ({"of": ["tree", "mondrain"]}, {}, r"there is no such method \(did you mean mondrian\?\)"),
        ({"of": ["tree:cut=loss"]}, {}, r"method\[of\]: tree has no such option; options: "),
        (
            {"of": ["tree", "sequential:runs=99"]},
            {},
            r"of\]: sequential: runs: too large; a whole number from 1 to 20$",
        ),
        ({"of": ["mondrian:cut=zqcanary"]}, {}, r"of\]: mondrian: cut: not a word known here; one of "),
        ({"of": ["suppress"]}, {}, "suppress hides values"),
        ({"of": "tree;;hilbert"}, {}, "its methods cannot be read"),
        (
            {"of": ["topdown", "fulldomain"]},
            {"l": 2, "execution": "pushdown"},
            "none of its methods takes this: topdown: .*k alone.*fulldomain: .*no pushdown",
        ),
        ({}, {"suppression": {"limit": "1/10"}}, "best suppresses no rows"),
        (
            {},
            {"k": None, "max_loss": 0.5, "maximize": "k", "at_least": {"k": 2}},
            "best does not maximize k: .*; maximize k with tree",
        ),
        ({"metric": "zqcanary"}, {}, r"method\[metric\]: not a word known here; one of gcp, ncp"),
        ({}, {"format": "suppressed"}, "say metric=stars"),
        ({"metric": "stars"}, {}, "leave metric out"),
        ({}, {"format": "anatomy", "k": None, "l": 2}, "best goes with ranges"),
    ],
)
def test_what_it_does_not_take(chosen: dict[str, Any], more: dict[str, Any], what: str) -> None:
    asked = {"source": "t", "quasi": "age", "sensitive": "illness", "k": 2, **more}
    with pytest.raises(PolicyError, match=what):
        spec_of(**asked, method={"name": "best", **chosen})


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_intervals_of_a_method_are_kept(connect_module: Any, tmp_path: Path, engine: Any) -> None:
    """A value is in the same interval wherever it occurs, also where no row of the class has it.

    Losses are those of the intervals.
    """
    one, db = ordered(12, k=4, rows=40), connect_module(engine)
    single = "koptimize:metric=dm"
    rows, report = release_rows(db, one, tmp_path, method=single)
    again, kept = release_rows(db, one, tmp_path, method={"name": "best", "of": [single], "metric": "gcp"})
    assert multiset(again) == multiset(rows)
    assert kept.loss.gcp == pytest.approx(report.loss.gcp)
    assert f"{single} loses least by gcp: {single} {report.loss.gcp:.4f}" in " ".join(kept.notes)


def test_memory_does_not_choose_the_method(connect_module: Any, tmp_path: Path) -> None:
    one = case(65, Privacy(k=2), rows=31)
    with pytest.raises(PolicyError, match=r"method best runs fulldomain:search=local, and .*raise memory to"):
        release_rows(connect_module(PAIR[0]), one, tmp_path, method="best", memory=2000)


@pytest.mark.thorough
def test_kept_scratch_has_the_tables_of_each_method(connect_module: Any, tmp_path: Path) -> None:
    one = case(67, Privacy(k=3), rows=31)
    db = connect_module(PAIR[0])
    arguments = {**one.arguments(tmp_path), "method": {"name": "best", "of": ["tree", "fulldomain:search=local"]}}
    report = db.run(spec_of(source=one.create(db), **arguments), keep_scratch=True)
    made = [table.statement for table in report.scratch if table.stage == "method"]
    assert {"fulldomain/assign", "best/kept"} <= set(made)
    assert [table.rows for table in report.scratch if table.statement == "fulldomain/assign"] == [31]


@pytest.mark.thorough
def test_on_the_weakest_engine(tmp_path: Path) -> None:
    one = case(68, Privacy(k=3), rows=31)
    found = []
    for make in (normal, weakest):
        with (
            duckdb.connect(":memory:") as connection,
            Database(make(connection), SilentProgress(), Machine(1 << 28, 1)) as db,
        ):
            rows, report = release_rows(db, one, tmp_path, method="best", seed=1)
            found.append((sorted(map(repr, rows)), [note for note in report.notes if note.startswith("best: ")]))
            left = db.engine.fetch("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%sqlanon_________%'")
            assert [name for (name,) in left if name.startswith("_sqlanon_")] == []
    assert found[0] == found[1]


@pytest.mark.thorough
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_equal_rows_that_classes_divide(connect_module: Any, engine: Any) -> None:
    """Of rows with equal codes those that a method divided are kept with its classes.

    Other columns may differ in such rows.
    """
    db, name = connect_module(engine), f"pairs_{uuid.uuid4().hex[:10]}"
    rows = [(100 * b + x, "ab"[b % 2], f"{b} {x} {i}") for b in range(20) for x in (0, 1, 2) for i in (0, 1)]
    create_table(db, name, {"x": "INTEGER", "s": "TEXT", "note": "TEXT"}, rows)
    asked = {"quasi": "x", "sensitive": "s", "insensitive": "note", "accept_unique": "note", "k": 3}
    of = ["tree", "hilbert"]
    losses = {one: db.anonymize(name, **asked, method=one).report.loss.gcp for one in of}
    for order in (of, of[::-1]):
        report = db.anonymize(name, **asked, method={"name": "best", "of": order}).report
        assert report.verified
        assert report.loss.gcp == pytest.approx(min(losses.values()), rel=1e-12)


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("metric", ["dm", "c_avg"])
def test_classes_that_show_the_same_are_one_in_format_suppressed(shared_db: Any, metric: str) -> None:
    """What decides is what reports state: one of the tables has classes that show the same."""
    merged = 0
    for seed in range(3, 6):
        rng, name = random.Random(seed), f"same_{uuid.uuid4().hex[:10]}"
        rows = [(rng.randint(0, 3), rng.randint(0, 2)) for _ in range(12)]
        create_table(shared_db, name, {"a": "INTEGER", "b": "INTEGER"}, rows)
        lost = {}
        for method_ in ("tree", "mondrian", {"name": "best", "metric": metric, "of": ["tree", "mondrian"]}):
            release = shared_db.anonymize(
                name, quasi=["a", "b"], k=2, method=method_, format="suppressed", allow_weaker=True
            )
            lost[str(method_)] = getattr(release.report.loss, metric)
            shown = Counter(tuple(row.values()) for row in read_table(shared_db, ("release", name)))
            counted = sum(n * n for n in shown.values()) if metric == "dm" else 12 / len(shown) / 2
            assert lost[str(method_)] == pytest.approx(counted)
        tree, mondrian, best = lost.values()
        assert best == min(tree, mondrian)
        merged += tree != mondrian
    assert merged
