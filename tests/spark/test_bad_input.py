"""What cannot be used ends in one error that says what to do, soon, and nothing is published."""

from __future__ import annotations

import sys
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import statement
from tests.spark.conftest import free_port, run_apart
from tests.spark.tables import CANARY, arrow, load
from tests.spark.test_walk import OPTIONS, leftovers

pytestmark = pytest.mark.spark


@pytest.mark.usefixtures("session")
def test_a_server_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers with its version, and is asked nothing else; as a session, and behind a URL."""
    from pyspark.sql import SparkSession

    from sqlanon.engines.spark.engine import SparkEngine

    client = SimpleNamespace(set_retry_policies=lambda _: None)
    old: Any = SimpleNamespace(version="3.5.4", client=client)
    with pytest.raises(DatabaseError, match=r"^this is Spark 3\.5\.4; sqlanon needs Spark 4\.0 or newer$"):
        SparkEngine.of(old, accept_shared=True, temporary=True)
    builder = SimpleNamespace(remote=lambda _: SimpleNamespace(create=lambda: old))
    monkeypatch.setattr(SparkSession, "builder", builder)
    with pytest.raises(DatabaseError, match=r"^this is Spark 3\.5\.4; sqlanon needs Spark 4\.0 or newer$"):
        sqlanon.connect("sc://127.0.0.1:15002")


@pytest.mark.thorough
@pytest.mark.usefixtures("session")
def test_no_server_is_there() -> None:
    """Spark Connect itself would go on trying for ten minutes.

    In a process of its own, as a session of Connect changes one for good.
    """
    code = "import sys, sqlanon; sqlanon.connect(sys.argv[1])"
    before = time.monotonic()
    ended = run_apart(code, f"sc://127.0.0.1:{free_port()}")
    assert "cannot connect to a Spark Connect server: check host and port" in ended.stderr.splitlines()[-1]
    assert time.monotonic() - before < 300


def test_a_server_that_is_gone_stays_so() -> None:
    """Statements run at the same time.

    One finds that the server is gone, and another has failed for a reason of its own.
    """
    from pyspark.errors import AnalysisException

    from sqlanon.engines.spark.engine import SparkEngine

    engine = SparkEngine.__new__(SparkEngine)
    engine._session, engine._gone = object(), False

    def one() -> None:
        with pytest.raises(DatabaseError), engine._translate_errors("another"):
            raise ConnectionResetError
        raise AnalysisException(message="")

    with pytest.raises(DatabaseError), engine._translate_errors("one"):
        one()
    with pytest.raises(DatabaseError, match="connect again"), engine._translate_errors("later"):
        pass


def test_an_error_without_a_name_has_the_class_of_its_cause() -> None:
    """Of an exception of Java that Spark gives no name only classes are shown: the text may quote a cell."""
    pytest.importorskip("pyspark")
    from sqlanon.engines.spark.errors import translate_error

    class FileNotFoundException(Exception):
        def getClass(self) -> Any:  # noqa: N802
            return SimpleNamespace(getSimpleName=lambda: type(self).__name__)

        def getCause(self) -> Any:  # noqa: N802
            return self.__cause__

    class SparkException(FileNotFoundException):
        pass

    java = SparkException(CANARY)
    java.__cause__ = FileNotFoundException(CANARY)
    failed = RuntimeError(CANARY)
    failed.java_exception = java  # type: ignore[attr-defined]
    shown = str(translate_error("publish/table", failed))
    assert shown.endswith("can still be selected from (FileNotFoundException)")
    assert CANARY not in shown
    assert str(translate_error("publish/table", RuntimeError(CANARY))).endswith("can still be selected from")


@pytest.mark.thorough
def test_executors_without_numba(session: Any, tmp_path: Path) -> None:
    """Their Python finds every package but that one; the release is refused as a whole, whatever was made before."""
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "numba.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')\n"
    )
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/lacking:$PYTHONPATH" exec {sys.executable} "$@"\n')
    program.chmod(0o755)
    file = tmp_path / "environment.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(program, "bin/python")
    load(session, arrow(40), "lacking")
    options = OPTIONS | {"quasi": ("i", "s"), "rest": "drop", "name": "lacking"}
    with sqlanon.connect(session, temporary=True, accept_shared=True, archive=str(file)) as db:
        db.engine.above, db.engine.block = 0, 1000
        with pytest.raises(
            DatabaseError, match="executors' Python has not what kernels need; install sqlanon"
        ) as failed:
            db.anonymize("lacking", **options)
        assert CANARY not in str(failed.value)
        assert not session.catalog.tableExists("release.lacking")
        assert not [row for row in db.releases("lacking") if row.status == "published"]
        assert not leftovers(db)


@pytest.mark.parametrize(
    "name", ["s3://bucket/patients", "/data/patients.parquet", "parquet.`/data/patients`", "patients.csv"]
)
def test_a_path_is_no_table(name: str) -> None:
    """How to register it is said."""
    pytest.importorskip("pyspark")
    from sqlanon.engines.spark.names import parts_of

    with pytest.raises(
        DatabaseError,
        match=r"is a path and no table of Spark's catalog.*CREATE TABLE t USING parquet LOCATION",
    ):
        parts_of(name)


def test_functions_are_refused(session: Any) -> None:
    """Spark has no stored functions of ours."""
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
        pytest.raises(sqlanon.UnsupportedError, match="are for DuckDB and PostgreSQL"),
    ):
        db.install_functions()


def test_the_least_of_one_value(session: Any) -> None:
    """Persons that one column names: Spark's LEAST and GREATEST want two values."""
    session.sql("CREATE TABLE held AS SELECT id % 2 AS x, id % 3 AS who FROM range(6)")
    with sqlanon.connect(session, temporary=True) as db:
        read = statement("risk/sizes", "spark", target=db.engine.target("held"), classes=["x"], persons=["who"])
        assert db.engine.fetch(read) == [(3, 6, 2)]
        read = statement(
            "audit/persons",
            "spark",
            target=db.engine.target("held"),
            classes=["x"],
            identifiers=["who"],
            assigned=False,
        )
        assert db.engine.fetch(read) == [(pytest.approx(1 / 3), 3)]
