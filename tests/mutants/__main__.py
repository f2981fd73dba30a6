"""Draw mutants, run the tests that cover each, and say which were killed.

    python -m tests.reach record [pytest arguments]       which tests run which code
    python -m tests.mutants run --sample 30 --out x.json  draw, run, write
    python -m tests.mutants show x.json [y.json]          totals; of two files also what only one of them kills

The default run's tests go first; of what they leave alive, the thorough tests are tried next, so that one file says
what both kill and what the default run alone kills. A mutant that no test runs counts as alive.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.mutants import python_code, sql_templates
from tests.mutants.python_code import Mutant
from tests.reach import RECORDED, is_kernel

ROOT = Path(__file__).parents[2]
COPIED = (
    "sqlanon",
    "sql",
    "tests",
    "examples",
    "benchmarks",
    "docs",
    "dbt",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
)


def drawn(room: Any, places: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """The first of all mutants in a drawn order: more of them begin with the same ones."""
    every = [make for path in places for make in room.mutants(ROOT, path)]
    return [make() for make in random.Random(seed).sample(every, len(every))[:count]]


def draw(sample: int, seed: int) -> list[Mutant]:
    """Mutants of the product: of its Python without kernels (a changed one is compiled anew), and of its SQL."""
    sql = sample * 60 // 260
    python = [path for path in sorted(ROOT.glob("sqlanon/**/*.py")) if not is_kernel(path.relative_to(ROOT).as_posix())]
    templates = sorted(ROOT.glob("sql/core/**/*.sql"))
    return drawn(python_code, python, sample - sql, seed) + drawn(sql_templates, templates, sql, seed)


def covering(lines: Sequence[dict[str, Any]], mutant: Mutant) -> list[dict[str, Any]]:
    """The tests that run it; a quick one of every file first."""
    found = [line for line in lines if mutant.path in line["hits"]]
    if mutant.within is not None:
        found = [line for line in found if mutant.within in line["hits"][mutant.path]]
    files: dict[str, list[dict[str, Any]]] = {}
    for line in sorted(found, key=lambda line: line["seconds"]):
        files.setdefault(line["test"].partition("::")[0], []).append(line)
    return [line for turn in zip_longest(*files.values()) for line in turn if line]


def tried(copy: Path, tests: Sequence[dict[str, Any]], limit: float) -> tuple[str, str, int]:
    """Run tests until one fails: how it ended, which one failed, and how many were asked for."""
    chosen, seconds = [], 0.0
    for line in tests:
        if chosen and seconds + line["seconds"] > limit:
            break
        chosen.append(line["test"])
        seconds += line["seconds"]
    if not chosen:
        return "uncovered", "", 0
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no", *chosen]
    # Seconds of the processor: on a busy machine a test that takes long is no test that failed.
    most = math.ceil(60 + 5 * seconds)
    try:
        ended = subprocess.run(
            words,
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
            timeout=20 * most,
        )
    except subprocess.TimeoutExpired:
        return "waits", "", len(chosen)
    if ended.returncode == 0:
        return "alive", "", len(chosen)
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "killed", failed[0][:160] if failed else f"exit code {ended.returncode}", len(chosen)


def run(options: argparse.Namespace) -> None:
    """Every drawn mutant in a copy of the checkout."""
    from tests.engines import _postgres

    if url := _postgres()[0]:
        os.environ["SQLANON_TEST_PG"] = url
    lines = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    mutants = draw(options.sample, options.seed)
    before = json.loads(options.out.read_text()) if options.out.exists() else {"seed": options.seed, "mutants": []}
    results: list[dict[str, Any]] = before["mutants"]
    if before["seed"] != options.seed or [r["path"] for r in results] != [m.path for m in mutants[: len(results)]]:
        sys.exit(f"{options.out} holds other mutants: give another file")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
        for number, mutant in enumerate(mutants[len(results) :], len(results) + 1):
            start, kept = time.perf_counter(), (copy / mutant.path).read_bytes()
            tests = covering(lines, mutant)
            (copy / mutant.path).write_text(mutant.text, encoding="utf-8")
            state, by, count = "uncovered", "", 0
            for thorough in (False, True):
                own = [line for line in tests if line["thorough"] == thorough]
                found = tried(copy, own, options.limit)
                if found[0] != "uncovered":
                    state, by, count = found
                if state == "killed":
                    state = "killed by thorough" if thorough else "killed"
                    break
            (copy / mutant.path).write_bytes(kept)
            reported = {key: value for key, value in asdict(mutant).items() if key != "text"}
            results.append(
                {
                    **reported,
                    "state": state,
                    "by": by,
                    "tests": count,
                    "covering": len(tests),
                    "seconds": round(time.perf_counter() - start, 1),
                }
            )
            print(f"{number}/{len(mutants)} {state}: {mutant.path}:{mutant.line} {mutant.shown}", flush=True)
            options.out.write_text(
                json.dumps({"seed": options.seed, "limit": options.limit, "mutants": results}, indent=1)
            )
    show([options.out])


def show(files: Sequence[Path]) -> None:
    """Totals by state, for Python and SQL."""
    kills = []
    for file in files:
        mutants = json.loads(file.read_text())["mutants"]
        for kind, prefix in (("Python", "sqlanon/"), ("SQL", "sql/")):
            states = Counter(one["state"] for one in mutants if one["path"].startswith(prefix))
            print(
                f"{file.name}: {kind} {states.total()}: "
                + ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
            )
        kills.append({(one["path"], one["line"], one["shown"]) for one in mutants if one["state"] == "killed"})
    if len(kills) == 2:
        for name, only in zip(files, (kills[0] - kills[1], kills[1] - kills[0]), strict=True):
            print(f"killed in {name.name} alone: {sorted(only)}")


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    asked = actions.add_parser("run")
    asked.add_argument("--sample", type=int, default=260, help="mutants, 200 of Python to 60 of SQL")
    asked.add_argument("--seed", type=int, default=11)
    asked.add_argument("--limit", type=float, default=120, help="seconds of tests a mutant, as they were recorded")
    asked.add_argument("--out", type=Path, required=True, help="goes on where this file ends")
    actions.add_parser("show").add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.action == "run":
        run(options)
    else:
        show(options.files)


if __name__ == "__main__":
    main()
