"""profiles.yml to a database URL: which file, profile and target, what Jinja means, and which secrets are not shown."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from sqlanon.dbt import load
from sqlanon.dbt.profile import find, read_connection
from sqlanon.engines.lacks import DBT_DATABASE, DBT_FEATURES, DBT_LACKS, DBT_PROFILE
from sqlanon.errors import PolicyError, UnsupportedError

SECRET = "s3cret {{ word"


def postgres(tmp_path: Path, environ: dict[str, str] | None = None, **values: object) -> dict[str, str]:
    """The parameters that libpq gets."""
    output = {"type": "postgres", "host": "db", "user": "u", "dbname": "d", "schema": "s", **values}
    path = tmp_path / "profiles.yml"
    path.write_text(yaml.safe_dump({"p": {"target": "t", "outputs": {"t": output}}}))
    made = read_connection(path, "p", None, tmp_path, environ or {})
    assert made.adapter == "postgres"
    assert made.url not in repr(made)
    parts = urlsplit(made.url)
    assert (parts.scheme, parts.netloc, parts.path) == ("postgresql", "", "")
    return {name: only for name, (only,) in parse_qs(parts.query).items()}


def test_postgres(tmp_path):
    assert postgres(tmp_path, port=5433, password="x", keepalives_idle=0) == {
        "host": "db",
        "port": "5433",
        "user": "u",
        "dbname": "d",
        "password": "x",
    }


def test_the_server_of_a_spark_session(tmp_path):
    """Pyspark takes the option of the session, else the variable; its parameters may hold a token."""
    path, server = tmp_path / "profiles.yml", "sc://host:15002/;token=s3cret"
    for parameters, environ in (
        ({"spark.remote": server}, {"SPARK_REMOTE": "sc://other"}),
        (None, {"SPARK_REMOTE": server}),
    ):
        output = {"type": "spark", "method": "session", "schema": "s", "server_side_parameters": parameters}
        path.write_text(yaml.safe_dump({"p": {"outputs": {"default": output}}}))
        made = read_connection(path, "p", None, tmp_path, environ)
        assert (made.url, made.adapter) == (server, "spark")
        assert "s3cret" not in repr(made)


def test_odd_values_reach_libpq_whole(tmp_path):
    from psycopg.conninfo import conninfo_to_dict

    odd = {
        "host": "/tmp/a b",
        "user": "ü@:/",
        "pass": "p@ss %&=?#",
        "role": "re leaser",
        "sslmode": "require",
    }
    output = {"type": "postgres", "dbname": "d/b", **odd}
    path = tmp_path / "profiles.yml"
    path.write_text(yaml.safe_dump({"p": {"outputs": {"default": output}}}, allow_unicode=True))
    known = conninfo_to_dict(read_connection(path, "p", None, tmp_path, {}).url)
    assert known["host"] == "/tmp/a b"
    assert (known["user"], known["password"], known["dbname"]) == ("ü@:/", "p@ss %&=?#", "d/b")
    assert (known["sslmode"], known["options"]) == ("require", "-c role=re\\ leaser")


def test_env_var(tmp_path):
    environ = {"HOST": "h", "PORT": "6543", "DBT_ENV_SECRET_PW": SECRET}
    known = postgres(
        tmp_path,
        environ,
        host="{{ env_var('HOST') }}",
        port="{{ env_var('PORT') | int }}",
        user="{{ env_var('NO', 'me') }}-x",
        password="{{ env_var('DBT_ENV_SECRET_PW') }}",
        dbname="{{ env_var('NO', 'd') | as_text }}",
        sslmode="{{ var('x', 'prefer') }}",
    )
    assert known == {
        "host": "h",
        "port": "6543",
        "user": "me-x",
        "password": SECRET,
        "dbname": "d",
        "sslmode": "prefer",
    }


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{{ env_var('NOT_SET') }}", "p.outputs.t.password: the environment variable NOT_SET is not set"),
        ("{{ var('x') }}", "var('x') has no default"),
        ("{{ target.name }}", "uses a name that is not known here"),
        ("{{ env_var('PW') ", "its Jinja cannot be read"),
        ("{{ env_var('PW') + 1 }}", "its Jinja fails (TypeError)"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "its Jinja"),
    ],
)
def test_jinja_that_cannot_be_rendered(tmp_path, value, words):
    with pytest.raises(PolicyError) as caught:
        postgres(tmp_path, {"PW": SECRET}, password=value)
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)
    assert f"{tmp_path}/profiles.yml" in str(caught.value)


def test_only_the_chosen_target_is_rendered(filled):
    assert load(filled.folder, profiles_dir=filled.folder, environ={}).policy.connection is not None
    with pytest.raises(PolicyError, match="SHOP_HOST_THAT_NOBODY_SET"):
        load(filled.folder, profiles_dir=filled.folder, target="nowhere", environ={})
    with pytest.raises(PolicyError, match="SHOP_HOST_THAT_NOBODY_SET"):
        load(filled.folder, profiles_dir=filled.folder, environ={"SHOP_TARGET": "nowhere"})
    with pytest.raises(PolicyError, match="SHOP_HOST_THAT_NOBODY_SET"):
        load(filled.folder, profiles_dir=filled.folder, environ={"DBT_TARGET": "nowhere"})
    with pytest.raises(PolicyError, match="no target x; it has: dev, nowhere"):
        load(filled.folder, profiles_dir=filled.folder, target="x", environ={"DBT_TARGET": "nowhere"})


def test_the_profile_is_found_as_dbt_finds_it(tmp_path, monkeypatch):
    for name in ("here", "home/.dbt", "named", "given"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "profiles.yml").touch()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    environ = {"DBT_PROFILES_DIR": str(tmp_path / "named")}
    assert find(tmp_path / "given", environ).parent == tmp_path / "given"
    assert find(None, environ).parent == tmp_path / "named"
    assert find(None, {}).resolve().parent == tmp_path / "here"
    (tmp_path / "here" / "profiles.yml").unlink()
    assert find(None, {}).parent == tmp_path / "home" / ".dbt"
    (tmp_path / "home" / ".dbt" / "profiles.yml").unlink()
    with pytest.raises(PolicyError, match=r"no profiles\.yml in .*here and .*\.dbt"):
        find(None, {})


@pytest.mark.parametrize("adapter", DBT_LACKS)
def test_an_adapter_has_what_it_does_not_lack(filled, adapter):
    """Each feature of an adapter is there, or is refused with the reason of its marker."""
    outputs = {
        "duckdb": {"path": "warehouse.duckdb"},
        "postgres": {"host": "h", "user": "u", "dbname": "warehouse"},
        "spark": {
            "method": "session",
            "schema": "main",
            "server_side_parameters": {"spark.remote": "sc://host:15002/;accept_shared=true"},
        },
    }
    profiles = {"shop": {"outputs": {"default": {"type": adapter, **outputs[adapter]}}}}
    (filled.folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    filled.metadata["adapter_type"] = adapter
    filled.write()
    calls = {
        DBT_PROFILE: lambda: load(filled.folder, profiles_dir=filled.folder, environ={}),
        DBT_DATABASE: lambda: load(filled.folder, db="duckdb:///warehouse.duckdb", environ={}),
    }
    assert set(calls) == set(DBT_FEATURES)
    for feature, call in calls.items():
        lack = DBT_LACKS[adapter].get(feature)
        if lack is None:
            assert [spec.name for spec in call().policy.releases] == ["people"]
            continue
        with pytest.raises(UnsupportedError) as refused:
            call()
        assert lack.why in str(refused.value)


@pytest.mark.parametrize(
    ("output", "error", "words"),
    [
        ({"type": "snowflake"}, UnsupportedError, "no engine for dbt's adapter 'snowflake'; it has: duckdb, postgres"),
        ({}, UnsupportedError, "adapter ''"),
        ({"type": "duckdb"}, PolicyError, "ends with dbt's own process"),
        ({"type": "duckdb", "path": "md:shop"}, PolicyError, "not a local DuckDB file"),
        ({"type": "duckdb", "path": "ducklake:x"}, PolicyError, "not a local DuckDB file"),
        ({"type": "duckdb", "path": "no.duckdb"}, PolicyError, "neither is a file"),
        ({"type": "postgres", "user": "u", "dbname": "d"}, PolicyError, "p.outputs.default: host is missing"),
        ({"type": "postgres", "host": "h", "user": "u"}, PolicyError, "dbname is missing"),
        ({"type": "spark", "method": "session"}, PolicyError, "names no server of Spark Connect; name one that"),
        ({"type": "spark", "method": "thrift", "host": "h"}, PolicyError, "names no server of Spark Connect"),
    ],
)
def test_targets_that_cannot_be_used(tmp_path, output, error, words):
    path = tmp_path / "profiles.yml"
    path.write_text(yaml.safe_dump({"p": {"outputs": {"default": output}}}))
    with pytest.raises(error, match=r"profiles\.yml") as caught:
        read_connection(path, "p", None, tmp_path, {})
    assert words in str(caught.value)


def test_a_relative_file_is_where_dbt_ran_or_in_the_project(filled, tmp_path, monkeypatch):
    def url():
        return load(filled.folder, profiles_dir=filled.folder, environ={}).policy.connection

    there = filled.folder / "warehouse.duckdb"
    monkeypatch.chdir(tmp_path)
    assert url() == f"duckdb:///{there}"
    monkeypatch.chdir(filled.folder)
    assert url() == f"duckdb:///{there}"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.duckdb").touch()
    with pytest.raises(PolicyError, match="both are there"):
        url()
    there.unlink()
    assert url() == f"duckdb:///{tmp_path / 'warehouse.duckdb'}"


def test_a_manifest_of_another_database_is_refused(filled):
    filled.node["database"] = "attached"
    filled.write()
    with pytest.raises(PolicyError, match="the model is in the database attached, and the target's is warehouse"):
        load(filled.folder, profiles_dir=filled.folder, environ={})
    filled.metadata["adapter_type"] = "postgres"
    filled.write()
    with pytest.raises(PolicyError, match="written for postgres, but the target is duckdb"):
        load(filled.folder, profiles_dir=filled.folder, environ={})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "profiles.yml:1: not YAML"),
        ("a: 2020-99-99", "profiles.yml: not YAML"),
        ("- a", "not a mapping"),
        ("other: {}", "no profile shop with outputs"),
        ("shop: {outputs: 3}", "no profile shop with outputs"),
        ("shop: {target: dev, outputs: {dev: 3}}", "no target dev"),
    ],
)
def test_broken_profiles(filled, text, words):
    (filled.folder / "profiles.yml").write_text(text)
    with pytest.raises(PolicyError) as caught:
        load(filled.folder, profiles_dir=filled.folder, environ={})
    assert words in str(caught.value)


def test_where_the_project_is(filled, tmp_path, monkeypatch):
    monkeypatch.chdir(filled.folder / "models")
    assert load(db="duckdb:///x", environ={}).models == {"people": "people"}
    monkeypatch.chdir(tmp_path)
    assert load(db="duckdb:///x", environ={"DBT_PROJECT_DIR": "shop"}).models == {"people": "people"}
    with pytest.raises(PolicyError, match=r"no dbt_project\.yml here or above"):
        load(db="duckdb:///x", environ={})
    with pytest.raises(PolicyError, match=r"no dbt_project\.yml in elsewhere"):
        load("elsewhere", db="duckdb:///x", environ={})


@pytest.mark.parametrize("way", ["argument", "environment", "project"])
def test_where_the_manifest_is(filled, way):
    (filled.folder / "target").rename(filled.folder / "made")
    given: dict[str, object] = {"environ": {}}
    if way == "argument":
        given["target_path"] = "made"
    elif way == "environment":
        given["environ"] = {"DBT_TARGET_PATH": "made"}
    else:
        (filled.folder / "dbt_project.yml").write_text(
            "name: shop\nprofile: shop\ntarget-path: \"{{ env_var('X', 'made') }}\"\n"
        )
        import os

        os.utime(filled.folder / "dbt_project.yml", ns=(1, 1))
    assert load(filled.folder, db="duckdb:///x", **given).models == {"people": "people"}
