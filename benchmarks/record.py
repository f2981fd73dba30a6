"""What every benchmark writes: its figures, and beside them the command, the date, the versions and the machine."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from examples.sources import DataMissingError, data_folder

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("sqlanon", "duckdb", "psycopg", "pyspark", "numpy", "numba", "sqlglot")


def options(doc: str | None, out: Path | None) -> argparse.ArgumentParser:
    """A command's parser with its one shared option, ``--out``."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=out, metavar="FILE.json", help="default: in benchmarks/results")
    return parser


def has_data() -> bool:
    """Whether the public data is on this machine.

    Otherwise the missing files are printed, and a command that needs them ends.
    """
    try:
        data_folder()
    except DataMissingError as missing:
        print(missing)
        return False
    return True


def experiments(name: str, doc: str | None, titles: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of a command that runs a paper's experiments, with the options that all of these have."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(titles), help="experiments, comma list; default: all")
    parser.add_argument("--data", default="occ,sal", help="census tables, comma list")
    parser.add_argument("--projections", type=int, help="at most so many for every d, drawn by the seed; default: all")
    parser.add_argument("--quick", action="store_true", help="two points an experiment, 2,000 rows, one projection")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help="default: benchmarks/results")
    return parser


def parsed(parser: argparse.ArgumentParser, words: list[str] | None, titles: Iterable[str]) -> argparse.Namespace:
    """The arguments; an experiment that there is not ends the command."""
    args = parser.parse_args(words)
    unknown = [name for name in args.only.split(",") if name not in titles]
    if unknown:
        parser.error(f"no experiment {', '.join(unknown)}; experiments are {', '.join(titles)}")
    return args


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "run from its source"
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def machine() -> dict[str, Any]:
    """Facts that figures depend on; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def rounded(value: Any) -> Any:
    """The same value with floats cut to six digits, for files that people read."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


class Record:
    """One benchmark's result file. Made before the measuring, so that the load it notes is not its own."""

    def __init__(self, name: str) -> None:
        words = sys.argv[1:]
        if "--out" in words:  # where the figures were written is no part of them
            at = words.index("--out")
            del words[at : at + 2]
        self.facts: dict[str, Any] = {
            "benchmark": name.rpartition(".")[2],
            "command": shlex.join(["python", "-m", f"benchmarks.{name}", *words]),
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "versions": _versions(),
            "machine": machine(),
        }

    def write(self, out: Path, **results: Any) -> None:
        """Write facts and results as JSON."""
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(rounded({**self.facts, **results}), indent=1) + "\n")
        print(f"wrote {out}", flush=True)
