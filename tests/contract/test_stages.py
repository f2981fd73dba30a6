"""What plan announces, stage by stage, is what run does: lineages, tables that are published together, previews.

`test_stages_combined` compares them in every combination of modes.
"""

from __future__ import annotations

import ast
import uuid
from pathlib import Path
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.spec import ReleaseSpec
from tests.contract.modes import COLUMNS, ROWS, logged, make_spec
from tests.contract.test_tables import Hospital, truth_of
from tests.engines import create_table
from tests.frozen import wards


def agreed(db: Any, spec: ReleaseSpec, **asked: bool) -> tuple[list[str], Any]:
    """The stages of a run, which are those of the plan before it."""
    announced = list(db.plan(spec, **{name: value for name, value in asked.items() if name == "new_lineage"}).stages)
    with logged() as done:
        made = db.run(spec, **asked)
    assert done == announced
    return done, made


def test_plan_announces_what_a_lineage_does(shared_db: Any) -> None:
    """It begins, nothing is due, a cohort enters, one is refused, and a new lineage begins."""
    db, table = shared_db, f"staged_{uuid.uuid4().hex[:8]}"
    columns = {"id": "INTEGER", "age": "INTEGER", "dose": "INTEGER", "ill": "TEXT", "cost": "INTEGER"}
    create_table(db, table, columns, [(n, n % 9, n % 5, ("flu", "cold")[n % 2], 1) for n in range(40)])
    spec = wards.spec_of(table, rows=6)
    begins, made = agreed(db, spec)
    assert made.outcome == "published"
    assert any("divide" in stage for stage in begins)
    assert agreed(db, spec)[1].outcome == "unchanged"

    def add(ids: range, ills: tuple[str, str]) -> None:
        rows = ", ".join(f"({n}, {n % 9}, {n % 5}, '{ills[n % 2]}', 1)" for n in ids)
        db.engine.execute(f"INSERT INTO {table} VALUES {rows}")

    add(range(100, 103), ("flu", "cold"))
    waits, made = agreed(db, spec)
    assert made.lineage.waiting == 3
    assert not any("divide" in stage for stage in waits)
    add(range(103, 108), ("flu", "cold"))
    enters, made = agreed(db, spec)
    assert made.lineage.entered == 8
    assert any("profile 8 rows" in stage for stage in enters)
    add(range(200, 208), ("flu", "flu"))  # cannot have l=2
    _, made = agreed(db, spec)
    assert made.lineage.cohort_refused == 8
    db.engine.execute(f"UPDATE {table} SET ill = 'cold' WHERE id >= 204")
    anew, made = agreed(db, spec, new_lineage=True)
    assert made.lineage.number == 2
    assert any("compare with version" in stage for stage in anew)


def test_plan_announces_what_run_does_with_tables_together(shared_db: Any, tmp_path: Path) -> None:
    """Also where nothing changed but another table."""
    hospital = Hospital(shared_db, truth_of(2), tmp_path)
    db = hospital.db

    def agree() -> list[str]:
        specs = hospital.specs
        announced = [list(db.plan(spec, beside=specs).stages) for spec in specs]
        with logged() as done:
            hospital.run()
        assert announced == [done] * 3
        return done

    first = agree()
    assert sum("divide" in stage for stage in first) == 3
    assert len(agree()) == 1 + 3
    db.engine.execute(f"UPDATE {hospital.tables[0]} SET age = 8 - age")
    assert agree()[-1].count("version 2 of") == 3


KEYED = """\
version: 1
releases:
  - name: {name}
    person: pid
    suppression: {{limit: 1, rows: left_out}}
    tables:
      - source: {name}_a
        key: [pid]
        columns: {{pid: pseudonym, born: quasi, sex: quasi}}
        privacy: {{k: 3}}
      - source: {name}_b
        key: [stay]
        columns: {{stay: identifier, pid: pseudonym, ward: quasi, ill: sensitive}}
        privacy: {{k: 3, l: 2}}
"""


@pytest.mark.thorough
def test_plan_of_tables_with_keys_compares_its_own(shared_db: Any) -> None:
    """Of all stages those of its table alone are carried out."""
    db, name = shared_db, f"keyed_{uuid.uuid4().hex[:8]}"
    create_table(
        db,
        f"{name}_a",
        {"pid": "INTEGER", "born": "INTEGER", "sex": "TEXT"},
        [(n, 1950 + n, "FM"[n % 2]) for n in range(1, 13)],
    )
    create_table(
        db,
        f"{name}_b",
        {"stay": "INTEGER", "pid": "INTEGER", "ward": "TEXT", "ill": "TEXT"},
        [
            (100 * j + n, n, "ABC"[n % 3], ("flu", "gout", "asthma", "cold")[(n + j) % 4])
            for n in range(1, 13)
            for j in (0, 1)
        ],
    )
    specs = policy.loads(KEYED.format(name=name), {}).releases
    db.run_tables(specs)
    db.engine.execute(f"INSERT INTO {name}_b VALUES (999, 1, 'A', 'p')")
    announced = [list(db.plan(spec, beside=specs).stages) for spec in specs]
    with logged() as done:
        db.run_tables(specs)
    assert announced == [done] * 2
    assert sum("compare with version 1" in stage for stage in done) == 2


def test_preview_stops_in_the_list(shared_db: Any, tmp_path: Path) -> None:
    db, table = shared_db, f"staged_{uuid.uuid4().hex[:8]}"
    create_table(db, table, COLUMNS, ROWS)
    spec = make_spec(("rows", "ranges", "k", "all rows", "fast", "key", "view"), table, tmp_path)
    announced = list(db.plan(spec).stages)
    with logged() as done:
        db.preview(spec, 3)
    assert done == [stage for stage in announced if stage in done]
    assert "divide" in done[-1]
    assert done[-1] == announced[len(done) - 1]


def test_the_kind_of_versions_is_asked_once() -> None:
    """What builds and carries out the list of stages asks for no mode: they are chosen by then."""
    folder = Path(policy.__file__).parents[1] / "release"
    asked = {"frozen", "whole", "token", "own_boxes", "lineage"}
    files = [folder / name for name in ("run.py", "plan.py", "preview.py")]
    files += sorted((folder / "stages").glob("*.py")) + sorted((folder / "plans").glob("*.py"))
    found = [
        f"{file.name}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in asked
    ]
    assert found == []
