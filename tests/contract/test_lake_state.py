"""`state:` alone, the database of releases from lake tables into lake tables: nothing else is named."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import deltalake
import duckdb
import pyarrow as pa
import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines import make_state
from sqlanon.errors import PolicyError
from tests.conftest import ready
from tests.engines import ENGINES
from tests.invoked import invoke

pytestmark = pytest.mark.duckdb
POLICY = """\
version: 1
state: {state}
releases:
  - name: visits
    source: {source}
    publish: delta:{published}
    columns: {{id: identifier, age: quasi, ill: sensitive}}
    privacy: {{k: 3}}
    method: mondrian
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Delta table of 24 visits; the command runs next to it."""
    monkeypatch.chdir(tmp_path)
    rows = {"id": list(range(24)), "age": [20 + i % 6 for i in range(24)], "ill": ["abcd"[i % 4] for i in range(24)]}
    deltalake.write_deltalake(tmp_path / "visits", pa.table(rows))
    return "delta:visits"


def write_policy(state: str, source: str, published: str = "published") -> None:
    Path("anon.yml").write_text(POLICY.format(state=state, source=source, published=published), encoding="utf-8")


def test_a_policy_of_lake_tables_runs_with_nothing_but_its_state(source, tmp_path):
    (tmp_path / "secure").mkdir()
    write_policy("duckdb:///secure/${STATE_NAME}.duckdb", source)
    variables = {"STATE_NAME": "canary"}
    umask = os.umask(0o022)
    try:
        ended = invoke("run", "--json", **variables)
    finally:
        os.umask(umask)
    again = invoke("run", "--json", **variables)
    assert ended.exit_code == again.exit_code == 0, ended.stderr
    assert "canary" not in ended.stdout + ended.stderr
    assert [json.loads(run.stdout)["outcome"] for run in (ended, again)] == ["published", "unchanged"]
    (row,) = json.loads(invoke("releases", "--json", **variables).stdout)["releases"]
    assert row["version"] == 1
    file = tmp_path / "secure" / "canary.duckdb"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    published = deltalake.DeltaTable("published").to_pyarrow_table()
    assert published.num_rows == 24
    with duckdb.connect(file, read_only=True) as connection:
        private = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE schema_name = '_sqlanon'").fetchall()
    assert private[0][0] > 2


def test_a_log_of_a_private_file_is_private(tmp_path):
    umask = os.umask(0o022)
    try:
        make_state(f"duckdb:///{tmp_path}/state.duckdb")
        with sqlanon.connect(f"duckdb:///{tmp_path}/state.duckdb") as db:
            db.engine.execute("CREATE TABLE t AS SELECT 1 AS i")
            modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("state.duckdb*") if path.is_file()}
    finally:
        os.umask(umask)
    assert modes == {0o600}


def test_a_state_next_to_what_readers_read_is_refused(source, tmp_path):
    (tmp_path / "published").mkdir()
    write_policy("duckdb:///published/state.duckdb", source)
    ended = invoke("run")
    assert ended.exit_code == 2
    assert "the database file is in the folder that readers read" in " ".join(ended.stderr.split())
    assert not list(tmp_path.glob("published/*.parquet"))


def test_a_state_is_no_database_of_other_sources():
    text = POLICY.format(state="duckdb:///state.duckdb", source="main.visits", published="out")
    with pytest.raises(PolicyError, match=r"2: state: a source is a table of a database.*connection: URL"):
        policy.loads(text, {})


@pytest.mark.postgres
def test_a_state_on_postgres(source, tmp_path):
    engine = ready(ENGINES[2])
    url = engine.fresh(tmp_path)
    write_policy(url, source)
    outcomes = [json.loads(invoke("run", "--json").stdout)["outcome"] for _ in range(2)]
    with sqlanon.connect(url) as db:
        (row,) = db.releases()
        tables = db.engine.fetch("SELECT count(*) FROM information_schema.tables WHERE table_schema = '_sqlanon'")
        private = db.engine.fetch("SELECT report FROM _sqlanon.catalog")
    engine.drop(url)
    assert outcomes == ["published", "unchanged"]
    assert (row.source, row.rows) == (f"delta:{tmp_path}/visits", 24)
    assert tables[0][0] > 2
    assert "version 0 of table" in str(private)
    assert deltalake.DeltaTable("published").to_pyarrow_table().num_rows == 24
