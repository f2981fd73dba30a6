"""Synthetic rows of noisy statistics on every engine: what is published, what it costs, and what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import numpy as np
import pytest

import sqlanon
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.noisy import rows as drawing
from sqlanon.noisy.answers import code_rows
from sqlanon.noisy.pairs import GAP_CHANGE
from sqlanon.noisy.shape import shape_of
from sqlanon.release.catalog.private_tables import physical_name
from sqlanon.release.stages.stage import PublishStage
from sqlanon.release.versions import noisy
from sqlanon.table.scratch import Scratch
from tests.contract.noisy_releases import COLUMNS, Made, Rows
from tests.engines import create_table, read_table

pytest.importorskip("opendp")

GROUPS = "{region: [north, south, it's, empty], sex: [F, M], age: {bins: [0, 20, 40, 60]}, cost: {bins: [0, 5, 10]}}"
ASKED = {"tables": "", "groups": GROUPS, "contributions": "{groups: 1, rows: 1}"}
SURE = {"epsilon": "100", "budget": "epsilon: 100, delta: 1e-6", "more": "kept: false\n      rows: sex"}


def people(seed: object, persons: int) -> Rows:
    """A row of each person; age follows the region, and the cost the age; of some a value is not declared."""
    draw = random.Random(str(seed))
    rows: Rows = []
    for pid in range(persons):
        region = draw.choice(["north", "south", "it's", "it's"])
        age = {"north": 10, "south": 30, "it's": 50}[region]
        rows.append((pid, region, draw.choice("FFM"), age, float(age // 8 if draw.random() < 0.9 else 9)))
        if draw.random() < 0.05:
            rows[-1] = (pid, draw.choice([None, "elsewhere"]), *rows[-1][2:])
    return rows


def synthetic(made: Made) -> list[dict[str, Any]]:
    return read_table(made.db, ("release", f"{made.view}_synthetic"))


def facts(made: Made) -> dict[str, Any]:
    rows = read_table(made.db, ("release", f"{made.view}_metadata"))
    found: dict[str, Any] = json.loads(next(row["published"] for row in rows if row["role"] == "release"))
    return found


@pytest.mark.every_engine
def test_with_almost_no_noise_rows_have_the_counts_of_the_source(shared_db: Any, tmp_path: Path) -> None:
    rows = people("exact", 300)
    made = Made(shared_db, tmp_path, rows, **ASKED, **SURE)
    report = made.run()
    found = synthetic(made)
    assert list(found[0]) == ["region", "sex", "age", "cost"]  # the order of the source
    assert report.noisy.spent <= 100
    complete = [row for row in rows if row[1] in ("north", "south", "it's")]
    assert abs(len(found) - len(complete)) <= 4
    bins = {10: "[0, 20)", 30: "[20, 40)", 50: "[40, 60)"}
    wanted = Counter((row[1], row[2], bins[row[3]]) for row in complete)
    given = Counter((row["region"], row["sex"], row["age"]) for row in found)
    assert max(abs(wanted[group] - given[group]) for group in wanted | given) <= 6
    # The columns that follow each other are the chosen pairs.
    assert {frozenset(pair) for pair in report.noisy.synthetic.pairs} >= {frozenset({"region", "age"})}
    said = facts(made)["synthetic"]
    assert said["rows"] == report.noisy.synthetic.rows == len(found)
    assert said["view"] == f"{made.view}_synthetic"
    assert said["errors_of_other_combinations"] == "unknown"
    assert [report.noisy.synthetic.target, said["pairs_by"]] == ["sex", "a paid measurement"]
    assert shared_db.audit(f"release.{made.view}").satisfied
    with pytest.raises(PolicyError, match="synthetic rows, which have no bounds"):
        shared_db.query(f"SELECT count(*) FROM release.{made.view}_synthetic")


@pytest.mark.thorough
def test_declared_pairs_and_middles(shared_db: Any, tmp_path: Path) -> None:
    more = "kept: true\n      rows: {target: sex, pairs: [[cost, age], [age, region]], bins: middle}"
    made = Made(shared_db, tmp_path, people("middle", 60), **ASKED, more=more)
    report = made.run()
    assert report.noisy.synthetic.pairs == (("age", "region"), ("cost", "age"))
    assert {row["age"] for row in synthetic(made)} <= {10.0, 30.0, 50.0}
    assert {row["cost"] for row in synthetic(made)} <= {2.5, 7.5}
    assert not facts(made)["synthetic"]["pairs_by"].startswith("a paid")
    assert {row["table"] for row in made.rows()} == {"age, region, sex", "cost, age, sex"}


@pytest.mark.thorough
@pytest.mark.every_engine
def test_no_person_changes_a_score_by_more_than_is_charged(shared_db: Any, tmp_path: Path) -> None:
    """Also one with several rows, with none that is complete, and with values that are nobody else's."""
    rows = people("scores", 9)
    rows += [(99, "empty", "M", 5, 1.0)] + [(98, "north", "F", 30, 7.0)] * 3 + [(97, None, "F", 5, 1.0)]
    made = Made(shared_db, tmp_path, rows, **ASKED, **SURE)
    shape = shape_of(made.spec)
    assert shape.series[0].l1 == GAP_CHANGE * 3

    def scores(source: str) -> Any:
        with Scratch(shared_db.engine) as scratch:
            coded = code_rows(scratch, shape, ("pid",), shared_db.engine.relation(source))
            return drawing.read_scores(scratch, shape, coded)

    whole = scores(made.source)
    for person in {row[0] for row in rows}:
        other = f"without_{uuid4().hex[:10]}"
        create_table(shared_db, other, COLUMNS, [row for row in rows if row[0] != person])
        change = np.abs(scores(other) - whole)
        assert change.max() <= shape.series[0].most
        assert change.sum() <= shape.series[0].l1
        assert (change**2).sum() <= shape.series[0].l2


@pytest.mark.thorough
@pytest.mark.every_engine
def test_rows_of_a_run_that_was_interrupted_are_drawn_of_the_stored_table(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, people("taken", 40), **ASKED, more="rows: sex")
    with monkeypatch.context() as patched:
        patched.setattr(PublishStage, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            made.run()
    assert made.states() == ["drawn"]
    for module in (noisy, drawing):
        monkeypatch.setattr(module, "add_noise", lambda *_: pytest.fail("noise was drawn again"))
    made.run()
    assert made.states() == ["published"]
    assert len(synthetic(made)) == facts(made)["synthetic"]["rows"]


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", ["values", "numbers"])
def test_rows_that_do_not_agree_with_their_tables_are_withheld_and_charged(
    wrong: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, people("wrong", 400), **ASKED, **SURE)
    draw = drawing.draw_rows

    def others(*given: Any) -> Any:
        found = draw(*given)
        if wrong == "numbers":
            return found[:50]
        found[:, 0] = 0
        return found

    monkeypatch.setattr(drawing, "draw_rows", others)
    with pytest.raises(PrivacyViolation, match="by more than its noise"):
        made.run()
    assert made.states() == ["withheld"]
    assert shared_db.releases(made.name) == ()


@pytest.mark.thorough
@pytest.mark.every_engine
def test_an_audit_notices_rows_that_were_changed(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, people("audit", 50), **ASKED, **SURE)
    made.run()
    name = f"{physical_name(made.name, 1)}_synthetic"
    shared_db.engine.execute(f"""UPDATE _sqlanon."{name}" SET region = 'nowhere' WHERE region = 'north'""")
    audit = shared_db.audit(f"release.{made.view}")
    assert [one.name for one in audit.requirements if not one.satisfied] == ["synthetic rows agree with their tables"]


@pytest.mark.thorough
@pytest.mark.every_engine
def test_rows_go_and_return_with_their_version(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, people("versions", 30), **ASKED, more="rows: sex")
    made.run()
    first = synthetic(made)
    made.run(spend=True)
    second = synthetic(made)
    assert first != second
    shared_db.rollback(made.name)
    assert Counter(map(str, synthetic(made))) == Counter(map(str, first))
    shared_db.unpublish(made.name, purge=True)
    assert not shared_db.engine.exists(shared_db.engine.target(f"release.{made.view}_synthetic"))
    for version in (1, 2):
        physical = shared_db.engine.target(f"_sqlanon.{physical_name(made.name, version)}_synthetic")
        assert not shared_db.engine.exists(physical)


@pytest.mark.thorough
@pytest.mark.every_engine
def test_a_version_without_rows_has_no_view_of_them(shared_db: Any, tmp_path: Path) -> None:
    plain = {**ASKED, "tables": "[{by: [region]}, {by: [sex]}, {by: [age, cost]}]"}
    made = Made(shared_db, tmp_path, people("plain", 30), **plain)
    view = shared_db.engine.target(f"release.{made.view}_synthetic")
    made.run()
    assert not shared_db.engine.exists(view)
    made.write(**plain, more="rows: sex")
    made.run(spend=True)
    assert shared_db.engine.exists(view)
    assert {row["table"] for row in made.rows()} >= {"region", "age, cost"}
    assert len({row["table"] for row in made.rows()}) == 5
    shared_db.rollback(made.name, to=1)
    assert not shared_db.engine.exists(view)
    shared_db.rollback(made.name, to=2)
    assert shared_db.engine.exists(view)


@pytest.mark.thorough
def test_of_noise_alone_there_are_rows_or_none(shared_db: Any, tmp_path: Path) -> None:
    """Each run is verified; none of them fails whatever the noise is."""
    made = Made(
        shared_db,
        tmp_path,
        people("few", 2),
        **ASKED,
        epsilon="0.01",
        budget="epsilon: 9",
        more="rows: sex\n      kept: false",
    )
    many = {made.run(spend=True).noisy.synthetic.rows for _ in range(4)}
    assert min(many) >= 0


@pytest.mark.thorough
def test_a_file_of_its_own_has_the_rows(tmp_path: Path) -> None:
    source = tmp_path / "source.duckdb"
    duckdb.connect(source).close()
    with sqlanon.connect(f"duckdb:///{source}") as db:
        made = Made(db, tmp_path, people("file", 30), **ASKED, more="rows: sex")
        place = tmp_path / "readers.duckdb"
        text = made.file.read_text().replace("    every:", f"    publish_file: {place}\n    every:")
        made.file.write_text(text)
        made.run()
        assert db.audit(f"release.{made.view}", spec=made.spec).satisfied
    with sqlanon.connect(f"duckdb:///{place}") as readers:
        assert len(read_table(readers, ("release", f"{made.view}_synthetic"))) > 0


REFUSED = {
    "a target that is no column of groups": ({"more": "rows: pid"}, "no column of groups"),
    "more rows of a person": ({"more": "rows: sex", "contributions": "{groups: 2, rows: 1}"}, "one row a person"),
    "no number of rows": ({"more": "rows: sex", "measures": "{people: persons}"}, "one number of rows"),
    "a circle": ({"more": "rows: {target: sex, pairs: [[age, region], [region, cost], [cost, age]]}"}, "a circle"),
    "a column that no pair reaches": ({"more": "rows: {target: sex, pairs: [[age, region]]}"}, "do not reach cost"),
    "the target in a pair": ({"more": "rows: {target: sex, pairs: [[age, sex]]}"}, "other than the target"),
    "a table of a pair's name": ({"more": "rows: sex", "tables": "[{by: [cost, age, sex]}]"}, "drawn of"),
    "two columns": ({"more": "rows: sex", "groups": "{sex: [F, M], region: [north]}"}, "fewer than 3 columns"),
    "neither tables nor rows": ({"more": "kept: false"}, "no table"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_gives_no_rows_is_refused(what: str, shared_db: Any, tmp_path: Path) -> None:
    asked, text = REFUSED[what]
    made = Made(shared_db, tmp_path, [], **{**ASKED, **asked})
    with pytest.raises(PolicyError, match=text):
        made.run()


@pytest.mark.thorough
def test_a_plan_says_what_the_rows_cost(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, people("plan", 30), **ASKED, more="rows: sex")
    plan = shared_db.plan(made.spec)
    notes = [note for note in plan.notes if "synthetic rows" in note]
    assert len(notes) == 1
    assert f"release.{made.view}_synthetic; they cost nothing more" in notes[0]
    assert "3 pairs of columns, chosen by noisy scores" in notes[0] or "2 pairs" in notes[0]
