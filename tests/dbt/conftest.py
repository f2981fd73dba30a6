"""A handwritten dbt project as dbt leaves it.

Its files follow manifests that dbt 1.6 to 1.11 wrote.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SCHEMA_YML = """\
models:
  - name: other
  - name: people
    config:
      meta:
        anonymize:
          privacy:
            k: 5
            l: 2
    columns:
      - name: id
        config: {meta: {anonymize: identifier}}
      - name: age
        config:
          meta:
            anonymize:
              role: quasi
              weight: 2
      - name: zip
        meta: {anonymize: quasi}
      - name: sex
        config: {meta: {anonymize: quasi}}
      - name: disease
        config: {meta: {anonymize: {role: sensitive}}}
"""
BLOCK: dict[str, Any] = {"privacy": {"k": 5, "l": 2}}
ROLES: dict[str, Any] = {
    "id": "identifier",
    "age": {"role": "quasi", "weight": 2},
    "zip": "quasi",
    "sex": "quasi",
    "disease": {"role": "sensitive"},
}
PROFILES = """\
shop:
  target: "{{ env_var('SHOP_TARGET', 'dev') }}"
  outputs:
    dev: {type: duckdb, path: "{{ env_var('SHOP_FILE', 'warehouse.duckdb') }}", threads: 1}
    nowhere: {type: postgres, host: "{{ env_var('SHOP_HOST_THAT_NOBODY_SET') }}"}
"""


@dataclass
class DbtProject:
    """The files of a project; change the fields, then `write`."""

    folder: Path
    node: dict[str, Any]
    version: int = 12
    metadata: dict[str, Any] = field(default_factory=lambda: {"project_name": "shop", "adapter_type": "duckdb"})
    nodes: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Any] = field(default_factory=dict)
    results: list[dict[str, Any]] | None = None

    def write(self) -> DbtProject:
        """The files, the manifest last."""
        (self.folder / "models").mkdir(parents=True, exist_ok=True)
        target = self.folder / "target"
        target.mkdir(exist_ok=True)
        for name, text in (
            ("dbt_project.yml", "name: shop\nprofile: shop\n"),
            ("profiles.yml", PROFILES),
            ("models/schema.yml", SCHEMA_YML),
            ("models/people.sql", "select 1"),
        ):
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text)
        place = f"https://schemas.getdbt.com/dbt/manifest/v{self.version}.json"
        manifest = {
            "metadata": {"dbt_schema_version": place, **self.metadata},
            "nodes": {"model.shop.people": self.node, **self.nodes},
            "sources": self.sources,
            "exposures": {},
        }
        (target / "manifest.json").write_text(json.dumps(manifest))
        if self.results is not None:
            (target / "run_results.json").write_text(json.dumps({"results": self.results}))
        for path in self.folder.rglob("*.*"):
            os.utime(path, ns=(1, 1))
        os.utime(target / "manifest.json")
        return self

    def copy_of_node(self, name: str, **changes: Any) -> None:
        """Another model like the first."""
        node = copy.deepcopy(self.node) | {"name": name, "alias": name} | changes
        self.nodes[f"model.shop.{name}"] = node


def node(version: int) -> dict[str, Any]:
    """The model ``people`` as that version of the manifest has it."""
    columns: dict[str, Any] = {}
    for name, role in ROLES.items():
        columns[name] = {"name": name, "description": "", "meta": {"anonymize": role}, "data_type": None}
        if version >= 12:
            columns[name]["config"] = {"meta": {"anonymize": role}, "tags": []}
    return {
        "resource_type": "model",
        "package_name": "shop",
        "name": "people",
        "alias": "people",
        "database": "warehouse",
        "schema": "main",
        "original_file_path": "models/people.sql",
        "patch_path": "shop://models/schema.yml",
        "config": {"materialized": "table", "meta": {"anonymize": copy.deepcopy(BLOCK)}},
        "meta": {"anonymize": copy.deepcopy(BLOCK)},
        "columns": columns,
        "depends_on": {"nodes": []},
    }


@pytest.fixture(params=(10, 11, 12), ids=lambda version: f"v{version}")
def every_version(request: pytest.FixtureRequest, tmp_path: Path) -> DbtProject:
    """The project as each version of dbt writes it."""
    return DbtProject(tmp_path / "shop", node(request.param), request.param)


@pytest.fixture
def project(tmp_path: Path) -> DbtProject:
    """The project as the newest version writes it."""
    return DbtProject(tmp_path / "shop", node(12))


@pytest.fixture
def filled(project: DbtProject) -> DbtProject:
    """The project with its DuckDB file and 60 people in it."""
    import duckdb

    project.write()
    with duckdb.connect(str(project.folder / "warehouse.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 1000 + i AS id, 20 + i * 7 % 41 AS age, 'z' || i % 5 AS zip, "
            "['F', 'M'][1 + i // 3 % 2] AS sex, ['flu', 'asthma', 'ulcer'][1 + i % 3] AS disease FROM range(60) AS r(i)"
        )
    return project
