"""A dbt project as a policy: the models that ask for a release, and the database they were built in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon import policy
from sqlanon.dbt import profile as profiles
from sqlanon.dbt.files import Renderer, read_json, read_yaml
from sqlanon.dbt.manifest import Manifest, ReleasedModel, read_manifest
from sqlanon.dbt.places import KEY, Places, Yaml
from sqlanon.errors import PolicyError
from sqlanon.spec import PolicySpec, ReleaseSpec

PROJECT = "dbt_project.yml"


@dataclass(frozen=True, slots=True)
class Project:
    """The releases of a dbt project.

    Attributes:
        policy: the releases and the connection, as a policy file would give them.
        models: release -> the model it is made of.
        not_releasable: release -> why it must not be made now, in words.
    """

    policy: PolicySpec
    models: Mapping[str, str]
    not_releasable: Mapping[str, str]


def load(
    project_dir: str | os.PathLike[str] | None = None,
    *,
    profiles_dir: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    target: str | None = None,
    target_path: str | os.PathLike[str] | None = None,
    db: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Project:
    """Read a dbt project that dbt has built: manifest, results of the last run, and profile.

    Args:
        project_dir: the project; None: DBT_PROJECT_DIR, else here or the nearest folder above that holds a project.
        profiles_dir: the folder of profiles.yml; None: as dbt looks for it.
        profile: the profile; None: DBT_PROFILE, else the project's own.
        target: the profile's target; None: DBT_TARGET, else the profile's own.
        target_path: dbt's target folder, relative to the project; None: DBT_TARGET_PATH, else the project's own.
        db: a database URL instead of the profile's.
        environ: the environment's variables; None: this process's.

    Raises:
        PolicyError: with every problem of every model, each with file and line.
    """
    environ = os.environ if environ is None else environ
    folder = _folder(project_dir, environ)
    described = read_yaml(folder / PROJECT)
    renderer = Renderer(folder / PROJECT, environ)

    def setting(key: str, variable: str, otherwise: str) -> str:
        if environ.get(variable):
            return environ[variable]
        value = renderer.render(described.get(key), key)
        return str(value) if value else otherwise

    artifacts = folder / (target_path or setting("target-path", "DBT_TARGET_PATH", "target"))
    packages = str(renderer.render(described.get("packages-install-path"), "packages-install-path") or "")
    manifest = read_manifest(artifacts / "manifest.json", packages or "dbt_packages")
    database = None
    if db is None:
        profile_name = profile or setting("profile", "DBT_PROFILE", "")
        if not profile_name:
            raise PolicyError(f"{folder / PROJECT}: names no profile; --profile does")
        place = profiles.find(Path(profiles_dir) if profiles_dir else None, environ)
        connection = profiles.read_connection(place, profile_name, target, folder, environ)
        if manifest.adapter not in (None, connection.adapter):
            raise PolicyError(
                f"{manifest.path}: written for {manifest.adapter}, but the target is {connection.adapter}; run dbt for "
                "this target first, or name the other one with --target"
            )
        db, database = connection.url, connection.database
    releases = _releases(manifest, folder, database)
    reasons = find_failed(artifacts / "run_results.json", manifest)
    return Project(
        policy=PolicySpec(db, tuple(spec for spec, _ in releases), str(manifest.path)),
        models={spec.name: model.name for spec, model in releases},
        not_releasable={spec.name: reasons[model.node] for spec, model in releases if model.node in reasons},
    )


def _folder(path: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Path:
    """The project's directory."""
    named_folder = path or environ.get("DBT_PROJECT_DIR")
    if named_folder:
        if (Path(named_folder) / PROJECT).is_file():
            return Path(named_folder)
        raise PolicyError(f"no {PROJECT} in {named_folder}; --project-dir names the folder of a dbt project")
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PROJECT).is_file():
            return Path(os.path.relpath(folder))  # short in messages
    raise PolicyError(f"no {PROJECT} here or above; name the dbt project with --project-dir")


def _releases(manifest: Manifest, folder: Path, database: str | None) -> list[tuple[ReleaseSpec, ReleasedModel]]:
    """Every model's spec, or a single error with the problems of all."""
    if not manifest.asked:
        raise PolicyError(f"{manifest.path}: no model asks for a release; give one a config.meta.{KEY}")
    problems: list[str] = []
    releases: list[tuple[ReleaseSpec, ReleasedModel, Places]] = []
    yaml = Yaml()
    for model in manifest.asked:
        places = Places(model.name, folder / model.patch if model.patch else None, folder / model.file, yaml)
        wrong = _out_of_place(model, database) or _find_change(model, manifest, folder)
        if wrong:
            problems.append(f"{places.place(())[1]}: {wrong}")
            continue
        try:
            spec = policy.freeze_embedded(_raw(model, places), places, folder)
        except PolicyError as error:
            problems += error.problems
        else:
            releases.append((spec, model, places))
    problems += _find_shared_places(releases)
    if problems:
        raise PolicyError(problems)
    return [(spec, model) for spec, model, _ in releases]


def _out_of_place(model: ReleasedModel, database: str | None) -> str:
    if model.problem:
        return model.problem
    if not isinstance(model.block, dict):
        return "not a mapping; key: value pairs, such as {privacy: {k: 10}}, or false"
    if database is not None and model.database and model.database.lower() != database.lower():
        return (
            f"the model is in the database {model.database}, and the target's is {database}; run dbt for this target "
            "first, or name the database with --db"
        )
    return ""


def _find_change(model: ReleasedModel, manifest: Manifest, folder: Path) -> str:
    """Whether the project was edited after dbt wrote the manifest: the policy might be outdated."""
    written_at = manifest.path.stat().st_mtime_ns
    for file in (model.patch, model.file, Path(PROJECT)):
        if file and (folder / file).is_file() and (folder / file).stat().st_mtime_ns > written_at:
            return f"{file} was changed after {manifest.path.name} was written; run dbt build, or dbt parse"
    return ""


def _raw(model: ReleasedModel, places: Places) -> dict[str, Any]:
    """The keys of a policy's release: the block, with the model as the source and the columns' roles.

    Raises:
        PolicyError: the block repeats a key of the model.
    """
    assert isinstance(model.block, dict)
    elsewhere = {
        "source": "the model is the source; leave it out",
        "columns": f"roles belong in each column's own meta: {{name: age, config: {{meta: {{{KEY}: quasi}}}}}}",
    }
    wrong = [f"{places.place(())[1]}.{key}: {what}" for key, what in elsewhere.items() if key in model.block]
    if wrong:
        raise PolicyError(wrong)
    source = ".".join(_part(part) for part in (model.schema, model.table))
    return {"name": model.table, **model.block, "source": source, "columns": dict(model.columns)}


def _part(name: str) -> str:
    """A part of a table's name as a policy writes it."""
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _find_shared_places(releases: list[tuple[ReleaseSpec, ReleasedModel, Places]]) -> list[str]:
    """Releases that share a name, a view or a file."""
    first: dict[tuple[str, str], str] = {}
    problems = []
    for spec, model, places in releases:
        file = os.path.realpath(spec.publish_file) if spec.publish_file else None
        view = None if file else (spec.publish or "").casefold()
        for key, value in (("name", spec.name), ("publish", view), ("publish_file", file)):
            first_model = first.setdefault((key, value), model.name) if value else model.name
            if first_model != model.name:
                what = f"the same as that of the model {first_model}; each release has its own"
                problems.append(f"{places.place((key,))[1]}: {what}")
    return problems


_BAD = ("error", "fail", "runtime error", "skipped", "partial success")
"""The states of a node with children that dbt skips."""


def find_failed(path: Path, manifest: Manifest) -> dict[str, str]:
    """Model id -> why a release must not be made of it: dbt would not build the children either.

    A model that dbt's last command did not touch was built by an earlier command: nothing is known against it.

    Raises:
        PolicyError: the file is there and cannot be read.
    """
    if not path.is_file():
        return {}
    results = read_json(path).get("results")
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        raise PolicyError(f"{path}: not the results of a dbt run; run dbt build")
    reasons: dict[str, str] = {}
    models = {model.node for model in manifest.asked}
    for result in results:
        node, status = str(result.get("unique_id")), str(result.get("status"))
        if status not in _BAD:
            continue
        if node in models:
            reasons[node] = f"dbt did not build the model when it last ran ({status})"
        elif (about := manifest.tests.get(node)) in models and status != "skipped":
            assert about is not None
            name = node.split(".")[2] if node.count(".") >= 2 else node
            reasons.setdefault(about, f"the model's test {name} did not pass when dbt last ran ({status})")
    return {node: f"{reason}; repair it and run dbt build" for node, reason in reasons.items()}
