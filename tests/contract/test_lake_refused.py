"""Bad input of releases between lakes and databases: one clear error each, nothing published, nothing left."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import deltalake
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError, UnsupportedError
from tests.contract.elsewhere import Pair, pair
from tests.invoked import invoke

__all__ = ["pair"]
pytestmark = pytest.mark.duckdb
ROWS = {"id": list(range(24)), "age": [20 + i % 6 for i in range(24)], "ill": ["abcd"[i % 4] for i in range(24)]}


@pytest.fixture
def db(tmp_path: Path) -> Any:
    """A database for the private tables, and a Delta table of 24 visits next to it."""
    (tmp_path / "private").mkdir()
    file = tmp_path / "private" / "state.duckdb"
    duckdb.connect(file).close()
    file.chmod(0o600)
    deltalake.write_deltalake(tmp_path / "visits", pa.table(ROWS))
    with sqlanon.connect(f"duckdb:///{file}") as opened:
        yield opened


def spec_of(folder: Path, **more: Any) -> Any:
    asked: dict[str, Any] = {
        "source": f"delta:{folder}/visits",
        "name": "visits",
        "identifiers": "id",
        "quasi": "age",
        "sensitive": "ill",
        "k": 3,
        "method": "mondrian",
        "publish": f"delta:{folder}/published",
    }
    return policy.release(**asked | more)


def files_in(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if "private" not in path.parts}


def test_a_table_in_the_folder_of_the_source(db, tmp_path):
    """Also the other way round, by another name of the folder, and of Parquet files, which a run would read again."""
    before = files_in(tmp_path)
    (tmp_path / "alias").symlink_to(tmp_path / "visits")
    places = [("delta:{}/visits", "delta:{}/visits/published"), ("delta:{}/visits", "delta:{}/alias/published")]
    places += [("delta:{}/visits", "delta:{}/visits/.."), ("parquet:{}/visits/*.parquet", "delta:{}/visits/published")]
    places += [("parquet:{}/visits", "delta:{}/visits/published"), ("delta:{}/visits", "delta:{}/visits")]
    for source, target in places:
        with pytest.raises(SqlanonError) as refused:
            db.run(spec_of(tmp_path, source=source.format(tmp_path), publish=target.format(tmp_path)))
        assert isinstance(refused.value, PolicyError | DatabaseError)
        assert "in each other" in str(refused.value) or "in the folder that readers read" in str(refused.value)
    assert files_in(tmp_path) == before | {str(tmp_path / "alias")}
    assert not db.releases()


def test_a_file_that_others_may_read_or_that_has_two_names(db, tmp_path):
    spec, file = spec_of(tmp_path), tmp_path / "private" / "state.duckdb"
    quiet = db.run(spec)
    assert not [line for line in quiet.warnings if "private tables" in line]
    file.chmod(0o644)
    os.link(file, tmp_path / "private" / "other.duckdb")
    warnings = db.run(spec, full=True).warnings
    assert [line for line in warnings if "other users may read" in line]
    assert [line for line in warnings if "2 names (hard links)" in line]
    assert "other users may read" in str(db.plan(spec).warnings)


@pytest.mark.parametrize("place", ["publish", "publish_to"])
def test_a_folder_without_rights(db, place):
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    deltalake.write_deltalake(folder / "visits", pa.table(ROWS))
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        with pytest.raises(DatabaseError) as refused:
            db.run(spec_of(folder, **{"publish": None, place: f"delta:{locked}/published"}))
    finally:
        if root:
            os.seteuid(0)
    assert "locked" in str(refused.value)
    assert re.search("this user may not read or write it|give this user the right to write", str(refused.value))
    assert not [row for row in db.releases() if row.status == "published"]
    assert not list(locked.iterdir())
    shutil.rmtree(folder)


def test_a_disk_without_room(db, tmp_path, monkeypatch):
    """The version before stays whole, and nothing of the file that was begun is left."""
    db.run(spec := spec_of(tmp_path))
    before, full = files_in(tmp_path), OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(pq.ParquetWriter, "write_table", Mock(side_effect=full))
    with pytest.raises(DatabaseError, match="its disk is full"):
        db.run(spec, full=True)
    assert files_in(tmp_path) == before
    assert [row.status for row in db.releases()].count("published") == 1


def test_a_target_below_a_file(db, tmp_path):
    """A path that no user may make a folder of."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SqlanonError) as refused:
        db.run(spec_of(tmp_path, publish=f"delta:{tmp_path}/file/published"))
    assert "file/published" in str(refused.value)
    assert [row.status for row in db.releases()] == ["discarded"]
    assert db.run(spec_of(tmp_path)).outcome == "published"


def test_a_version_that_goes_back(db, tmp_path):
    """A source that is restored, or made anew with an earlier number: other rows are read, equal ones are unchanged."""
    spec, source = spec_of(tmp_path), tmp_path / "visits"
    assert db.run(spec).version == 1
    deltalake.write_deltalake(source, pa.table({name: cells[:18] for name, cells in ROWS.items()}), mode="overwrite")
    assert db.run(spec).version == 2
    deltalake.DeltaTable(source).restore(0)
    assert db.run(spec).version == 3
    shutil.rmtree(source)
    deltalake.write_deltalake(source, pa.table(ROWS))
    assert db.run(spec).outcome == "unchanged"


def test_a_clock_that_went_back(db, tmp_path, monkeypatch):
    """Commits are in the order of their numbers, whatever their times."""
    import time

    spec, now = spec_of(tmp_path, keep=2), time.time
    db.run(spec)
    monkeypatch.setattr(time, "time", lambda: now() - 86400 * 400)
    assert db.run(spec, full=True).version == 2
    assert db.run(spec).outcome == "unchanged"
    assert db.rollback("visits").version == 1
    published = deltalake.DeltaTable(tmp_path / "published")
    assert published.to_pyarrow_table().num_rows == 24
    monkeypatch.undo()
    assert db.run(spec).outcome == "unchanged"


def test_columns_that_differ_in_case_alone(db, tmp_path):
    """DuckDB would read the first one by the name of the second."""
    (tmp_path / "files").mkdir()
    file = tmp_path / "files" / "visits.parquet"
    spec = spec_of(tmp_path, source=f"parquet:{file}", rest="drop")
    for more, name in (("AGE", '"age"'), ("", '""')):
        pq.write_table(pa.table({more: [1] * 24} | ROWS), file)
        with pytest.raises(PolicyError, match=rf"than those that are asked for \({name}\): rename them"):
            db.run(spec)
    pq.write_table(pa.table({"age_1": [{"AGE": 1}] * 24} | ROWS), file)
    assert db.run(spec).rows == 24


@pytest.mark.parametrize(
    "protocol",
    [
        {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["later"], "writerFeatures": ["later"]},
        {"minReaderVersion": 9, "minWriterVersion": 9},
    ],
)
def test_a_protocol_that_is_not_read(db, tmp_path, protocol):
    (log,) = (tmp_path / "visits" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines = [{"protocol": protocol} if "protocol" in line else line for line in lines]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(UnsupportedError, match="that deltalake lacks; update deltalake"):
        db.run(spec_of(tmp_path))
    assert not db.releases()


def test_a_table_from_which_no_row_may_be_removed(db, tmp_path):
    spec, published = spec_of(tmp_path), tmp_path / "published"
    db.run(spec)
    deltalake.DeltaTable(published).alter.set_table_description("of the ward")
    deltalake.DeltaTable(published).alter.set_table_properties({"delta.appendOnly": "true"})
    before = set(published.rglob("*.parquet"))
    with pytest.raises(UnsupportedError, match=r"the property delta\.appendOnly.*nothing was published"):
        db.run(spec, full=True)
    assert set(published.rglob("*.parquet")) == before
    deltalake.DeltaTable(published).alter.set_table_properties({"delta.appendOnly": "false"})
    assert db.run(spec, full=True).outcome == "published"


def test_a_storage_that_is_not_there(db, tmp_path):
    with pytest.raises(DatabaseError, match=r"the storage cannot be read"):
        db.run(spec_of(tmp_path, source="parquet:hdfs://nowhere/visits"))
    assert not db.releases()


def test_a_catalog_that_is_not_there(db, tmp_path):
    for key, name in {"source": "iceberg:nowhere/a.b", "publish": "iceberg:nowhere/a.b"}.items():
        with pytest.raises(DatabaseError, match="the catalog nowhere cannot be opened"):
            db.run(spec_of(tmp_path, **{key: name}))
    assert not [row for row in db.releases() if row.status == "published"]


@pytest.mark.postgres
def test_a_table_of_versions_without_a_column(pair):
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        with sqlanon.connect(pair.target) as there:
            there.engine.execute("ALTER TABLE _sqlanon.received DROP COLUMN content_mark")
        for act in (lambda: db.run(pair.spec()), lambda: db.plan(pair.spec()), lambda: db.unpublish("visits")):
            with pytest.raises(DatabaseError, match=r"_sqlanon.received there lacks content_mark"):
                act()
        assert sum(pair.there().values()) == 24


@pytest.mark.postgres
@pytest.mark.parametrize("pair", ["duckdb-postgres"], indirect=True)
def test_rows_of_a_delta_table_go_to_a_server(pair: Pair, tmp_path: Path) -> None:
    """Source, private tables and readers in three places."""
    deltalake.write_deltalake(tmp_path / "visits", pa.table(ROWS))
    with sqlanon.connect(pair.source) as db:
        spec = pair.spec(source=f"delta:{tmp_path}/visits", publish="release.visits")
        assert db.run(spec).outcome == "published"
        assert sum(pair.there().values()) == 24
        assert db.run(spec).outcome == "unchanged"
        deltalake.DeltaTable(tmp_path / "visits").delete("id < 6")
        assert db.run(spec).version == 2
        assert sum(pair.there().values()) == 18
        assert db.audit("release.visits", spec=spec).satisfied


def test_the_command_sends_a_table_to_a_lake(db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    db.close()
    ended = invoke(
        *("anonymize", "delta:visits", "--db", f"duckdb:///{tmp_path}/private/state.duckdb", "--publish-to"),
        *("delta:published", "--qi", "age", "--sensitive", "ill", "--identifier", "id", "--k", "3"),
    )
    assert ended.exit_code == 0, ended.stderr
    assert deltalake.DeltaTable("published").to_pyarrow_table().num_rows == 24
