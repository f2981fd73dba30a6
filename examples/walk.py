"""How an example runs: fill a database on each engine with its table, then give the commands a user would give."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from examples.sources import duckdb_url, load_csv, postgres_missing, postgres_url

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Example:
    """One table and what is done with it.

    Attributes:
        table: what the source table is called.
        file: the CSV that fills it.
        folder: the example's folder, with its ``anon.yml``.
        commands: what follows ``sqlanon``, in order.
        environ: what the policy needs besides ``SQLANON_EXAMPLE_DB``, which is set here.
    """

    table: str
    file: Path
    folder: Path
    commands: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict)


def arguments(doc: str | None) -> argparse.Namespace:
    """The options every example has."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("duckdb", "postgres", "both"), default="both")
    parser.add_argument(
        "--db",
        metavar="URL",
        help="an empty database of yours, kept afterwards: duckdb:///file or postgresql://...",
    )
    return parser.parse_args()


def _one(example: Example, url: str) -> int:
    load_csv(url, example.table, example.file)
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])  # a bare checkout works too
    environ = {**os.environ, **example.environ, "SQLANON_EXAMPLE_DB": url, "PYTHONPATH": path}
    for command in example.commands:
        print(f"\n$ sqlanon {command}", flush=True)
        words = [sys.executable, "-m", "sqlanon", *shlex.split(command)]
        done = subprocess.run(words, cwd=example.folder, env=environ, check=False)
        if done.returncode:
            return done.returncode
    return 0


def walk(example: Example, options: argparse.Namespace) -> int:
    """Run an example's commands on every engine asked for.

    Returns:
        The first exit code that is not 0, or 0.
    """
    if options.db:
        return _one(example, options.db)
    for engine in ("duckdb", "postgres") if options.engine == "both" else (options.engine,):
        print(f"\n=== {engine}", flush=True)
        if engine == "postgres" and (reason := postgres_missing()):
            print(reason)
            continue
        with (duckdb_url if engine == "duckdb" else postgres_url)() as url:
            if code := _one(example, url):
                return code
    return 0
