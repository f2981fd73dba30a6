"""``sqlanon warm``: what it compiles is what the releases need, and it says when that is not sure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from sqlanon.database import warm as module
from sqlanon.database.warm import warm
from sqlanon.policy import load
from tests.project.tree import ROOT

POLICY = """\
version: 1
connection: duckdb:///w.duckdb
releases:
  - name: people
    source: people
    publish: release.people
    columns:
      id: {role: identifier}
      age: {role: quasi}
      "Zip Code": {role: quasi, hierarchy: zip.csv}
      born: {role: quasi, hierarchy: {calendar: [month, year]}}
      ill: {role: sensitive}
    privacy: {K, l: 2}
    METHOD
"""
ZIPS = "".join(f"{10000 + n};{1000 + n // 10}*;*\n" for n in range(40))
METHODS = (
    "method: mondrian",
    "method: fulldomain",
    "method: {name: kmember, block: 300}",
    "format: anatomy",
    "refine: true",
    "method: best",
    "rows_are: events\n    person: id",
    "refresh: {mode: frozen}\n    key: [id]",
)


def folder_of(path: Path, method: str) -> Path:
    """A policy, its hierarchy and its table."""
    path.mkdir(exist_ok=True)
    (path / "zip.csv").write_text(ZIPS)
    (path / "anon.yml").write_text(
        POLICY.replace("METHOD", method).replace("K,", "" if "anatomy" in method else "k: 5,")
    )
    with duckdb.connect(str(path / "w.duckdb")) as db:
        db.execute(
            'CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 61 AS age, CAST(10000 + i % 40 AS VARCHAR) AS "Zip '
            'Code", '
            "DATE '1990-01-01' + CAST(i * 11 % 4000 AS INTEGER) AS born, 'ill ' || (i % 9) AS ill FROM range(400) AS "
            "r(i)"
        )
    return path


def sqlanon(folder: Path, cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command with a cache of its own."""
    known = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-m", "sqlanon", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=known | {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.duckdb
@pytest.mark.cover
@pytest.mark.parametrize("method", METHODS)
def test_every_kind_of_policy_is_made_of_made_up_rows(tmp_path, monkeypatch, method):
    """Nothing is missed, no database is opened, and nothing is written."""
    monkeypatch.setattr(module, "MANY", module.FEW)
    path = folder_of(tmp_path / "policy", method) / "anon.yml"
    (path.parent / "w.duckdb").unlink()
    before = sorted(path.parent.iterdir())
    report = warm(load(path).releases)
    assert (report.releases, report.missed) == (("people",), ())
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.thorough
@pytest.mark.duckdb
def test_what_cannot_be_made_is_named(cli, tmp_path):
    """A model that needs a table of the database; the command goes on with the others."""
    folder = folder_of(tmp_path / "policy", "method: mondrian")
    text = (folder / "anon.yml").read_text()
    more = text.partition("releases:\n")[2].replace("people", "few").replace("{k: 5, l: 2}", "{k: 5, l: 100}")
    (folder / "anon.yml").write_text(text + more)
    ended = cli("warm", "policy", "--json")
    assert ended.code == 0
    assert ended.json["releases"] == ["people"]
    (missed,) = ended.json["missed"]
    assert missed.startswith("few: ")


@pytest.mark.duckdb
def test_folders_and_files(cli, tmp_path):
    for words, said in (
        (("nowhere",), "no policy file or folder nowhere"),
        (("empty",), "no policy in the folder empty"),
        (("bad.yml",), "bad.yml"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        (tmp_path / "empty" / "dbt_project.yml").write_text("name: shop\n")
        (tmp_path / "bad.yml").write_text("version: 1\nreleases: [{}]\n")
        ended = cli("warm", *words)
        assert (ended.code, said in ended.err) == (2, True), ended.err


@pytest.mark.duckdb
@pytest.mark.thorough
def test_after_it_a_run_compiles_nothing(tmp_path):
    """With an empty cache, and a table whose ages take wide codes as well."""
    folder, cache = folder_of(tmp_path / "policy", "refine: true"), tmp_path / "cache"
    warmed = sqlanon(folder, cache, "warm", "anon.yml")
    assert warmed.returncode == 0, warmed.stderr
    assert "compiling kernels" in warmed.stderr
    assert "compiled" in warmed.stdout
    kept = sorted(cache.rglob("*.nbc"))
    assert kept
    with duckdb.connect(str(folder / "w.duckdb")) as db:
        db.execute(
            "CREATE TABLE many AS SELECT p.* REPLACE (40000 * (i % 50) + p.id * 50 + i AS age) FROM people AS p, "
            "range(100) AS r(i)"
        )
    (folder / "many.yml").write_text(
        (folder / "anon.yml")
        .read_text()
        .replace("people", "many")
        .replace("id: {role: identifier}", "id: {role: identifier, accept_repeats: true}")
    )
    for words in (("plan",), ("run",), ("run", "-p", "many.yml")):
        ended = sqlanon(folder, cache, *words)
        assert ended.returncode == 0, ended.stderr
        assert "compiling" not in ended.stderr
    assert sorted(cache.rglob("*.nbc")) == kept
    shutil.rmtree(cache)
    ended = sqlanon(folder, cache, "run", "--full")
    assert "functions" in ended.stderr
    quiet = sqlanon(folder, tmp_path / "other", "run", "--full", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")
