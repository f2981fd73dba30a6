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
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from tests.mutants import python_code, sql_templates
from tests.mutants.python_code import Mutant
from tests.reach import RECORDED, is_kernel

ROOT = Path(__file__).parents[2]
IMPORTED = ("duckdb", "jinja2", "numba", "pandas", "psycopg", "pyarrow", "pytest", "sqlglot", "typer")
"""What most tests need, and what takes long to import."""
_KEPT: list[ModuleType] = []
"""Modules of the parent process, whose connections a child must not close."""


def drawn(room: Any, places: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """The first of all mutants in a drawn order: more of them begin with the same ones."""
    every = [make for path in places for make in room.mutants(ROOT, path)]
    return [make() for make in random.Random(seed).sample(every, len(every))[:count]]


def draw(sample: int, seed: int) -> list[Mutant]:
    """Mutants of the product: of its Python without kernels (a changed one is compiled anew), and of its SQL."""
    sql = sample * 60 // 260
    python = [path for path in sorted(ROOT.glob("sqlanon/**/*.py")) if not is_kernel(path.relative_to(ROOT).as_posix())]
    templates = sorted(ROOT.glob("sql/core/**/*.sql"))
    some = drawn(python_code, python, sample - sql, seed), drawn(sql_templates, templates, sql, seed)
    # Mixed evenly, so that the first of them, too, are a sample of both.
    places = [(number / len(own), mutant) for own in some for number, mutant in enumerate(own)]
    return [mutant for _, mutant in sorted(places, key=lambda pair: pair[0])]


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
    # Seconds of the processor: on a busy machine a test that takes long is no test that failed.
    most = math.ceil(60 + 5 * seconds)
    code, printed = in_copy(copy, ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no", *chosen], most)
    if code in (0, None):
        return "waits" if code is None else "alive", "", len(chosen)
    failed = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if code > 1 and not failed:  # pytest itself did not get far
        return "not tried", printed[-300:], len(chosen)
    return "killed", failed[0][:160] if failed else f"exit code {code}", len(chosen)


def in_copy(copy: Path, words: Sequence[str], seconds: int) -> tuple[int | None, str]:
    """Run pytest in a copy of the checkout, as a fork of this process, which has imported what takes long.

    Args:
        copy: the copy.
        words: pytest's arguments.
        seconds: of the processor, at most.

    Returns:
        the exit code, None where it waited twenty times as long; and what it printed.
    """
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if not child:
            _run_child(copy, words, seconds, output.fileno())
        end = time.monotonic() + 20 * seconds
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            time.sleep(0.05)
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None, ""
        output.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), output.read()


def _run_child(copy: Path, words: Sequence[str], seconds: int, output: int) -> NoReturn:
    """End with pytest's exit code, and never otherwise: what this process has opened is its parent's."""
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path[:] = [str(copy), *(path for path in sys.path if Path(path).resolve() != ROOT)]
        os.dup2(output, 1)
        os.dup2(output, 2)
        ours = [name for name in sys.modules if name.partition(".")[0] in ("tests", "sqlanon", "benchmarks")]
        _KEPT.extend(sys.modules.pop(name) for name in ours)
        import pytest

        code = pytest.main(words)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - shown, as it ends here
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def run(options: argparse.Namespace) -> None:
    """Every drawn mutant in a copy of the checkout."""
    from tests.engines import _postgres

    for name in IMPORTED:
        import_module(name)
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
        for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
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
