"""Releases as sources of dbt: what catalogs show of their columns."""

from __future__ import annotations

import pytest
import yaml

from tests.invoked import invoke
from tests.refresh.conftest import fill, release


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    import duckdb

    import sqlanon

    path = tmp_path_factory.mktemp("described") / "w.duckdb"
    duckdb.connect(str(path)).close()
    with sqlanon.connect(f"duckdb:///{path}") as db:
        fill(db, "ward", 40)
        db.run(release("ward", method="tree"))
    return path


def test_columns_and_what_was_done(file, tmp_path):
    output = tmp_path / "releases.yml"
    ended = invoke("dbt", "describe", "-o", output, "--db", f"duckdb:///{file}")
    assert ended.exit_code == 0, ended.output
    text = output.read_text(encoding="utf-8")
    assert not any(value in text for value in ("flu", "cold", "hiv"))
    (source,) = yaml.safe_load(text)["sources"]
    (table,) = source["tables"]
    assert (source["schema"], table["name"]) == ("release", "ward")
    assert table["meta"]["sqlanon"]["privacy"] == {"k": 3, "l": "2"}
    columns = {one["name"]: one for one in table["columns"]}
    assert columns["age_lo"]["meta"]["sqlanon"] == {"role": "quasi", "source_column": "age", "masking": True}
    assert columns["illness"]["meta"]["sqlanon"]["masking"] is False
    assert "published as it is" in columns["illness"]["description"]
    assert "id" not in columns


def test_an_unknown_release(file):
    ended = invoke("dbt", "describe", "nothing", "--db", f"duckdb:///{file}")
    assert (ended.exit_code, "there are: ward" in ended.stderr) == (2, True)
