"""Every command of the README and of the quick start, in its order, as on a terminal.

The environment has sqlanon's own packages alone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon
from tests.conftest import ready
from tests.docs.commands import (
    QUICKSTART,
    README,
    SERVER,
    commands_with_lines,
    on_terminal,
    pinned_environment,
    run_in_order,
)
from tests.engines import ENGINES, create_table
from tests.project.tree import ROOT


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return pinned_environment(tmp_path_factory.mktemp("environment"))


@pytest.mark.thorough
def test_the_environment_has_the_pinned_packages_alone(environment, tmp_path):
    wanted = "import duckdb, numba, rich, sqlanon; print(sqlanon.__file__)"
    code, shown = on_terminal(f"python -c '{wanted}'", tmp_path, environment)
    assert (code, shown.strip()) == (0, str(ROOT / "sqlanon" / "__init__.py"))
    for name in ("pandas", "pyarrow", "scipy", "pytest", "vl_convert"):
        assert on_terminal(f"python -c 'import {name}'", tmp_path, environment)[0] == 1


@pytest.mark.thorough
@pytest.mark.duckdb
def test_commands_of_the_readme(environment, tmp_path):
    shown = run_in_order(README, tmp_path, environment)
    assert len(shown) >= 12
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    query = next(command for command in shown if command.startswith("sqlanon query"))
    assert re.search(r"^diagnosis +n +low \.\. high +width +cost +low \.\. high +width +certain", shown[query])


@pytest.mark.duckdb
@pytest.mark.thorough
def test_the_readme_shows_what_a_query_prints(environment, tmp_path):
    """On the demonstration's own number of rows; averages differ a little with the release's secret."""
    ((query, at),) = (
        (command, line) for command, line in commands_with_lines(README) if command.startswith("sqlanon query")
    )
    for command in ("sqlanon demo", query):
        code, printed = on_terminal(command, tmp_path, environment)
        assert code == 0, printed
    lines = README.read_text(encoding="utf-8").splitlines()
    shown = [line.rstrip() for line in printed.splitlines()]
    for line, wanted in zip(shown, lines[at:], strict=False):
        assert re.sub(r"[\d.,]+", "0", line).split() == re.sub(r"[\d.,]+", "0", wanted).split()
        both = [[float(one.replace(",", "")) for one in re.findall(r"\d[\d.,]*", text)] for text in (line, wanted)]
        assert both[0] == pytest.approx(both[1], rel=0.02)
    assert lines[at + len(shown)] == "```"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A PostgreSQL database with a table of patients."""
    engine = ready(ENGINES[2])
    url = engine.fresh(tmp_path)
    columns = {"patient_id": "INTEGER", "birth_date": "DATE", "sex": "VARCHAR(1)", "diagnosis": "VARCHAR(20)"}
    rows = [
        (1000 + n, datetime.date(1950 + n % 60, 1 + n % 12, 1 + n % 28), "FM"[n % 2], f"illness {n % 7}")
        for n in range(600)
    ]
    with sqlanon.connect(url) as db:
        create_table(db, "patients", columns, rows)
    yield url
    engine.drop(url)


@pytest.mark.duckdb
@pytest.mark.postgres
@pytest.mark.thorough
def test_commands_of_the_quick_start(environment, tmp_path, server):
    """The part for PostgreSQL on a server of the tests."""
    shown = run_in_order(QUICKSTART, tmp_path, environment, server=server)
    assert len(shown) >= 20
    assert sum(SERVER in command for command in shown) == 1
