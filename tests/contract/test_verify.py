"""Deliberately wrong releases, one or more per requirement and per promise: verify refuses each, and nothing changes.

Wrong classes come from a method of our own in the registry; wrong tables from tampering just before verify looks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon import policy
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.base import Assignment
from sqlanon.sqltext import identifier
from tests.declared import declare
from tests.engines import create_table, quote, read_table

ROWS = [(q, s, t) for q, (s, t) in enumerate(zip("aabbaabbaabb", "xyxyxyxyxyxy", strict=True))]
"""q is 0 to 11, so that the code of a row is its q."""

RIGHT = [0] * 4 + [1] * 4 + [2] * 4
"""Three classes of four: 4-anonymous, 2-diverse in s and in t, also jointly."""

SHORT = [0] * 4 + [1] * 4 + [2] * 3 + [3]
SKEWED = [0, 0, 1, 1, 0, 1, 1, 1] + [2] * 4  # s: aaa | bb abb -> class 0 is all a
CROSSED = [0, 1, 1, 0, 0, 1, 1, 0] + [2] * 4  # class 0 holds (a,x) (b,y) (a,x) (b,y): s varies, but not within t


class Assigned:
    """A method that assigns what the test gives: class by code of the first quasi column."""

    classes: ClassVar[Sequence[int | None]] = RIGHT

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        work, code = context.encoded.work, context.encoded.quasi[0].code
        rows = context.scratch.engine.fetch(f"SELECT rid, {code} FROM {quote(work.name)}")
        kept = [(rid, self.classes[c]) for rid, c in rows if self.classes[c] is not None]
        table = context.scratch.table("assign")
        arrays = {"rid": np.array([r for r, _ in kept], np.int32), "class": np.array([c for _, c in kept], np.int32)}
        context.scratch.engine.load_arrays(table, arrays)
        return Assignment(table, "kernel")


@pytest.fixture(scope="module")
def source(shared_db: Any) -> str:
    """A table of `ROWS` that every test releases anew: what is refused changes nothing."""
    name = f"assigned_{uuid.uuid4().hex[:10]}"
    create_table(
        shared_db,
        name,
        {"q": "INTEGER", "s": "TEXT", "t": "TEXT", "who": "TEXT"},
        [(*row, f"person {row[0]}") for row in ROWS],
    )
    return name


@pytest.fixture
def reported(shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Releases `ROWS` with given classes."""
    declare(monkeypatch, "reported", Assigned)
    monkeypatch.setattr(Assigned, "classes", RIGHT)
    name = source

    def release(classes: Sequence[int | None] = RIGHT, **options: Any) -> Any:
        monkeypatch.setattr(Assigned, "classes", classes)
        arguments = {"quasi": "q", "sensitive": ["s", "t"], "identifiers": "who", "k": 4, "method": "reported"}
        return shared_db.anonymize(name, allow_weaker=True, **{**arguments, **options})

    release.name = name  # type: ignore[attr-defined]
    return release


def refused(db: Any, reported: Any, make: Callable[[], Any]) -> str:
    """The wrong release raises, and the right one before it stays as it was, in the view and in the catalog."""
    if not db.releases(reported.name):
        reported()
    before = read_table(db, ("release", reported.name))
    catalog = db.releases(reported.name)
    objects = private_objects(db)
    with pytest.raises(PrivacyViolation) as caught:
        make()
    assert read_table(db, ("release", reported.name)) == before
    assert db.releases(reported.name) == catalog
    assert private_objects(db) == objects
    assert caught.value.exit_code == 1
    return str(caught.value)


def private_objects(db: Any) -> set[Any]:
    """Tables and views of the private schema."""
    return set(db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"))


def test_the_right_release_passes(shared_db: Any, reported: Any) -> None:
    report = reported(l=2, distinct_l=2, joint=True).report
    assert report.verified
    assert (report.classes, report.min_class, report.max_class) == (3, 4, 4)
    assert {(row["q_lo"], row["q_hi"]) for row in read_table(shared_db, ("release", reported.name))} == {
        (0, 3),
        (4, 7),
        (8, 11),
    }


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed"])
def test_a_class_below_k(shared_db: Any, reported: Any, kind: str) -> None:
    message = refused(shared_db, reported, lambda: reported(SHORT, format=kind))
    assert "k: asked 4" in message


@pytest.mark.cover
@pytest.mark.parametrize(
    ("classes", "options", "column"),
    [
        pytest.param(SKEWED, {"l": 2}, "s", id="frequency"),
        pytest.param(SKEWED, {"l": Fraction(11, 10)}, "s", id="frequency-fraction"),
        pytest.param(SKEWED, {"distinct_l": 2}, "s", id="distinct"),
        pytest.param(CROSSED, {"l": 2, "joint": True}, "s", id="joint-frequency"),
        pytest.param(CROSSED, {"distinct_l": 2, "joint": True}, "s", id="joint-distinct"),
    ],
)
def test_a_class_without_diversity(
    shared_db: Any, reported: Any, classes: list[int], options: dict[str, Any], column: str
) -> None:
    message = refused(shared_db, reported, lambda: reported(classes, k=3, **options))
    assert column in message
    if options.get("joint"):
        assert reported(classes, k=3, **{**options, "joint": False}).report.verified


def test_a_lost_row(shared_db: Any, reported: Any) -> None:
    refused(shared_db, reported, lambda: reported([*RIGHT[:-1], None], k=3))


def tampering(
    monkeypatch: pytest.MonkeyPatch, reported: Any, module: str, name: str, tamper: Callable[..., Any]
) -> Callable[[], Any]:
    """Run the right release, but change something just before ``name`` of ``module`` looks."""
    import importlib

    home = importlib.import_module(module)
    real = getattr(home, name)

    def run() -> Any:
        def first_tamper(scratch: Any, *arguments: Any) -> Any:
            return real(scratch, *(tamper(scratch, *arguments) or arguments))

        with monkeypatch.context() as patch:
            patch.setattr(home, name, first_tamper)
            return reported()

    return run


def on_physical(change: str) -> Callable[..., Any]:
    """Change the physical table by SQL, ``{t}`` being its name."""

    def tamper(scratch: Any, *arguments: Any) -> Any:
        *others, physical, requirements = arguments
        target = ".".join(identifier(p) for p in (physical.ref.schema, physical.ref.name))
        scratch.engine.execute(change.format(t=target))
        return (*others, scratch.engine.relation(target), requirements)

    return tamper


@pytest.mark.cover
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("DELETE FROM {t} WHERE s = 'a' AND q_lo = 0", id="rows missing"),
        pytest.param("INSERT INTO {t} SELECT * FROM {t}", id="rows doubled"),
        pytest.param("UPDATE {t} SET s = 'z'", id="sensitive values changed"),
        pytest.param("UPDATE {t} SET s = t, t = s", id="sensitive columns exchanged"),
        pytest.param(
            "UPDATE {t} SET s = CASE t WHEN 'x' THEN 'a' ELSE 'b' END WHERE q_lo = 0",
            id="sensitive values exchanged between rows",
        ),
        pytest.param("UPDATE {t} SET q_lo = 0", id="box widened"),
        pytest.param("UPDATE {t} SET q_lo = q_hi", id="box narrowed"),
        pytest.param("UPDATE {t} SET q_hi = NULL", id="box lost"),
        pytest.param("ALTER TABLE {t} ADD COLUMN who TEXT", id="identifier published"),
        pytest.param("ALTER TABLE {t} DROP COLUMN t", id="column missing"),
    ],
)
def test_a_physical_table_that_is_not_the_staged_one(
    shared_db: Any, reported: Any, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    run = tampering(monkeypatch, reported, "sqlanon.release.publish.content", "verify_physical", on_physical(change))
    refused(shared_db, reported, run)


@pytest.mark.cover
@pytest.mark.parametrize(
    ("options", "change"),
    [
        pytest.param({}, "q_lo = q_lo + 1", id="ranges-low"),
        pytest.param({}, "q_hi = q_hi - 1", id="ranges-high"),
        pytest.param({}, "q_hi = NULL", id="ranges-null"),
        pytest.param({"format": "labels"}, "q = '[1, 2]'", id="labels-narrow"),
        pytest.param({"format": "labels"}, "q = 'NULL'", id="labels-null"),
        pytest.param({"format": "labels"}, "q = '99'", id="labels-value"),
        pytest.param({"format": "points"}, "q = 99", id="points-no-member"),
        pytest.param({"format": "suppressed"}, "q = 3", id="suppressed-no-agreement"),
    ],
)
def test_released_values_that_do_not_cover_their_rows(
    shared_db: Any, reported: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], change: str
) -> None:
    """The staged check: every original value lies in what is published for its row."""
    import sqlanon.release.divide.classes as home

    real = home.verify_staged

    def tampered(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        scratch.engine.execute(f"UPDATE {quote(recoded.released.name)} SET {change}")
        return real(scratch, classed, recoded, form)

    def run() -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(home, "verify_staged", tampered)
            return reported(**options)

    refused(shared_db, reported, run)


def test_sets_and_nodes_that_do_not_cover(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The covering predicates of nominal sets and hierarchy nodes."""
    import sqlanon.release.divide.classes as home

    tree = tmp_path / "tree.csv"
    tree.write_text("a;m;*\nb;m;*\nc;n;*\nd;n;*\n")
    name = f"sets_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"u": "TEXT", "v": "TEXT"}, [("abcd"[i % 4], "abcd"[i % 4]) for i in range(16)])
    real = home.verify_staged
    value = "ARRAY['a', 'b']" if shared_db.engine.dialect == "postgres" else "['a', 'b']"
    for change in (f"u = {value}", "v = 'm'", "v = 'nonsense'"):

        def tampered(scratch: Any, *arguments: Any, change: str = change) -> Any:
            scratch.engine.execute(f"UPDATE {quote(arguments[1].released.name)} SET {change}")
            return real(scratch, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(home, "verify_staged", tampered)
            with pytest.raises(PrivacyViolation):
                shared_db.anonymize(name, quasi=["u", "v"], hierarchies={"v": tree}, k=16)
    assert shared_db.anonymize(name, quasi=["u", "v"], hierarchies={"v": tree}, k=16).report.verified


def test_values_of_one_hash_are_not_taken_for_each_other(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL has one hash of NULL and 0.0, and one of NULL and the numerics NaN and infinity.

    DuckDB has one of a day, 30 days and a microsecond.
    """
    import sqlanon.release.publish.content as home

    name, real = f"unlike_{uuid.uuid4().hex[:10]}", home.verify_physical
    numeric = "NUMERIC" if shared_db.engine.dialect == "postgres" else "DOUBLE"
    columns = {"q": "DOUBLE PRECISION", "f": "DOUBLE PRECISION", "r": "REAL", "n": numeric, "i": "INTERVAL"}
    values = [(None, "NaN"), (0.0, None), (0.0, "Infinity"), (None, "-Infinity")]
    spans = ["1 day", "30 days", "1 microsecond"]
    rows = [(i // 4 and i, f, f, n, spans[i % 3]) for i, (f, n) in enumerate(values * 3)]
    create_table(shared_db, name, columns, rows)
    changes = [
        *("f = 0", "f = NULL", "r = 0", "r = NULL", "n = 'NaN'", "n = NULL", "q = 0", "q = NULL"),
        *(
            "f = n, n = f",
            "n = CASE WHEN n = 'NaN' THEN 'Infinity' WHEN n = 'Infinity' THEN 'NaN' ELSE n END, f = NULL",
        ),
        *("n = 'Infinity' WHERE n = 'NaN'", "n = '-Infinity' WHERE n IS NULL", "q = NULL WHERE q = 0"),
        *(f"i = INTERVAL '{one}' WHERE i = INTERVAL '1 day'" for one in ("30 days", "1 microsecond")),
    ]

    def change_and_verify(scratch: Any, *arguments: Any) -> Any:
        physical = arguments[2].ref
        target = ".".join(identifier(part) for part in (physical.schema, physical.name))
        scratch.engine.execute(f"CREATE TABLE {name}_kept AS SELECT * FROM {target}")
        for change in changes:
            scratch.engine.execute(f"UPDATE {target} SET {change}")
            for many in (0, 100):
                monkeypatch.setattr("sqlanon.release.verify.verify.MANY_ROWS", many)
                with scratch.repeating(), pytest.raises(PrivacyViolation, match="not the staged ones"):
                    real(scratch, *arguments)
            scratch.engine.execute(f"DELETE FROM {target}")
            scratch.engine.execute(f"INSERT INTO {target} SELECT * FROM {name}_kept")
        with scratch.repeating():
            return real(scratch, *arguments)

    monkeypatch.setattr(home, "verify_physical", change_and_verify)
    options: dict[str, Any] = {"insensitive": [*"frni"], "accept_unique": [*"frni"]}
    assert shared_db.anonymize(name, quasi="q", k=4, format="suppressed", **options).report.verified


def test_a_source_where_nulls_become_zero_has_changed(shared_db: Any) -> None:
    name = f"changing_{uuid.uuid4().hex[:10]}"
    numeric = "NUMERIC" if shared_db.engine.dialect == "postgres" else "DOUBLE"
    create_table(shared_db, name, {"q": "INTEGER", "f": "REAL", "n": numeric}, [(i, None, None) for i in range(4)])
    spec = policy.release(source=name, quasi="q", k=2, insensitive=["f", "n"], accept_unique=["f", "n"])
    assert shared_db.run(spec).version == shared_db.run(spec).version == 1
    for version, change in enumerate(("f = 0", "n = 'NaN'"), 2):
        shared_db.engine.execute(f"UPDATE {name} SET {change}")
        assert shared_db.run(spec).version == version
