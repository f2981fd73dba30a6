"""The command line on Spark, its whole walk on a small table: output and exit code of each command.

No value is in errors or in the log of events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401 - a fixture
from tests.dbt.conftest import DbtProject, project  # noqa: F401 - a fixture
from tests.spark.conftest import run_apart
from tests.spark.tables import CANARY, load
from tests.spark.test_walk import Log, shows_no_value

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
URL = "spark+local:///:memory:"
NUMBERS = 731620
"""The least of the numbers of `people`: what lies in a run of a hundred from here is one of them."""


@pytest.fixture
def people(session: Any) -> Iterator[str]:
    """A table of people whose cells are marked: their names, and texts and numbers that are published."""
    import pyarrow as pa

    ids = range(60)
    cells = {
        "id": list(ids),
        "name": [f"{CANARY}-{i}" for i in ids],
        "age": [NUMBERS + i * 7 % 41 for i in ids],
        "sex": [f"{CANARY}-{'mf'[i % 2]}" for i in ids],
        "disease": [f"{CANARY}-{('flu', 'asthma', 'ulcer')[i % 3]}" for i in ids],
    }
    load(session, pa.table(cells), "walked")
    yield "walked"
    session.sql("DROP TABLE walked")


def test_the_walk(session: Any, events: Path, cli: Cli, people: str, tmp_path: Path) -> None:  # noqa: F811
    """Each command of a release's life; the second version has a larger k, and is taken back.

    None leaves a cell in the log of events.
    """
    log = Log(session, events)

    def run(*words: object, code: int = 0) -> Any:
        ended = cli(*words, "--temporary", "--json")
        assert ended.code == code, (words, ended.err, ended.out)
        unmarked(*words)
        return ended.json

    def unmarked(*words: object) -> None:
        # Not a count or a time, which are numbers of the log itself.
        number = rf'(?<!\d)(?<!":)(?<!":"){NUMBERS // 100}\d\d\b'
        found = re.search(rf".{{0,200}}({CANARY}|{number}).{{0,80}}", log.new())
        assert found is None, (words, found)

    assert cli("init", people, "--db", URL, "--temporary", "-o", "proposed.yml").code == 0
    unmarked("init")
    assert "source: walked\n" in (tmp_path / "proposed.yml").read_text()
    policy = tmp_path / "anon.yml"
    written = (
        f'version: 1\nconnection: "{URL}"\nreleases:\n  - name: walked\n    source: {people}\n    publish: '
        "shown.walked\n    key: [id]\n"
        "    columns: {id: identifier, name: identifier, age: quasi, sex: quasi, disease: sensitive}\n"
        "    privacy: {k: %d, l: 2}\n    method: tree\n"
    )
    (tmp_path / "workload.yml").write_text("version: 1\ngenerators: [{name: some, kind: equality, queries: 9}]\n")
    policy.write_text(written % 3)
    refused = cli("run")
    assert (refused.code, "--temporary" in refused.err, refused.out) == (3, True, "")
    assert run("plan")["estimate"]["sql_seconds"] > 5
    run("run")
    policy.write_text(written % 6)
    run("run")
    assert run("audit", "shown.walked", "--sensitive", "disease")["k"] >= 6
    answer = run("query", "SELECT sex, COUNT(*) AS n FROM shown.walked GROUP BY sex ORDER BY sex")
    assert [row["sex"] for row in answer["rows"]] == [f"{CANARY}-f", f"{CANARY}-m"]
    assert run("evaluate", "walked")["sound"]
    run("attack", "walked")
    assert run("audit", "--history", "walked")["history"][0]["failing"]
    run("diff", "walked@1", "walked@2")
    ended = cli("report", "walked", "-o", "report.html", "--temporary")
    assert ended.code == 0, ended.err
    unmarked("report")
    assert "Source against release" in (tmp_path / "report.html").read_text()
    run("rollback", "walked", "--allow-weaker")
    statuses = [one["status"] for one in run("releases", "walked")["releases"]]
    assert statuses == ["published", "withdrawn"]
    refused = run("unpublish", "walked", "--purge", "--compact", code=2)["error"]
    assert (refused["kind"], "VACUUM" in refused["message"]) == ("UnsupportedError", True)
    run("unpublish", "walked", "--purge")
    run("clean")
    assert not session.catalog.tableExists("shown.walked")
    shows_no_value(events)


def test_models_of_dbt_are_released_in_the_database_that_is_named(
    session: Any,
    cli: Cli,  # noqa: F811
    project: DbtProject,  # noqa: F811
) -> None:
    """A project of dbt-spark, whose profile names no server."""
    project.metadata["adapter_type"] = "spark"
    project.write()
    session.sql("CREATE SCHEMA IF NOT EXISTS main")
    session.sql(
        "CREATE TABLE main.people AS SELECT 1000 + id AS id, 20 + id * 7 % 41 AS age, CONCAT('z', id % 5) AS zip, "
        "IF(id % 6 < 3, 'F', 'M') AS sex, ELT(1 + id % 3, 'flu', 'asthma', 'ulcer') AS disease FROM RANGE(60)"
    )
    options = ("--project-dir", project.folder, "--db", f"{URL}?temporary=true")
    outcomes = [cli("dbt", "run", *options, "--json") for _ in range(2)]
    assert [ended.code for ended in outcomes] == [0, 0], [ended.err for ended in outcomes]
    published, unchanged = (ended.json for ended in outcomes)
    assert (published["source"], published["published"], published["verified"]) == (
        "main.people",
        "release.people",
        True,
    )
    assert unchanged["outcome"] == "unchanged"
    assert session.table("release.people").count() == 60
    assert cli("unpublish", "people", "--purge", *options[2:]).code == 0
    session.sql("DROP TABLE main.people")


BROKEN = "CREATE VIEW broken AS SELECT id, CAST(CONCAT('cell-', LENGTH(name)) AS INT) AS age FROM walked"
CELL = "cell-14"
"""What Java's error quotes, which is no number.

Spark's log of events then has it too, and must hold nothing of other tests.
"""


@pytest.mark.usefixtures("people")
def test_errors_hold_no_value(session: Any, cli: Cli) -> None:  # noqa: F811
    """One error of the command line, with a log of everything besides: nothing of what Java says of the cell."""
    session.sql(BROKEN)
    for command, *options in (
        ("anonymize", "-vv", "--k", "2", "--rest", "drop", "--name", "broken"),
        ("audit",),
    ):
        ended = cli(command, "broken", "--qi", "age", *options, "--db", URL, "--temporary")
        assert (ended.code, "a value cannot be converted" in ended.err) == (3, True), ended.err
        assert CELL not in ended.err + ended.out
    assert not session.catalog.tableExists("release.broken")
    assert not [
        row for row in session.sql("SHOW TABLES IN _sqlanon").collect() if row[1].startswith(("_sqlanon_", "lock_"))
    ]
    session.sql("DROP VIEW broken")


@pytest.mark.usefixtures("people")
def test_errors_over_connect_hold_no_value(session: Any, connect_url: str) -> None:
    """The same by a client of Spark Connect, whose server sends its traces along."""
    session.sql(BROKEN)
    code = (
        "import sys; from sqlanon.cli import main; sys.argv = ['sqlanon', 'anonymize', 'broken', '--qi', 'age', '--k', "
        "'2', '--rest', 'drop', '--name', 'broken', '-vv', '--db', sys.argv[1]]; main()"
    )
    ended = run_apart(code, connect_url)
    assert (ended.returncode, "a value cannot be converted" in ended.stderr) == (3, True), ended.stderr
    assert CELL not in ended.stderr + ended.stdout
    session.sql("DROP VIEW broken")
