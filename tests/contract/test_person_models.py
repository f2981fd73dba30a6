"""Models of values over persons.

Under both strengths, on both engines, they agree with their definitions in exact fractions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import release
from sqlanon.privacy.base import Grouped, Values
from sqlanon.privacy.over_persons import OverPersons
from sqlanon.privacy.requirements import make_requirements
from sqlanon.release.divide import merge_failing_groups
from sqlanon.table.scratch import Scratch
from tests.contract.person_value_models import MODELS, Model
from tests.contract.test_person_rows import ASKED, classes, owner, place, visits
from tests.contract.value_models import MODELS as OF_ROWS
from tests.covering import seeds
from tests.declared import declare
from tests.engines import create_table
from tests.safety.bad import tampering

WAYS = [
    ("tree", "kernel"),
    ("mondrian", "pushdown"),
    ("hilbert", "pushdown"),
    ("mondrian:variant=relaxed", "kernel"),
    ("idistance", "kernel"),
]
MADE = [(model, WAYS[(number + step) % len(WAYS)]) for number, model in enumerate(MODELS) for step in (0, 2)]
"""Every model by two methods, every method with four models: what is judged are the groups, whoever made them."""
EVENTS = {key: value for key, value in ASKED.items() if key not in ("l", "persons")}


def test_every_model_that_is_asked_of_persons_has_a_definition_here() -> None:
    assert {name for name, one in REQUIREMENTS.items() if one.of_persons} == {one.name for one in MODELS}
    assert {one.name for one in OF_ROWS} == {one.name for one in MODELS}


@pytest.mark.cover("strength engine")
@pytest.mark.parametrize("strength", ["rows", "whole"])
@pytest.mark.parametrize(("model", "way"), MADE, ids=lambda one: one.label if isinstance(one, Model) else ":".join(one))
def test_every_class_holds_over_persons_and_over_rows(
    shared_db: Any, model: Model, strength: str, way: tuple[str, str], tmp_path: Path
) -> None:
    rows = visits(2, 130)
    source = place(shared_db, rows)
    method, execution = way
    asked = {**EVENTS, **model.policy(tmp_path), "persons": strength, "method": method}
    made = shared_db.anonymize(source, **asked, execution=execution)
    found = classes(shared_db, source, rows)
    held = [[(row["pid"], row["s"], 1) for row in members] for members in found]
    everything = [one for members in held for one in members]
    assert made.report.classes == len(held)
    for members in held:
        assert len({row[0] for row in members}) >= 4
        assert model.persons(members, everything)
        assert model.rows([row[1] for row in members], [row[1] for row in everything])
    if strength == "whole":
        assert sum(len({row[0] for row in members}) for members in held) == len({row[0] for row in everything})
    said = {one.name: one for one in made.report.requirements}
    assert said[f"{model.name} of persons"].satisfied
    audit = made.audit()
    assert (audit.satisfied, audit.not_measured) == (True, ())
    again = {one.name: one for one in audit.requirements}
    verified, audited = (found[f"{model.name} of persons"] for found in (said, again))
    # Logarithms are summed in the order in which the engine reads the groups.
    assert audited.reached == pytest.approx(verified.reached, rel=1e-12)
    assert replace(audited, reached=verified.reached) == verified
    if execution == "pushdown":
        shared_db.anonymize(source, **asked, execution="kernel")
        other = [[(row["pid"], row["s"], 1) for row in members] for members in classes(shared_db, source, rows)]
        assert sorted(map(sorted, other)) == sorted(map(sorted, held))


def drawn_rows(seed: int) -> list[tuple[int, str, str | None, int]]:
    """Class, person, value, and how many rows: few persons, so that many shares are just what is asked.

    Or numbers of rows that are prime.
    """
    drawn = random.Random(seed)
    persons, values, prime = drawn.randrange(1, 7), drawn.randrange(1, 5), seed % 3 == 2
    return [
        (
            drawn.randrange(9),
            f"z{drawn.randrange(persons)}",
            drawn.choice([None, "a", "b", "c", "d"][:values]),
            drawn.choice([1, 1_000_003, 999_983, 611_953, 7_919]) if prime else drawn.randrange(1, 3),
        )
        for _ in range(drawn.randrange(1, 60))
    ]


def failing(scratch: Scratch, one: OverPersons, rows: Grouped) -> set[int]:
    """The groups that do not meet a requirement, by its SQL."""
    below = scratch.table("below")
    one.below(scratch, below, rows)
    found = scratch.engine.fetch(f'SELECT c FROM "{below.name}"')
    scratch.drop(below)
    return {int(str(row[0])) for row in found}


def coded(scratch: Scratch, rows: Sequence[tuple[int, str, Any, int]], seed: int) -> Grouped:
    """The rows, once each, with codes of values: of four that may be there in any order, and NULL."""
    known = random.Random(seed).sample([None, "a", "b", "c", "d"], 5)
    whose = sorted({row[1] for row in rows})
    table = scratch.table("coded")
    columns = {
        "c": [row[0] for row in rows],
        "s": [known.index(row[2]) for row in rows],
        "pid": [whose.index(row[1]) for row in rows],
    }
    scratch.engine.load_arrays(table, {name: np.array(column, np.int32) for name, column in columns.items()})
    ranks = [sorted(known, key=lambda text: text or "").index(text) for text in known]
    counts = np.bincount(columns["s"], minlength=5).astype(np.int64)
    return Grouped(table, ["c"], ["s"], None, table, ["s"], ["pid"], [counts], [Values(known, ranks, ordered=True)])


@pytest.mark.parametrize("seed", seeds(10, always=1))
def test_what_is_measured_and_what_fails(shared_db: Any, seed: int, tmp_path: Path) -> None:
    """The query of verification and that of groups in the database, on random classes with NULLs and repeated rows."""
    columns = {"c": "INTEGER", "pid": "TEXT", "s": "TEXT"}
    rows = drawn_rows(seed)
    name = f"weights_{uuid4().hex[:10]}"
    create_table(shared_db, name, {**columns, "n": "INTEGER"}, rows)
    create_table(shared_db, f"{name}_one", columns, [row[:3] for row in rows])
    cases = [(name, rows, "n"), (f"{name}_one", [(*row[:3], 1) for row in rows], None)]
    for model in MODELS:
        asked = release(
            source="t",
            quasi="q",
            sensitive="s",
            identifiers="p",
            k=1,
            person="p",
            persons="rows",
            **model.policy(tmp_path),
        )
        found = make_requirements(asked.privacy, ("s",), ("p",), asked.columns)
        (one,) = (item for item in found if isinstance(item, OverPersons))
        for table, each, count in cases:
            target = shared_db.engine.relation(table).ref
            everything = [row[1:] for row in each]
            wanted = {
                group
                for group in {row[0] for row in each}
                if not model.persons([row[1:] for row in each if row[0] == group], everything)
            }
            measured = one.measure(shared_db.engine, Grouped(target, ["c"], ["s"], count, persons=["pid"]))
            assert measured.failing == len(wanted), model.label
            # What enhanced beta-likeness allows differs from value to value.
            assert "enhanced" in model.label or one.reaches(measured.reached) == (not wanted), model.label
            together = one.measure(shared_db.engine, Grouped(target, [], ["s"], count, persons=["pid"]))
            assert together.failing == (not model.persons(everything, everything))
        with Scratch(shared_db.engine) as scratch:
            hashed = failing(scratch, one, Grouped(target, ["c"], ["s"], None, target, ["s"], ["pid"]))
            # What asks which values they are sees codes; without, as in histories, it finds whatever fails, and perhaps
            # more.
            assert hashed >= wanted if one.reads_values else hashed == wanted, model.label
            assert failing(scratch, one, coded(scratch, rows, seed)) == wanted, model.label


@pytest.mark.cover("strength")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
@pytest.mark.parametrize("strength", ["rows", "whole"])
def test_one_who_owns_nearly_all_rows_does_not_pass(
    shared_db: Any, model: Model, strength: str, tmp_path: Path
) -> None:
    """Of ten persons one owns 991 of 1,000 rows, all of one diagnosis.

    Over persons alone most models would be met by the table.
    """
    source = place(shared_db, owner())
    asked = {**EVENTS, "k": 10, "persons": strength, **model.policy(tmp_path)}
    values = [row[3] for row in owner()]
    everything = [(row[4], row[3], 1) for row in owner()]
    met = model.rows(values, values) and model.persons(everything, everything)
    if not met:
        nearest = "the (least|largest) feasible|no value is feasible"
        with pytest.raises(InfeasibleError, match=rf"reaches {model.name} = .* of s; ({nearest})"):
            shared_db.anonymize(source, **asked)
        return
    # These compare with the table, from which its only class does not differ.
    assert REQUIREMENTS[model.name].compares
    assert shared_db.anonymize(source, **asked).report.classes == 1


def test_persons_of_one_value_do_not_pass_by_the_rows_of_another(shared_db: Any) -> None:
    """Nine of ten persons have the diagnosis a; one has as many rows of others, so that over rows a is 1/2."""
    rows = [(i, 0, "p", "a", f"z{i}", 0) for i in range(9)]
    rows += [(9 + i, 0, "p", "bcd"[i % 3], "z9", 0) for i in range(9)]
    source = place(shared_db, rows)
    for asked, message in (
        ({"alpha": "1/2"}, r"alpha of persons = 0\.5 of s; the least feasible value is 0\.9"),
        ({"entropy_l": 2}, r"entropy_l of persons = 2 of s; the largest feasible value is 1\.5"),
        ({"recursive_cl": {"c": 2, "l": 2}}, r"recursive_cl of persons = 2 of s; the largest feasible value is 1"),
    ):
        with pytest.raises(InfeasibleError, match=message):
            shared_db.anonymize(source, **EVENTS, persons="whole", **asked)


@pytest.mark.cover("asked")
@pytest.mark.parametrize(
    "asked",
    [
        {"entropy_l": "2"},
        {"recursive_cl": {"c": 1, "l": 2}},
        {"alpha": "3/5"},
        {"alpha": {"max": "3/5", "values": ["a"]}},
        {"t": "3/10"},
        {"t": "1/5 ordered", "ordered": {"s": "alphabetical"}},
        {"beta": {"basic": "1/2"}},
        {"delta_disclosure": "1"},
    ],
    ids=lambda asked: "".join(f"{name}:{value}" for name, value in asked.items()),
)
def test_verify_refuses_classes_that_do_not_meet_it(
    shared_db: Any, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two classes: over rows both meet the models; over persons nine of the ten of the one have the same value."""
    rows = [(i, 1, "p", "abcd"[i % 4 if i >= 9 else 0], f"z{min(i, 9)}", 0) for i in range(9 + 27)]
    rows += [(36 + i, 2, "p", "abcd"[i % 4], f"y{i}", 0) for i in range(36)]
    monkeypatch.setattr(merge_failing_groups, "not_monotone", lambda _: [])  # what unites groups that fail
    declare(
        monkeypatch,
        "careless",
        tampering("UPDATE {t} SET class = CASE WHEN rid < 36 THEN 0 ELSE 1 END", as_one=True),
        "mondrian",
    )
    source, name = place(shared_db, rows), next(iter(asked))
    with pytest.raises(PrivacyViolation, match=rf"{name} of persons of s: asked .*; [12] classes? fail"):
        shared_db.anonymize(source, **EVENTS, persons="rows", method="careless", **asked)


@pytest.mark.parametrize("method", ["fulldomain", "best"])
def test_methods_that_do_not_unite_refuse_it_with_rows(method: str) -> None:
    asked = {"source": "t", "quasi": "q", "sensitive": "s", "identifiers": "p", "person": "p", "k": 3, "t": "1/2"}
    with pytest.raises(PolicyError, match="fail t of persons; use tree, hilbert or mondrian, or say persons: whole"):
        release(**asked, persons="rows", method=method)
    if method == "fulldomain":
        assert release(**asked, persons="whole", method=method).privacy.of_persons


@pytest.mark.cover("asked")
@pytest.mark.parametrize("asked", ["3/5", {"max": "3/5", "values": ["b"]}], ids=["all", "listed"])
def test_versions_are_compared_over_persons(shared_db: Any, asked: Any) -> None:
    """Who arrives in a group has one diagnosis, but over rows not: one of them has many rows of others.

    Histories have hashes: of values that are listed they take all.
    """
    columns = {"mark": "INTEGER", "q": "INTEGER", "w": "TEXT", "s": "TEXT", "pid": "TEXT", "ward": "INTEGER"}
    rows = [(i, 0, "p", "ab"[i % 2], f"z{i}", 0) for i in range(20)]
    source = place(shared_db, rows, columns)
    policy = {
        **EVENTS,
        "key": "mark",
        "identifiers": ["mark", "pid", "ward"],
        "insensitive": None,
        "accept_unique": None,
        "accept_repeats": "mark",
        "persons": "whole",
        "alpha": asked,
    }
    shared_db.anonymize(source, **policy)
    more = [(100 + i, 0, "p", "a", f"y{i}", 0) for i in range(4)]
    more += [(110 + i, 0, "p", "bc"[i % 2], "x", 0) for i in range(6)]
    for row in more:
        shared_db.engine.execute(
            f"INSERT INTO {source} VALUES ({row[0]}, {row[1]}, '{row[2]}', '{row[3]}', '{row[4]}', {row[5]})"
        )
    second = shared_db.anonymize(source, **policy)
    (compared,) = second.report.history
    # Four of five persons have a, which is 4/10 of the rows.
    assert (compared.arrived.rows, compared.arrived.failing) == (10, 10)
