"""``sqlanon demo``: works, works again, touches nothing that is not its own, and what it says to try works."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import environment, make_duckdb

SMALL = ["demo", "--rows", "5000"]


def test_demo(cli, tmp_path):
    ended = cli(*SMALL, "--json")
    assert ended.err == ""
    report = ended.json
    assert (report["rows"], report["seed"]) == (5000, 7)
    research, partners = report["releases"]
    assert (research["published"], partners["published"]) == ("research.patients", "partners.patients")
    for before, after in zip(report["before"], report["after"], strict=True):
        assert before["k"] == 1
        assert before["unique_rows"] > 2500
        assert after["k"] >= 10
        assert all(one["satisfied"] for one in after["requirements"])
    assert all(one["frequency_l"] >= 3 for one in report["after"][1]["sensitive"])
    assert report["together"]["matched"] == 5000
    kept = {path.name for path in (tmp_path / "sqlanon-demo").iterdir()}
    assert kept == {".sqlanon-demo", "anon.yml", "hierarchies", "patients.csv", "warehouse.duckdb"}


@pytest.mark.thorough
def test_again(cli, tmp_path):
    assert cli(*SMALL).code == 0
    policy = tmp_path / "sqlanon-demo" / "anon.yml"
    policy.write_text("mine", encoding="utf-8")
    (tmp_path / "sqlanon-demo" / "notes.txt").write_text("mine too", encoding="utf-8")
    second = cli(*SMALL)
    assert second.code == 0, second.err
    assert "replac" in second.out
    assert (tmp_path / "sqlanon-demo" / "notes.txt").read_text(encoding="utf-8") == "mine too"
    assert (tmp_path / "sqlanon-demo" / "anon.yml.old").read_text(encoding="utf-8") == "mine"


def test_not_its_own(cli, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "warehouse.duckdb").write_text("precious", encoding="utf-8")
    ended = cli(*SMALL, "--dir", "mine")
    assert ended.code == 2
    assert "mine" in ended.err
    assert [path.name for path in mine.iterdir()] == ["warehouse.duckdb"]
    assert (mine / "warehouse.duckdb").read_text(encoding="utf-8") == "precious"
    assert cli(*SMALL, "--dir", "mine/warehouse.duckdb").code == 2


@pytest.mark.thorough
def test_held_by_another(shell, tmp_path):
    demo = tmp_path / "sqlanon-demo"
    demo.mkdir()
    (demo / ".sqlanon-demo").touch()
    url = make_duckdb(demo / "warehouse.duckdb")
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", hold, url.removeprefix("duckdb:///")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        ended = shell(*SMALL)
        holder.communicate()
    assert ended.code == 3
    assert str(holder.pid) in ended.err
    assert (demo / "warehouse.duckdb").is_file()


def test_too_few(cli):
    assert cli("demo", "--rows", "10").code == 2


@pytest.mark.thorough
def test_text_and_what_to_try(shell, tmp_path):
    ended = shell(*SMALL, "--dir", "a demo", NO_COLOR="1")
    assert ended.code == 0, ended.err
    assert "\x1b" not in ended.out + ended.err
    reported, _, tail = ended.out.partition("Try next:")
    for word in ("research.patients", "partners.patients", "verified", "alone", "GCP", "together", "3 rows of"):
        assert word in reported
    assert all(len(line) <= 80 for line in reported.splitlines() if " -> " not in line), reported
    commands = [line.strip() for line in tail.strip().splitlines()]
    assert len(commands) == 8
    script = "set -eu\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "patients" in done.stdout
    assert (tmp_path / "a demo" / "patients_anon.parquet").is_file()
