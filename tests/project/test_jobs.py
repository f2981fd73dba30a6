"""Jobs of the thorough run: every test is of one of them, and the names are those of files that there are."""

from __future__ import annotations

import re
from pathlib import Path

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
