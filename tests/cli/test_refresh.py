"""Refreshes from the command line: run --due, --record, --allow-weaker.

Other commands are releases show, diff, rollback and audit --history.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
from pathlib import Path

import pytest


def change(warehouse, statement):
    import duckdb

    with duckdb.connect(warehouse.removeprefix("duckdb:///")) as connection:
        connection.execute(statement)


def edit(policy, old, new):
    text = policy.read_text(encoding="utf-8")
    assert old in text
    policy.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def keyed(policy):
    """The policy with a key and a period."""
    edit(policy, "    privacy:", "    key: id\n    every: 24h\n    privacy:")
    return policy


@pytest.mark.usefixtures("keyed")
def test_a_record_replaces_nothing_but_a_file(cli, tmp_path):
    """As root ``--record /dev/null`` would take the device away from everybody."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = cli("run", "--record", pipe)
    assert refused.code == 2
    assert "cannot be written (there is something that is no regular file)" in refused.err
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.glob("pipe*")) == [pipe]


def test_a_release_over_some_nights(cli, keyed, warehouse, tmp_path):
    record = tmp_path / "run.json"
    assert cli("run", "--due", "--record", record).code == 0
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    record.chmod(0o640)
    reported = json.loads(record.read_text(encoding="utf-8"))
    assert reported["finished_at"] >= reported["started_at"]
    assert (
        reported["exit_code"],
        [(one["release"], one["outcome"], one["version"]) for one in reported["releases"]],
    ) == (0, [("people", "published", 1)])
    assert "fresh, version 1 stays published" in cli("run", "--due").out
    change(warehouse, "DELETE FROM people WHERE id IN (1000, 1001)")
    plan = cli("plan")
    assert "version 2 replaces 1: data changed" in plan.out
    assert "60 -> 58: 0 added, 2 removed, 0 changed" in plan.out
    assert "versions 1 and 2 together" in plan.out
    assert cli("plan", "--json").json["state"] == "data changed"
    assert cli("run").code == 0
    edit(keyed, "k: 5", "k: 4")
    refused = cli("run", "--record", record)
    assert refused.code == 2
    assert "k 5 -> 4 (weaker)" in refused.err
    reported = json.loads(record.read_text(encoding="utf-8"))
    assert (reported["exit_code"], reported["releases"][0]["outcome"], reported["releases"][0]["error"]["kind"]) == (
        2,
        "failed",
        "GuardError",
    )
    keyed.write_text(keyed.read_text(encoding="utf-8").replace("privacy:", "privcy:"), encoding="utf-8")
    assert cli("run", "--record", record).code == 2
    reported = json.loads(record.read_text(encoding="utf-8"))
    assert (reported["exit_code"], reported["releases"], reported["error"]["kind"]) == (2, [], "PolicyError")
    assert stat.S_IMODE(record.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.glob("run.json*")] == ["run.json"]
    assert reported["finished_at"] >= reported["started_at"]
    keyed.write_text(keyed.read_text(encoding="utf-8").replace("privcy:", "privacy:"), encoding="utf-8")
    assert "run wants --allow-weaker" in cli("plan").out
    assert "version 3" in cli("run", "--allow-weaker").out

    shown = cli("releases", "show", "people@2")
    assert shown.code == 0, shown.err
    for word in (
        "people@2: replaced",
        "because    the source's rows changed",
        "policy       sha256",
        "column age",
        "key",
    ):
        assert word in shown.out
    assert cli("releases", "show", "people@2", "--json").json["report"]["replaces"] == 1
    side = cli("diff", "people@2", "people@3")
    assert side.code == 0, side.err
    assert "k 5 -> 4 (weaker)" in side.out
    assert cli("diff", "people@2", "people@3", "--json").json["weaker"] == ["k 5 -> 4 (weaker)"]
    history = cli("audit", "--history", "people")
    assert history.code == 0, history.err
    assert history.out.count("together") == 2
    assert [one["new"] for one in cli("audit", "--history", "people", "--json").json["history"]] == [2, 3]

    back = cli("rollback", "people")
    assert back.code == 0, back.err
    assert "version 2 is published again as release.people; version 3 is withdrawn" in back.out
    again = cli("rollback", "people", "--to", "3")
    assert again.code == 2
    assert "k 5 -> 4 (weaker)" in again.err
    assert cli("rollback", "people", "--to", "3", "--allow-weaker", "--json").json["version"] == 3


@pytest.mark.usefixtures("policy")
def test_mistakes(cli, tmp_path):
    for words, reported in (
        (["releases", "show"], None),
        (["releases", "show", "people@1"], "people is not a release of this database; releases: none"),
        (["releases", "show", "people@1", "more"], "releases wants nothing, a NAME, or: show NAME@VERSION"),
        (["rollback", "people"], "nothing is published that could be rolled back"),
        (["audit", "--history", "people"], "people is not a release of this database"),
        (["audit", "people", "--history", "people"], "audit wants one TABLE, or --together A B, or --history NAME"),
        (
            ["audit", "--history", "people", "--qi", "zip"],
            "--qi goes with a TABLE or a file; of releases the columns are those of their policies",
        ),
        (["audit", "--together", "people", "b", "--sensitive", "zip"], "--sensitive goes with a TABLE"),
        (["run", "--record", tmp_path / "no" / "run.json"], "cannot be written"),
    ):
        ended = cli(*words)
        assert ended.code == (2 if reported else 0), words
        assert (reported or "") in ended.err
    assert cli("releases", "--json").json == {"releases": []}


@pytest.mark.thorough
def test_unpublish_names_a_command_that_publishes_again(cli, keyed, warehouse):
    """With the policy and the database of this one."""
    assert cli("run").code == 0
    elsewhere = keyed.rename(keyed.with_name("other.yml"))
    for words in (["-p", elsewhere], ["--db", warehouse]):
        out = cli("unpublish", "people", *words).out
        following = shlex.split(out[out.index("; ") + 2 : out.index(" publishes it again")])
        assert cli(*following[following.index("rollback") :]).code == 0


@pytest.mark.thorough
@pytest.mark.usefixtures("keyed")
def test_unpublish_says_what_dropped_tables_leave(cli):
    """Only where tables are dropped: values stay in the file until they are overwritten."""
    said = "can stay in free blocks"
    assert cli("run").code == 0
    assert said not in " ".join(cli("unpublish", "people").out.split())
    assert said in " ".join(cli("unpublish", "people", "--purge").out.split())


def test_the_copy_that_the_page_advises_has_no_value_of_a_dropped_table(tmp_path):
    """DuckDB's own file has it, so that the advice is needed."""
    import duckdb

    old, new, canary = tmp_path / "old.duckdb", tmp_path / "new.duckdb", "c4n4ryvalue"
    with duckdb.connect(str(old)) as db:
        db.execute("CREATE SCHEMA s; CREATE TABLE s.kept AS SELECT 1 AS x; CREATE VIEW shown AS SELECT * FROM s.kept")
        db.execute(f"CREATE TABLE gone AS SELECT '{canary}' || range AS t FROM range(100000)")
        db.execute("CHECKPOINT; DROP TABLE gone; CHECKPOINT")
    assert canary.encode() in old.read_bytes()
    page = (Path(__file__).parents[2] / "docs/refresh.md").read_text(encoding="utf-8")
    (advice,) = re.findall(r"`(ATTACH 'old.duckdb' AS a; [^`]*)`", page)
    with duckdb.connect() as db:
        db.execute(advice.replace("old.duckdb", str(old)).replace("new.duckdb", str(new)))
        assert db.execute("SELECT x FROM b.shown").fetchall() == [(1,)]
    assert canary.encode() not in new.read_bytes()
