"""What plan announces, stage by stage, is what run does: in every mode, in every state of a release."""

from __future__ import annotations

import ast
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.spec import ReleaseSpec
from tests.contract.test_tables import Hospital, truth_of
from tests.engines import create_table
from tests.frozen import wards

COLUMNS = {"id": "INTEGER", "pid": "INTEGER", "age": "INTEGER", "zip": "INTEGER", "ill": "TEXT"}
ROWS = [(n, n // 2, n % 8, (n * 7) % 5, "abc"[n % 3]) for n in range(48)]
MODES: dict[str, dict[str, Any]] = {
    "rows": {},
    "key": {"key": "id"},
    "l and t": {"l": 2, "t": 0.9},
    "suppressed": {"method": "suppress", "format": "suppressed", "suppression": {"limit": 1}},
    "persons by rows": {"person": "pid", "persons": "rows"},
    "persons whole": {"person": "pid", "persons": "whole", "key": "id"},
    "tokens": {"pseudonyms": "pid", "person": "pid", "persons": "whole"},
    "boxes of their own": {"method": "freeform", "boxes": "own", "key": "id"},
    "two tables": {"format": "anatomy", "method": "anatomy", "l": 2, "k": None},
    "population": {
        "method": {"name": "fulldomain", "search": "global"},
        "hierarchies": {"age": "steps:2,4,8", "zip": "steps:5"},
        "k_map": {"k": 2, "population": "$people"},
    },
    "refined": {"refine": True, "key": "id"},
    "another file": {"publish_file": "$file"},
}


@contextmanager
def logged() -> Iterator[list[str]]:
    """The stages that are carried out meanwhile."""
    found: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    log, handler = logging.getLogger("sqlanon.stages"), Keeping()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def spec_of(mode: str, table: str, folder: Path, **more: Any) -> ReleaseSpec:
    """The release of a table in a mode."""
    options: dict[str, Any] = {"k": 2, **MODES[mode], **more}
    named = {name for key in ("identifiers", "pseudonyms") for name in [options.get(key)]}
    if "k_map" in options:
        options["k_map"] = {**options["k_map"], "population": f"{table}_people"}
    if "publish_file" in options:
        options["publish_file"] = str(folder / f"{table}.duckdb")
    identifiers = [name for name in ("id", "pid") if name not in named]
    options = {"identifiers": identifiers, "quasi": ["age", "zip"], "sensitive": "ill", **options}
    if "person" not in options:
        options["accept_repeats"] = "pid"
    if options.get("l") is None and options.get("t") is None:
        options["accept_unique"] = "ill"
    return policy.release(source=table, name=table, publish=f"release.{table}", **options)


def agreed(db: Any, spec: ReleaseSpec, **asked: bool) -> tuple[list[str], Any]:
    """The stages of a run, which are those of the plan before it."""
    announced = list(db.plan(spec, **{name: value for name, value in asked.items() if name == "new_lineage"}).stages)
    with logged() as done:
        made = db.run(spec, **asked)
    assert done == announced
    return done, made


@pytest.mark.parametrize("mode", MODES)
def test_plan_announces_what_run_does(shared_db: Any, tmp_path: Path, mode: str) -> None:
    """At first, unchanged, with other rows, and with another policy."""
    db, table = shared_db, f"staged_{uuid.uuid4().hex[:8]}"
    if mode == "another file" and db.engine.second_file is None:
        pytest.skip("the engine publishes into no other file")
    create_table(db, table, COLUMNS, ROWS)
    create_table(db, f"{table}_people", COLUMNS, ROWS)
    spec = spec_of(mode, table, tmp_path)
    first, made = agreed(db, spec)
    assert (made.outcome, made.version) == ("published", 1)
    assert first[0].startswith("read ")
    assert first[-1] == f"write, verify and publish version 1 of {table}"
    same, made = agreed(db, spec)
    assert made.outcome == "unchanged"
    assert same == [first[0], f"{table}: leave version 1 as it is"]
    db.engine.execute(f"UPDATE {table} SET age = 7 - age")
    db.engine.execute(f"UPDATE {table}_people SET age = 7 - age")
    changed, made = agreed(db, spec_of(mode, table, tmp_path, max_failing=48) if "key" in MODES[mode] else spec)
    assert (made.outcome, made.version) == ("published", 2)
    assert len(changed) >= len(first)


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
    spec = spec_of("key", table, tmp_path)
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
