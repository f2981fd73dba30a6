"""Which tests run which files of the product, and the tests that a change needs.

    python -m tests.reach record [pytest arguments]    run the tests, and note in .reach.jsonl what each of them runs
                                                       (with --thorough: in addition to the default tests)
    python -m tests.reach write                        put the tests of each file into tests/reach.json, those that run
                                                       the fewest others first
    python -m pytest --changed                         run the tests of what differs from the main branch, and those
                                                       that failed last

A test runs a file if a function of it, or for a template its SQL, is used while the test runs. Files of kernels are
compiled, so that they are not recorded: the tests of the files that import them count. `reach.json` may be older than
the code: tests that are no longer there are passed over, and a test file that was changed runs as a whole.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / ".reach.jsonl"
KNOWN = Path(__file__).with_suffix(".json")
KEPT = 200
"""Tests that are kept of a file: those that run the fewest files, as what they assert is about these."""
SECONDS = 60.0
"""What the tests of a change may take, by their record."""
GENERATED = (
    "tests/docs/test_docs.py",
    "tests/docs/test_works.py",
    "tests/benchmarks/test_report.py",
    "tests/unit/policy/test_reference.py",
    "tests/project/test_files.py",
    "tests/project/test_code.py",
)
"""Tests that what is generated is up to date: they run at every change."""

Reach = Mapping[str, Sequence[tuple[str, float]]]


def summarize(lines: Iterable[str]) -> dict[str, object]:
    """The default tests of each file, as numbers in a list of tests with their seconds.

    Tests that run the fewest files come first.
    """
    seconds: dict[str, float] = defaultdict(float)
    runs: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        record = json.loads(line)
        if record["thorough"]:
            continue
        test = record["test"].partition("[")[0]
        seconds[test] += record["seconds"]
        runs[test] |= set(record["hits"])
    tests: dict[str, list[str]] = defaultdict(list)
    for test in sorted(runs, key=lambda test: (len(runs[test]), seconds[test], test)):
        for file in runs[test]:
            tests[file].append(test)
    chosen = {file: tests[file][:KEPT] for file in sorted(tests)}
    names = sorted({test for some in chosen.values() for test in some})
    place = {name: number for number, name in enumerate(names)}
    return {
        "tests": [[name, round(seconds[name], 2)] for name in names],
        "files": {file: [place[test] for test in some] for file, some in chosen.items()},
    }


def read(path: Path = KNOWN) -> Reach:
    """The tests of each file with their seconds, best first."""
    if not path.exists():
        return {}
    known = json.loads(path.read_text(encoding="utf-8"))
    return {file: [tuple(known["tests"][number]) for number in tests] for file, tests in known["files"].items()}


def choose(changed: Iterable[str], reach: Reach, seconds: float = SECONDS) -> set[str]:
    """Test files and tests that a change of files needs: changed tests whole.

    Of a changed file the first tests, as long as time lasts.

    Files share the time evenly, each has at least one test.
    """
    chosen = set(GENERATED)
    product: list[Sequence[tuple[str, float]]] = []
    for file in changed:
        if re.fullmatch(r"tests/.*test_\w+\.py", file):
            chosen.add(file)
        else:
            product += [reach[name] for name in recorded_names(file) if name in reach]
    for tests in product:
        left = seconds / len(product)
        for place, (test, cost) in enumerate(tests):
            if place and cost > left:
                break
            chosen.add(test)
            left -= cost
    return chosen


def is_kernel(file: str) -> bool:
    """Whether a file of the product, as ``sqlanon/methods/anatomy/kernels.py``, holds compiled functions."""
    return file.startswith("sqlanon/") and "kernels" in file.removesuffix(".py").split("/")


def recorded_names(file: str) -> set[str]:
    """The names under which tests of a file are recorded: its own; of a kernel, those of the files that import it."""
    if not is_kernel(file):
        return {file}
    paths = sorted((ROOT / "sqlanon").rglob("*.py"))
    lines = {path: re.findall(r"^\s*from sqlanon.*$", path.read_text(encoding="utf-8"), re.MULTILINE) for path in paths}
    sources = {path.relative_to(ROOT).as_posix(): "\n".join(some) for path, some in lines.items()}
    names, left = set(), [file]
    seen = set(left)
    while left:
        module = left.pop().removesuffix(".py").replace("/", ".")
        folder, _, own = (re.escape(part) for part in module.rpartition("."))
        found = re.compile(rf"^\s*from {folder}(\.{own} import| import .*\b{own}\b)", re.MULTILINE)
        for name, text in sources.items():
            if name not in seen and found.search(text):
                seen.add(name)
                (left.append if is_kernel(name) else names.add)(name)
    return names


def changed_files() -> list[str]:
    """Differences from the point where this branch left the main branch of its origin.

    Without an origin they are those from the last commit but one.
    """

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.split("\n")[:-1] if done.returncode == 0 else []

    (base,) = git("merge-base", "origin/main", "HEAD") or git("rev-parse", "HEAD~1") or ["HEAD"]
    return sorted({*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")})


def main(words: Sequence[str]) -> int:
    """Record or write."""
    if words and words[0] == "record":
        if "--thorough" not in words:
            RECORDED.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.reach_record", *words[1:]]
        environ = {**os.environ, "SQLANON_REACH": str(RECORDED)}
        return subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
    if words == ["write"]:
        with RECORDED.open(encoding="utf-8") as lines:
            found = summarize(lines)
        tests = ",\n".join(f"  {json.dumps(test)}" for test in found["tests"])  # type: ignore[attr-defined]
        files = ",\n".join(f"  {json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in found["files"].items())  # type: ignore[attr-defined]
        KNOWN.write_text(f'{{"tests": [\n{tests}\n], "files": {{\n{files}\n}}}}\n', encoding="utf-8")
        return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
