"""Jobs of the thorough run: every test is of one of them, and the names are those of files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import RUNS
from tests.jobs import CORE, JOBS, SHORT, is_of

ROOT = Path(__file__).parents[2]


def test_every_file_of_tests_is_of_a_job() -> None:
    """Of exactly one; the short ones are of the core too."""
    files = [str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")]
    assert len(files) > 300
    for file in files:
        jobs = [job for job in (CORE, *JOBS) if is_of(job, f"{file}::test")]
        assert len(jobs) == 1 + (file in SHORT), file


def test_names_are_of_files_and_folders() -> None:
    names = [name for starts in JOBS.values() for name in starts]
    assert all((ROOT / name.partition("::")[0]).exists() for name in (*names, *SHORT))


def test_the_workflow_runs_all_jobs() -> None:
    """And `.ci/run` the core."""
    text = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^ +job: \[(.+)\]$", text, re.MULTILINE)
    assert sorted(listed.split(", ")) == sorted([CORE, *JOBS])
    assert f"--thorough --job {CORE} " in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_default_run_and_the_jobs_share_all_tests(request: pytest.FixtureRequest) -> None:
    """All that were collected with this one: no test is of two of them, and none is forgotten.

    Tests over tables that hypothesis draws are of both runs: the thorough run draws more tables. Of a test that is
    marked cover neither run takes all combinations.
    """
    tests = request.config.stash[RUNS]
    assert len({name for name, *_ in tests}) == len(tests)
    for name, by_default, thorough, marks in tests:
        neither = not by_default and not thorough and "cover" in marks
        assert neither or by_default + thorough == 1 + (by_default and "hypothesis" in marks), name
        if thorough:
            assert sum(is_of(job, name) for job in (CORE, *JOBS)) == 1 + name.startswith(SHORT), name
