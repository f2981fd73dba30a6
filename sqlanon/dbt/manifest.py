"""dbt's manifest.json: models that ask for a release, with their settings and the place where those are written.

Lenient where dbt's versions differ, strict where privacy depends on it: an ``anonymize`` that would be passed over in
silence is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlanon.dbt.files import read_json
from sqlanon.dbt.places import KEY
from sqlanon.errors import PolicyError

OLDEST = 10
"""manifest/v10 is dbt 1.6's; older ones keep meta elsewhere."""

_WRITE = "let dbt write it anew: dbt build, or dbt parse"


@dataclass(frozen=True, slots=True)
class ReleasedModel:
    """A model that asks for a release.

    Attributes:
        node: id of the model in the manifest.
        name: the model's name in the project.
        database, schema, table: the table that dbt built.
        patch: the YAML file that describes it, relative to the project; None if none does.
        file: the model's own file, likewise.
        block: the value of ``anonymize`` in the model's meta.
        columns: the value of ``anonymize`` in the meta of each column that has it.
        problem: why it cannot be released, whatever the block contains; empty if it can.
    """

    node: str
    name: str
    database: str
    schema: str
    table: str
    patch: Path | None
    file: Path
    block: object
    columns: Mapping[str, object]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of manifest.json that are read.

    Attributes:
        adapter: dbt's name for the kind of database; None if it does not say.
        asked: the models that ask for a release, in the manifest's order.
        tests: id of a test -> id of the model it is about.
    """

    path: Path
    adapter: str | None
    asked: tuple[ReleasedModel, ...]
    tests: Mapping[str, str] = field(repr=False)


def read_manifest(path: Path, packages: str) -> Manifest:
    """Read manifest.json.

    Args:
        path: the file.
        packages: the folder of installed packages, relative to the project.

    Raises:
        PolicyError: it is not there, too old, or not in dbt's format.
    """
    if not path.is_file():
        raise PolicyError(f"no {path}: run dbt build first (--project-dir and --target-path say where to look)")
    data = read_json(path)
    metadata, nodes, sources = (_read_mapping(data, key, path) for key in ("metadata", "nodes", "sources"))
    match = re.search(r"manifest/v(\d+)", str(metadata.get("dbt_schema_version")))
    if not match:
        raise PolicyError(f"{path}: not a manifest of dbt; {_WRITE}")
    if int(match[1]) < OLDEST:
        raise PolicyError(f"{path}: written by a dbt before 1.6 (manifest/v{match[1]}); use a newer dbt")
    project = str(metadata.get("project_name") or "")
    try:
        models = tuple(_find_asked([*nodes.items(), *sources.items()], project, Path(packages)))
        tests = {key: model for key, node in nodes.items() if (model := _about(node))}
    except (KeyError, TypeError, AttributeError):
        raise PolicyError(f"{path}: not a manifest that sqlanon can read; {_WRITE}") from None
    adapter = metadata.get("adapter_type")
    return Manifest(path, str(adapter) if adapter else None, models, tests)


def _read_mapping(data: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise PolicyError(f"{path}: {key} is not an object; {_WRITE}")
    return value


def _find_asked(nodes: list[tuple[str, Any]], project: str, packages: Path) -> Iterator[ReleasedModel]:
    for key, node in nodes:
        kind = node["resource_type"]
        block, problem = _find_own_block(node)
        if not problem and block in (None, False) and KEY not in _meta(node):
            continue
        if not problem and block is False:  # a model may take back the request of its folder
            continue
        if not problem and kind != "model":
            problem = f"is set on a {kind}; only models are released: select from it in one"
        elif not problem and (node.get("config") or {}).get("materialized") == "ephemeral":
            problem = "the model is ephemeral, so nothing is built to release; make it a view or a table"
        columns = {}
        for name, column in (node.get("columns") or {}).items():
            settings, twice = _find_own_block(column)
            problem = problem or (f"column {name}: {twice}" if twice else "")
            if KEY in _meta(column):
                columns[str(column.get("name") or name)] = settings
        package = str(node.get("package_name") or project)
        base = Path() if package == project else packages / package
        patch = node.get("patch_path")
        yield ReleasedModel(
            node=str(key),
            name=str(node["name"]),
            database=str(node.get("database") or ""),
            schema=str(node["schema"]),
            table=str(node.get("alias") or node["name"]),
            patch=base / str(patch).partition("://")[2] if patch else None,
            file=base / str(node.get("original_file_path") or node.get("path") or ""),
            block=block,
            columns=columns,
            problem=problem,
        )


def _meta(node: Mapping[str, Any]) -> dict[str, Any]:
    """Both places of meta together; dbt's versions fill either or both."""
    config = node.get("config") or {}
    return {**(node.get("meta") or {}), **(config.get("meta") or {})}


def _find_own_block(node: Mapping[str, Any]) -> tuple[object, str]:
    """The value of our key, and the problem of the place."""
    config = node.get("config") or {}
    if KEY in config:
        return config[KEY], f"is in config itself; it belongs in config.meta.{KEY}"
    blocks = [meta[KEY] for meta in (config.get("meta") or {}, node.get("meta") or {}) if KEY in meta]
    if len(blocks) == 2 and blocks[0] != blocks[1]:
        return blocks[0], "meta and config.meta say different things; say it in config.meta"
    return (blocks[0] if blocks else None), ""


def _about(node: Mapping[str, Any]) -> str | None:
    """The model that a test is about: the model it is attached to, or the only thing that it reads."""
    if node["resource_type"] != "test":
        return None
    parents = (node.get("depends_on") or {}).get("nodes") or []
    attached = node.get("attached_node") or (parents[0] if len(parents) == 1 else None)
    return str(attached) if attached else None
