"""`tables:` of one release.

A join of all published tables is enumerated on tiny ones, and either all of them are published or none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import load
from sqlanon.release.divide import token_blocks
from sqlanon.spec import ReleaseSpec
from tests.contract.tokens import Truth, boxes_of, place, surest
from tests.engines import read_table

NAMES = ("patients", "admissions", "labs")


def truth_of(seed: int, persons: int = 6) -> Truth:
    """Of each person an age, one or two admissions, and up to two results."""
    drawn = random.Random(seed)
    return {
        who: [[drawn.randrange(9) for _ in range(n)] for n in (1, 1 + drawn.randrange(2), drawn.randrange(3))]
        for who in range(persons)
    }


class Hospital:
    """Three tables in a database, and the policy that publishes them together."""

    def __init__(self, db: Any, truth: Truth, folder: Path, **more: Any) -> None:
        self.db, self.truth = db, truth
        columns = {"pid": "INTEGER", "age": "INTEGER"}
        self.tables = [
            place(db, columns, [(who, value) for who, held in truth.items() for value in held[at]]) for at in range(3)
        ]
        self.file = folder / "anon.yml"
        self.write(**more)

    def write(self, k: Sequence[int] = (2, 2, 2), limit: object = 1, more: str = "") -> None:
        tables = "".join(
            f"\n      - {{source: {table}, name: {name}, privacy: {{k: {least}}}, publish: release.{table}, columns: "
            "{pid: pseudonym, age: quasi}}"
            for table, name, least in zip(self.tables, NAMES, k, strict=True)
        )
        self.name = f"hospital {self.tables[0]}"
        self.file.write_text(
            f"version: 1\nreleases:\n  - name: {self.name}\n    person: pid\n    suppression: {{limit: {limit}, rows: "
            f"left_out}}\n{more}    tables:{tables}\n"
        )

    @property
    def specs(self) -> tuple[ReleaseSpec, ...]:
        return load(self.file).releases

    def run(self, **asked: Any) -> Any:
        return self.db.run_tables(self.specs, **asked)

    def rows(self) -> list[list[dict[str, Any]]]:
        return [read_table(self.db, ("release", table)) for table in self.tables]

    def boxes(self) -> Any:
        return boxes_of(*([(row["pid"], (row["age_lo"], row["age_hi"])) for row in rows] for rows in self.rows()))

    def versions(self) -> list[tuple[str, int]]:
        return [
            (one.release, one.version)
            for one in self.db.releases()
            if one.release.startswith(self.name) and one.status == "published"
        ]


def test_a_reader_who_joins_three_tables(shared_db: Any, tmp_path: Path) -> None:
    """Tokens are given to persons in every way that all three tables allow; nobody is one with more than 1/k."""
    hospital = Hospital(shared_db, truth_of(2), tmp_path)
    made = hospital.run()
    boxes = hospital.boxes()
    assert any(all(each) for each in boxes.values()), "somebody is in all three tables"
    assert surest(hospital.truth, boxes) <= Fraction(1, 2)
    assert min(one.reached for one in made[-1].requirements if "in 3 tables" in one.name) >= 2
    for table in hospital.tables:
        assert hospital.db.audit(f"release.{table}").satisfied


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3, 11))
def test_a_reader_of_other_tables(shared_db: Any, tmp_path: Path, seed: int) -> None:
    hospital = Hospital(shared_db, truth_of(seed), tmp_path)
    with suppress(InfeasibleError):
        hospital.run()
        assert surest(hospital.truth, hospital.boxes()) <= Fraction(1, 2)


def test_a_method_that_forgets_the_other_tables_publishes_none(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By themselves all three tables keep 1/2; the check of their join refuses what the enumeration finds."""
    hospital = Hospital(shared_db, truth_of(2), tmp_path)
    right = token_blocks.choose_row_counts
    monkeypatch.setattr(token_blocks, "choose_row_counts", lambda n, like, _, k: right(n, like * 0, {}, k))
    with pytest.raises(PrivacyViolation, match=r"tokens alike in . tables of pid: asked 2, reached 1"):
        hospital.run()
    assert hospital.versions() == []
    with monkeypatch.context() as blind:
        blind.setattr("sqlanon.release.verify.tokens.measure_tokens", lambda *_: [])
        hospital.run()
    assert surest(hospital.truth, hospital.boxes()) > Fraction(1, 2)


def test_a_life(shared_db: Any, tmp_path: Path) -> None:
    """All tables have a new version, or none; what concerns one of them works or says why it does not."""
    hospital = Hospital(shared_db, truth_of(2), tmp_path)
    db, first = hospital.db, hospital.tables[0]
    hospital.run()
    own = [{row["pid"] for row in rows} for rows in hospital.rows()]
    assert own[1] | own[2] <= own[0]
    assert [one.outcome for one in hospital.run()] == ["unchanged"] * 3
    hospital.write(limit=0)
    before = hospital.rows()
    with pytest.raises(InfeasibleError, match="suppression allows 0"):
        hospital.run()
    assert hospital.rows() == before
    hospital.write()
    db.engine.execute(f"UPDATE {first} SET age = 8 - age")
    assert [(one.outcome, one.version) for one in hospital.run()] == [("published", 2)] * 3
    assert [version for _, version in hospital.versions()] == [2, 2, 2]
    assert set(own[0]) & {row["pid"] for row in hospital.rows()[0]}
    assert db.query(f"SELECT count(*) FROM release.{first}").rows
    name = hospital.specs[2].name
    with pytest.raises(PolicyError, match="give all of them to run_tables"):
        db.run(hospital.specs[0])
    with pytest.raises(PolicyError, match="in their order"):
        db.run_tables(hospital.specs[1:])
    with pytest.raises(PolicyError, match="no earlier one returns by itself"):
        db.rollback(name, to=1)
    db.unpublish(name)
    assert len(hospital.versions()) == 2
    assert db.audit(f"release.{first}").satisfied
    by_name = db.audit(hospital.specs[0].name)
    assert by_name.to_dict() == db.audit(f"release.{first}").to_dict()
    assert [(one.outcome, one.version) for one in hospital.run()] == [("published", 3)] * 3
    assert db.plan(hospital.specs[0]).feasible


@pytest.mark.thorough
def test_tokens_that_rotate(shared_db: Any, tmp_path: Path) -> None:
    """Each version has its own, in all tables; their key is nowhere, and nothing is new where nothing changed."""
    hospital = Hospital(shared_db, truth_of(2), tmp_path, more="    rotate: version\n")
    hospital.run()
    assert surest(hospital.truth, hospital.boxes()) <= Fraction(1, 2)
    tokens = [{row["pid"] for row in rows} for rows in hospital.rows()]
    assert tokens[1] | tokens[2] <= tokens[0]
    assert [one.outcome for one in hospital.run()] == ["unchanged"] * 3
    hospital.db.engine.execute(f"UPDATE {hospital.tables[1]} SET age = 8 - age")
    assert {one.outcome for one in hospital.run()} == {"published"}
    again = [{row["pid"] for row in rows} for rows in hospital.rows()]
    assert again[1] | again[2] <= again[0]
    assert not again[0] & tokens[0]
    held = str(read_table(hospital.db, ("_sqlanon", "secrets")))
    assert f"pseudonyms of scope {hospital.name}" not in held
    hospital.write()
    with pytest.raises(GuardError, match="rotate yes -> no"):
        hospital.run()
