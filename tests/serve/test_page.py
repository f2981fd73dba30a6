"""The recordings in docs/serve.md are what psql and SQLAlchemy print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import sqlanon
from sqlanon.serve.client_tables import Reader
from tests.project.tree import ROOT
from tests.serve.conftest import FILE, Place, Running, serving
from tests.serve.test_clients import psql

PROMPT = "sqlanon=> "
PAGE = ROOT / "docs" / "serve.md"

pytestmark = pytest.mark.thorough


def recorded(name: str) -> list[str]:
    """The blocks of a recording."""
    found = re.search(rf"<!-- recording: {name} -->\n(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return re.findall(r"```\w+\n(.*?)```", found[1], re.DOTALL)


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server over the release of the page."""
    folder = tmp_path_factory.mktemp("page")
    published = folder / "published.duckdb"
    with ExitStack() as stack:
        db = stack.enter_context(sqlanon.connect(FILE.fresh(folder)))
        db.engine.execute(f"CREATE TABLE visits AS FROM '{ROOT / 'examples' / 'visits.csv'}'")
        db.anonymize(
            "visits",
            quasi=["age", "zip"],
            sensitive="diagnosis",
            identifiers="name",
            k=4,
            l=2,
            publish_file=str(published),
        )
        place = Place(f"duckdb:///{published}", "visits", Reader(None), db, lambda: None)
        yield stack.enter_context(serving(place))


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_psql(visits: Running) -> None:
    (text,) = recorded("psql")
    commands = [line.removeprefix(PROMPT) for line in text.splitlines() if line.startswith(PROMPT)]
    ended = subprocess.run(
        [psql(), "-X", visits.url()],
        input="\n".join(commands),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "PAGER": "cat", "LC_ALL": "C.UTF-8"},
    )
    assert lines(ended.stdout) == [line for line in lines(text) if not line.startswith(PROMPT)]


def test_sqlalchemy(visits: Running, tmp_path: Path) -> None:
    program, shown = recorded("sqlalchemy")
    file = tmp_path / "ask.py"
    file.write_text(program.replace("ann:a long password@127.0.0.1:5433", f"ann:secret@127.0.0.1:{visits.port}"))
    ended = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=600, cwd=tmp_path
    )
    assert lines(ended.stdout) == lines(shown), ended.stderr
