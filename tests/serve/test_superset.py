"""Apache Superset asks a release, where its environment is there: docs/serve.md has the commands that make it.

`SQLANON_TEST_SUPERSET` is the environment's Python; without it the test is skipped, unless `SQLANON_REQUIRE` names
``superset``: then it fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serve.conftest import Running
from tests.serve.test_clients import QUERY, expected

PYTHON = os.environ.get("SQLANON_TEST_SUPERSET", "")
"""The Python of an environment with Superset, whose SUPERSET_CONFIG_PATH names a prepared SQLite file."""


@pytest.mark.thorough
def test_superset_connects_charts_and_shows_refusals(file_running: Running, tmp_path: Path) -> None:
    if not PYTHON:
        wanted = "superset" in os.environ.get("SQLANON_REQUIRE", "").split(",")
        (pytest.fail if wanted else pytest.skip)("SQLANON_TEST_SUPERSET is not set: see Clients in docs/serve.md")
    prepared = Path(os.environ["SUPERSET_CONFIG_PATH"])
    kept = prepared.parent / "superset.db"
    own = tmp_path / "superset_config.py"
    shutil.copy(kept, tmp_path / "superset.db")
    own.write_text(prepared.read_text().replace(str(kept), str(tmp_path / "superset.db")))
    table = file_running.place.source
    uri = file_running.url().replace("postgresql:", "postgresql+psycopg2:")
    ended = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("superset_client.py")), uri, table, "ill", "age"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "SUPERSET_CONFIG_PATH": str(own), "SUPERSET_HOME": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["connection"] == "OK"
    assert found["tables"] == [table]
    assert found["columns"]["age"] == ["INTEGER", "quasi, published as age_lo, age_hi"]
    wanted = {row["ill"]: row for row in expected(file_running, QUERY)}
    assert {row["ill"]: (row["count"], row["mean"]) for row in found["chart"]} == {
        key: (row["n"].estimate, row["age"].estimate) for key, row in wanted.items()
    }
    assert {row["ill"]: (row["n"], row["n_low"], row["n_high"]) for row in found["bounds"]} == {
        key: (row["n"].estimate, row["n"].low, row["n"].high) for key, row in wanted.items()
    }
    assert "no rows of persons" in found["rows"][0]
