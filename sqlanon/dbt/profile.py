"""The database of a dbt target: profiles.yml to a connection URL. The rest of a project belongs in `project`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from sqlanon.dbt.files import Renderer, read_yaml
from sqlanon.errors import PolicyError, UnsupportedError


@dataclass(frozen=True, slots=True)
class Connection:
    """Where dbt builds. The URL may hold a password, so it is left out of ``repr``.

    Attributes:
        url: as `sqlanon.connect` takes it.
        adapter: dbt's name for the kind of database.
        database: dbt's name of the database in the manifest; None: dbt has none for this adapter.
    """

    url: str = field(repr=False)
    adapter: str
    database: str | None


def find(profiles_dir: Path | None, environ: Mapping[str, str]) -> Path:
    """The profiles.yml that dbt would take: of --profiles-dir, else DBT_PROFILES_DIR, else here, else ~/.dbt.

    Raises:
        PolicyError: there is none.
    """
    named_folder = profiles_dir or (Path(folder_name) if (folder_name := environ.get("DBT_PROFILES_DIR")) else None)
    folders = [named_folder] if named_folder else [Path(), Path.home() / ".dbt"]
    for folder in folders:
        if (folder / "profiles.yml").is_file():
            return folder / "profiles.yml"
    looked = " and ".join(str(folder.resolve()) for folder in folders)
    raise PolicyError(f"no profiles.yml in {looked}; name its folder with --profiles-dir")


def read_connection(
    path: Path, profile: str, target: str | None, project: Path, environ: Mapping[str, str]
) -> Connection:
    """The database of a target.

    Args:
        path: profiles.yml.
        profile: the profile that the project names.
        target: the target; None: DBT_TARGET, else the profile's own.
        project: the dbt project's directory.
        environ: variables for ``env_var``.

    Raises:
        PolicyError: the profile or the target is not there, or a value of it cannot be used.
        UnsupportedError: a kind of database that sqlanon does not know.
    """
    profiles = read_yaml(path)
    renderer = Renderer(path, environ)
    settings = profiles.get(profile)
    outputs = settings.get("outputs") if isinstance(settings, dict) else None
    if not isinstance(settings, dict) or not isinstance(outputs, dict):
        raise PolicyError(f"{path}: no profile {profile} with outputs; dbt_project.yml or --profile names it")
    target_name = target or environ.get("DBT_TARGET") or renderer.render(settings.get("target", "default"), "target")
    output = outputs.get(target_name)
    if not isinstance(output, dict):
        raise PolicyError(
            f"{path}: profile {profile} has no target {target_name}; it has: {', '.join(map(str, outputs))}"
        )
    where = f"{profile}.outputs.{target_name}"
    # Only the chosen target is rendered: others may need variables that are not set here.
    values = renderer.render(output, where)
    assert isinstance(values, dict)
    kind = str(values.get("type", ""))
    if kind not in _ADAPTERS:
        raise UnsupportedError(
            f"{path}: {where}: sqlanon has no engine for dbt's adapter {kind!r}; it has: {', '.join(_ADAPTERS)}"
        )
    return _ADAPTERS[kind](_Output(path, where, values, project, environ))


@dataclass(frozen=True, slots=True)
class _Output:
    """A rendered target of profiles.yml."""

    path: Path
    where: str
    values: Mapping[str, Any] = field(repr=False)
    project: Path
    environ: Mapping[str, str] = field(repr=False)

    def get(self, *keys: str) -> str | None:
        """The first of these keys that is set, as text."""
        value = next((self.values[key] for key in keys if self.values.get(key) is not None), None)
        return None if value is None else str(value)

    def need(self, *keys: str) -> str:
        """As `get`, but it must be there."""
        value = self.get(*keys)
        if not value:
            raise self.wrong(f"{keys[0]} is missing")
        return value

    def wrong(self, what: str) -> PolicyError:
        """An error at this target."""
        return PolicyError(f"{self.path}: {self.where}: {what}")


def _duckdb(output: _Output) -> Connection:
    path = output.get("path") or ":memory:"
    if path == ":memory:":
        raise output.wrong("path is :memory:, which ends with dbt's own process; give it a file")
    if ":" in path.split("/", maxsplit=1)[0] or output.values.get("is_ducklake"):
        raise output.wrong("path is not a local DuckDB file; sqlanon opens files")
    # dbt-duckdb starts a relative path in the working directory of dbt, which need not be the project's.
    places = {Path(os.path.realpath(base / path)) for base in (Path(), output.project)}
    files = sorted(place for place in places if place.is_file())
    if len(files) != 1:
        problem = "both are there" if files else "neither is a file" if len(places) > 1 else "is not a file"
        raise output.wrong(
            f"path is relative to where dbt ran; {' and '.join(map(str, sorted(places)))}: {problem}; run dbt first, "
            "run sqlanon in the same directory, or name the database with --db"
        )
    # As DuckDB names the database of a file.
    return Connection(f"duckdb:///{files[0]}", "duckdb", files[0].name.lstrip(".").split(".", maxsplit=1)[0])


_LIBPQ = ("sslmode", "sslcert", "sslkey", "sslrootcert", "connect_timeout", "keepalives_idle")
"""Settings of dbt-postgres that libpq knows by the same name."""


def _postgres(output: _Output) -> Connection:
    database = output.need("dbname", "database")
    values = {
        "host": output.need("host"),
        "port": output.get("port") or "5432",
        "user": output.need("user"),
        "dbname": database,
        "password": output.get("password", "pass"),
        **{key: output.get(key) for key in _LIBPQ},
    }
    options = [
        f"-c {key}={_escape(value)}" for key in ("role", "search_path") if (value := output.get(key)) is not None
    ]
    if options:
        values["options"] = " ".join(options)
    # All as parameters: a host may be a directory, and every other part may hold any character.
    parameters = {key: value for key, value in values.items() if value not in (None, "")}
    if parameters.get("keepalives_idle") == "0":  # dbt's word for the default
        del parameters["keepalives_idle"]
    return Connection(f"postgresql://?{urlencode(parameters, quote_via=quote)}", "postgres", database)


def _escape(value: str) -> str:
    """A value inside libpq's ``options``, where a space ends it."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def _spark(output: _Output) -> Connection:
    """The server of Spark Connect that a session of dbt-spark uses: pyspark takes it from either place."""
    parameters = output.values.get("server_side_parameters")
    server = parameters.get("spark.remote") if isinstance(parameters, dict) else None
    server = str(server or output.environ.get("SPARK_REMOTE") or "")
    if output.get("method") != "session" or not server.lower().startswith("sc://"):
        raise output.wrong(
            "names no server of Spark Connect; name one that has the models in its catalog: --db sc://host:15002, or "
            "here as spark.remote of server_side_parameters, with method: session"
        )
    return Connection(server, "spark", None)


_ADAPTERS: Mapping[str, Callable[[_Output], Connection]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "spark": _spark,
}
