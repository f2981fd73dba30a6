"""The commands that are printed to try next are complete: each is run as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Cli, make_duckdb

FROZEN = "    key: [id]\n    refresh: {mode: frozen, cohort: {rows: 10}, max_waiting: 0.05}\n"


def following(text: str) -> list[list[str]]:
    """The words of the commands below or behind ``next:``."""
    lines = text[text.rindex("next:") :].removeprefix("next:").splitlines()
    found = [shlex.split(line) for line in lines if re.match(r"\s*\S*sqlanon ", line)]
    assert found
    return [words[1:] for words in found]


def test_commands_run_as_they_are_printed(cli: Cli, warehouse: str, tmp_path: Path) -> None:
    """With a policy elsewhere, a database that is not the policy's, and a folder with a space."""
    folder = tmp_path / "my policies"
    folder.mkdir()
    policy, record = folder / "it's.yml", folder / "last run.json"
    policy.write_text(POLICY.format(url="duckdb:///nowhere.duckdb") + FROZEN, encoding="utf-8")
    given = ("-p", policy, "--db", warehouse)
    commands = following(cli("plan", *given).out)
    assert commands[0][0] == "run"
    commands += following(cli(*commands[0]).out)
    assert [words[0] for words in commands] == ["run", "audit", "releases"]
    more = "INSERT INTO people SELECT 5000 + i, 30, '53701', 'F', 'flu' FROM range(5) AS r(i)"
    make_duckdb(Path(warehouse.removeprefix("duckdb:///")), more)
    for name in ("plan", "run"):
        stopped = cli(name, *given, *(("--record", record) if name == "run" else ()))
        assert stopped.code == 1
        commands += following(stopped.err)
    assert commands[-1][:2] == ["run", "--new-lineage"]
    keys = folder / "some keys.csv"
    keys.write_text("id\n1001\n", encoding="utf-8")
    commands += following(cli("erase", "people", "--key-file", keys, *given).out)
    commands += following(cli("plan", "--new-lineage", *given).out)
    for words in dict.fromkeys(map(tuple, commands[1:])):
        assert cli(*words).code == 0, words
    assert record.is_file()


@pytest.mark.thorough
@pytest.mark.parametrize("k", [6, 4])
def test_a_refused_erase_prints_the_run_that_it_needs(cli: Cli, warehouse: str, tmp_path: Path, k: int) -> None:
    """Also of a policy that is weaker."""
    policy, keys = tmp_path / "it's mine.yml", tmp_path / "some keys.csv"
    text = POLICY.format(url="duckdb:///nowhere.duckdb") + FROZEN
    policy.write_text(text, encoding="utf-8")
    keys.write_text("id\n1001\n", encoding="utf-8")
    given = ("-p", policy, "--db", warehouse)
    assert cli("run", *given).code == 0
    policy.write_text(text.replace("k: 5", f"k: {k}"), encoding="utf-8")
    asked = ("erase", "people", "--key-file", keys, *given, "--yes")
    stopped = cli(*asked)
    assert stopped.code == 2
    (again,) = following(stopped.err)
    assert again[:1] == ["run"]
    assert "--new-lineage" in again
    assert cli(*again).code == 0
    assert cli(*asked).code == 0


@pytest.mark.thorough
def test_erase_of_everybody_says_that_the_release_is_withdrawn_first(
    cli: Cli, policy: Path, warehouse: str, tmp_path: Path
) -> None:
    policy.write_text(policy.read_text(encoding="utf-8") + FROZEN, encoding="utf-8")
    assert cli("run").code == 0
    keys = tmp_path / "keys.csv"
    make_duckdb(Path(warehouse.removeprefix("duckdb:///")), f"COPY (SELECT id FROM people) TO '{keys}' (HEADER)")
    asked = ("erase", "people", "--key-file", keys)
    shown = cli(*asked)
    assert (shown.code, "next:" in shown.out) == (0, False)
    assert "nothing would stay published" in shown.out
    assert "sqlanon unpublish people" in shown.out
    assert cli(*asked, "--yes").code == 1
    assert cli("unpublish", "people").code == 0
    (again,) = following(cli(*asked).out)
    assert cli(*again).code == 0


def test_the_next_command_keeps_what_was_confirmed(cli: Cli, policy: Path) -> None:
    """A weaker policy that needs a new lineage."""
    text = policy.read_text(encoding="utf-8") + FROZEN
    policy.write_text(text, encoding="utf-8")
    assert cli("run").code == 0
    policy.write_text(text.replace("k: 5", "k: 4"), encoding="utf-8")
    stopped = cli("run", "--allow-weaker")
    assert stopped.code == 2
    (again,) = following(stopped.err)
    assert cli(*again).code == 0
