"""dbt and sqlanon in turns: seeds and staging, the release, its tests, a mart and an exposure.

python -m examples.dbt_hospital.run [--engine duckdb|postgres|both] [--db URL]
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from examples.sources import duckdb_url, postgres_missing, postgres_url
from examples.walk import ROOT, arguments

FOLDER = Path(__file__).parent
COMMANDS = (
    "dbt deps",
    "dbt build --exclude source:release+",
    "sqlanon dbt run",
    "dbt build --select source:release+",
)
"""What a schedule would run, in this order, in the project's folder."""


def dbt_folder() -> Path | None:
    """Where the programs of an environment with dbt are: SQLANON_DBT, or what ``dev.py test`` made."""
    for folder in (os.environ.get("SQLANON_DBT"), ROOT / ".venv-dbt" / "bin"):
        if folder and (Path(folder) / "dbt").is_file():
            return Path(folder)
    return None


def environment(url: str) -> dict[str, str]:
    """This process's environment with what profiles.yml reads for a database, and without anything that calls home."""
    target = "duckdb" if url.startswith("duckdb:") else "postgres"
    given = {"DBT_TARGET": target, "DO_NOT_TRACK": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    if target == "duckdb":
        given["HOSPITAL_DUCKDB"] = url.removeprefix("duckdb:///")
    else:
        from psycopg.conninfo import conninfo_to_dict

        known = conninfo_to_dict(url)
        parts = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password", "DATABASE": "dbname"}
        given |= {f"HOSPITAL_{name}": str(known[key]) for name, key in parts.items() if known.get(key)}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **given, "PYTHONPATH": path}


def words(command: str, dbt: Path) -> list[str]:
    """A command of `COMMANDS` as a process is started: dbt from its environment, sqlanon from this one."""
    program, *rest = shlex.split(command)
    return [str(dbt / "dbt"), *rest] if program == "dbt" else [sys.executable, "-m", "sqlanon", *rest]


def _one(url: str, dbt: Path) -> int:
    for command in COMMANDS:
        print(f"\n$ {command}", flush=True)
        code = subprocess.run(words(command, dbt), cwd=FOLDER, env=environment(url), check=False).returncode
        if code:
            return code
    return 0


def main() -> int:
    """Run `COMMANDS` on every engine asked for."""
    options = arguments(__doc__)
    dbt = dbt_folder()
    if dbt is None:
        print("skipped: no dbt in .venv-dbt; python3 dev.py test makes it, or SQLANON_DBT names a folder with one")
        return 0
    if options.db:
        return _one(options.db, dbt)
    for engine in ("duckdb", "postgres") if options.engine == "both" else (options.engine,):
        print(f"\n=== {engine}", flush=True)
        if engine == "postgres" and (reason := postgres_missing()):
            print(reason)
            continue
        with (duckdb_url if engine == "duckdb" else postgres_url)() as url:
            if code := _one(url, dbt):
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
