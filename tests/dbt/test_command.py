"""``sqlanon dbt run`` and ``plan``: from a project's files to a published release, without dbt.

The engines are DuckDB and PostgreSQL.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
import yaml

import sqlanon
from examples.dbt_hospital.run import environment
from tests.cli.test_next_commands import following
from tests.conftest import ready
from tests.engines import ENGINES, create_table, read_table
from tests.invoked import invoke


def command(*words, code=0):
    ended = invoke("dbt", *words)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    assert ended.exit_code == code, ended.output
    return ended


@pytest.fixture
def inside(filled, monkeypatch):
    """The working directory of dbt."""
    monkeypatch.chdir(filled.folder)
    for name in ("DBT_TARGET", "DBT_PROFILES_DIR", "DBT_PROJECT_DIR", "DBT_TARGET_PATH", "DBT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return filled


def judged(rows):
    classes = {}
    for row in rows:
        key = tuple(str(value) for name, value in row.items() if name != "disease")
        classes.setdefault(key, []).append(row["disease"])
    assert min(map(len, classes.values())) >= 5
    assert all(2 * max(Counter(values).values()) <= len(values) for values in classes.values())


def test_run_publishes_and_run_again_refreshes(inside):
    reported = json.loads(command("run", "--json").stdout)
    assert (reported["release"], reported["source"], reported["published"], reported["verified"]) == (
        "people",
        "main.people",
        "release.people",
        True,
    )
    assert "unchanged, version 1 stays published" in command("run").stdout
    assert "verified, published as release.people" in command("run", "--full").stdout
    with sqlanon.connect(f"duckdb:///{inside.folder}/warehouse.duckdb") as db:
        judged(read_table(db, ("release", "people")))
        assert [row.version for row in db.releases("people")][-1] == 2


@pytest.mark.thorough
def test_keys_are_erased_from_the_release_of_a_model(inside):
    """And what a refused erase prints is run as it is printed."""
    meta = inside.node["config"]["meta"]["anonymize"]
    meta |= {"key": ["id"], "refresh": {"mode": "frozen", "cohort": {"rows": 10}}}
    inside.node["meta"] = inside.node["config"]["meta"]
    inside.write()
    command("run")
    (inside.folder / "my keys.csv").write_text("id\n1001\n", encoding="utf-8")
    inode = (inside.folder / "warehouse.duckdb").stat().st_ino
    asked = command("erase", "people", "--key-file", "my keys.csv", "--compact").stdout
    assert "1 published" in asked
    (done,) = following(asked)
    assert done[:3] == ["dbt", "erase", "people"]
    assert "written anew" in command(*done[1:]).stdout
    assert (inside.folder / "warehouse.duckdb").stat().st_ino != inode
    with sqlanon.connect(f"duckdb:///{inside.folder}/warehouse.duckdb") as db:
        assert db.version("people").report["lineage"]["erasing"] == 1
    meta["privacy"] = {"k": 6, "l": 2}
    inside.write()
    (again,) = following(command("erase", "people", "--key-file", "my keys.csv", code=2).stderr)
    assert "--new-lineage" in again
    command(*again[1:])


@pytest.mark.usefixtures("inside")
def test_options_before_the_command_count_too():
    ended = invoke("--json", "dbt", "plan")
    assert json.loads(ended.stdout)["release"] == "people"


def test_plan_publishes_nothing(inside):
    assert json.loads(command("plan", "--json").stdout)["publish"] == "release.people"
    assert "release.people" in command("plan").stdout
    with sqlanon.connect(f"duckdb:///{inside.folder}/warehouse.duckdb") as db:
        assert db.releases() == ()


def test_a_weaker_policy_wants_a_word_and_a_record_is_written(inside):
    command("run", "--quiet")
    inside.node["config"]["meta"]["anonymize"] = inside.node["meta"]["anonymize"] = {"privacy": {"k": 4, "l": 2}}
    inside.write()
    assert "--allow-weaker" in command("run", code=2).stderr
    command("run", "--quiet", "--allow-weaker", "--record", "record.json")
    record = json.loads((inside.folder / "record.json").read_text())
    assert (record["policy"], record["exit_code"], len(record["releases"])) == ("target/manifest.json", 0, 1)


def test_select_takes_models_and_releases(inside):
    block = {"privacy": {"k": 5}, "name": "survey", "publish": "release.survey"}
    inside.copy_of_node("again", alias="people", config={"meta": {"anonymize": block}}, meta={})
    inside.write()
    for name in ("again", "survey"):
        assert json.loads(command("run", "--json", "--select", name).stdout)["release"] == "survey"
    reported = command("run", "--select", "nobody", code=2).stderr
    assert "--select: no model nobody asks for a release; those that do: again, people, survey" in reported


def test_a_model_that_dbt_did_not_build_is_left_alone_and_others_go_on(inside):
    block = {"privacy": {"k": 5}, "name": "survey", "publish": "release.survey"}
    inside.copy_of_node("again", alias="people", config={"meta": {"anonymize": block}}, meta={})
    inside.results = [{"unique_id": "model.shop.people", "status": "error"}]
    inside.write()
    first, second = json.loads(command("run", "--json", code=2).stdout)["releases"]
    assert first["error"]["message"].startswith("model people: dbt did not build the model when it last ran")
    assert second["verified"]


def test_a_column_without_a_role_stops_the_release(inside):
    del inside.node["columns"]["zip"]
    inside.write()
    assert "zip" in command("run", code=2).stderr


def test_a_relation_that_is_not_there(inside):
    inside.node["alias"] = "nowhere"
    inside.write()
    assert "no table or view main.nowhere" in command("run", code=3).stderr


def test_errors_come_as_json_too(inside):
    inside.node["config"]["meta"]["anonymize"] = inside.node["meta"]["anonymize"] = {"privacy": {"k": 0}}
    inside.write()
    error = json.loads(command("run", "--json", code=2).stdout)["error"]
    assert error["kind"] == "PolicyError"
    assert "models/schema.yml:8: model people: anonymize.privacy.k: too small" in error["problems"][0]


def test_postgres(inside, tmp_path, monkeypatch):
    engine = ENGINES[2]
    url = ready(engine).fresh(tmp_path)
    with sqlanon.connect(url) as db:
        columns = {"id": "INTEGER", "age": "INTEGER", "zip": "TEXT", "sex": "TEXT", "disease": "TEXT"}
        rows = [(n, 20 + n * 7 % 41, f"z{n % 5}", "FM"[n // 3 % 2], "abc"[n % 3]) for n in range(60)]
        create_table(db, ("Shop Floor", "My people"), columns, rows)
    known = {name: value for name, value in environment(url).items() if name.startswith("HOSPITAL_")}
    output = {"type": "postgres", "schema": "x", "dbname": known["HOSPITAL_DATABASE"], "password": ""}
    for key, name in (("host", "HOST"), ("port", "PORT"), ("user", "USER"), ("password", "PASSWORD")):
        if value := known.get(f"HOSPITAL_{name}"):
            monkeypatch.setenv(f"SHOP_{name}", value)
            output[key] = f"{{{{ env_var('SHOP_{name}') }}}}"
    (inside.folder / "profiles.yml").write_text(yaml.safe_dump({"shop": {"outputs": {"default": output}}}))
    inside.node |= {"database": output["dbname"], "schema": "Shop Floor", "alias": "My people"}
    inside.metadata["adapter_type"] = "postgres"
    block = {"privacy": {"k": 5, "l": 2}, "name": "people"}
    inside.node["config"]["meta"]["anonymize"] = inside.node["meta"]["anonymize"] = block
    inside.write()
    assert json.loads(command("run", "--json").stdout)["source"] == "Shop Floor.My people"
    with sqlanon.connect(url) as db:
        judged(read_table(db, ("release", "people")))
    engine.drop(url)
