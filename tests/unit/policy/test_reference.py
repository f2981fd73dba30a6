"""The JSON Schema and the reference made from it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlanon.policy import reference, schema

ROOT = Path(__file__).parents[3]


def test_the_documented_reference_is_the_generated_one() -> None:
    """After a change: python -c "from sqlanon.policy import reference; print(reference(), end='')" > docs/policy.md."""
    assert (ROOT / "docs/policy.md").read_text(encoding="utf-8") == reference()


def test_every_key_is_described_and_closed() -> None:
    made = schema()
    assert json.loads(json.dumps(made)) == made
    for name, part in {"": made, **made["$defs"]}.items():
        assert part["additionalProperties"] is False or name in ("MethodModel", "TablesModel")
        for key, field in part["properties"].items():
            assert len(field["description"]) > 10, key


def test_references_of_the_schema_lead_somewhere() -> None:
    made = schema()

    def refs(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if "$ref" in value else []
            return own + [ref for item in value.values() for ref in refs(item)]
        return [ref for item in value for ref in refs(item)] if isinstance(value, list) else []

    found = refs(made)
    assert {"#/$defs/" + name for name in made["$defs"]} == set(found)


def test_the_schema_says_what_is_allowed() -> None:
    made = schema()
    column, release = made["$defs"]["ColumnModel"], made["$defs"]["ReleaseModel"]
    assert made["required"] == ["version", "releases"]
    assert release["required"] == ["name", "source", "columns", "privacy"]
    assert column["properties"]["role"]["enum"] == ["identifier", "pseudonym", "quasi", "sensitive", "insensitive"]
    assert column["properties"]["weight"]["maximum"] == 1024
    assert {form.get("type") for form in release["properties"]["memory"]["anyOf"]} == {"integer", "string", "null"}


def test_the_room_imports_nothing_of_sqlanon_but_the_ground_floor_and_what_is_declared() -> None:
    for path in (ROOT / "sqlanon/policy").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlanon"):
                assert node.module.split(".")[1] in (
                    "declared",
                    "policy",
                    "spec",
                    "noisy_spec",
                    "statistics_spec",
                    "decision_spec",
                    "workload_spec",
                    "errors",
                    "lack",
                    "lake_names",
                    "column_spec",
                    "state_url",
                    "bounded_file",
                ), path


def test_importing_the_room_starts_no_engine() -> None:
    code = (
        "import sys, sqlanon.policy; print([m for m in ('duckdb', 'numba', 'numpy', 'psycopg', 'sqlglot') if m in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
