"""The file that readers get is built where nobody else can read it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.publish.second_file import write_file


@pytest.mark.parametrize("fails", [False, True])
def test_rows_that_are_not_verified_yet_are_nobody_elses(tmp_path: Path, fails: bool) -> None:
    target = tmp_path / "released.duckdb"

    def fill(database: str) -> str:
        (folder,) = tmp_path.glob("*.sqlanon-*")
        assert folder.stat().st_mode & 0o777 == 0o700
        db.engine.execute(f"CREATE TABLE {database}.t AS SELECT 1 AS a")
        assert [Path(file).parent for file in folder.rglob("*.duckdb")] == [folder]
        if fails:
            raise RuntimeError
        return "made"

    with sqlanon.connect("duckdb:///:memory:") as db:
        if fails:
            with pytest.raises(RuntimeError):
                write_file(db.engine, "r", str(target), fill, Stopwatch("r", SilentProgress()))
        else:
            assert write_file(db.engine, "r", str(target), fill, Stopwatch("r", SilentProgress())) == "made"
    assert sorted(tmp_path.iterdir()) == ([] if fails else [target])
