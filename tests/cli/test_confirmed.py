"""Options that confirm what Spark does not do.

They are offered where a database is, passed on for Spark, and refused elsewhere.
"""

from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command

import sqlanon
from sqlanon.cli.app import app
from sqlanon.cli.options import next_command
from sqlanon.cli.screen import Screen
from sqlanon.errors import DatabaseError
from tests.cli.conftest import Cli

BOTH = ("--accept-shared", "--temporary")


def test_every_command_with_a_database_offers_them() -> None:
    found: Any = get_command(app)
    offered = 0
    for name, command in found.commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert ("--db" in options) == options.issuperset(BOTH), name
        offered += "--db" in options
    assert offered > 10
    for name, command in found.commands["dbt"].commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert options.issuperset(("--db", *BOTH)), name


@pytest.mark.parametrize("url", ["sc://127.0.0.1:1", "spark+local:///:memory:"])
@pytest.mark.parametrize("given", [(), BOTH[:1], BOTH[1:], BOTH])
def test_what_is_given_is_passed_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, url: str, given: tuple[str, ...]
) -> None:
    passed = {}

    def connect(_: str, **arguments: Any) -> None:
        passed.update(arguments)
        raise DatabaseError("no server")

    monkeypatch.setattr(sqlanon, "connect", connect)
    ended = cli("anonymize", "t", "--qi", "a", "--k", 2, "--db", url, *given)
    assert (ended.code, passed.get("progress") is not None) == (3, True)
    assert {"--" + name.replace("_", "-") for name, value in passed.items() if value is True} == set(given)


def test_refused_elsewhere(cli: Cli) -> None:
    ended = cli("releases", "--db", "duckdb:///w.duckdb", "--temporary")
    assert ended.code == 2
    assert "--temporary: for Spark alone" in ended.err


def test_the_next_command_has_them() -> None:
    screen = Screen(confirmed=BOTH)
    words = next_command(screen, "run", None, None, "sc://h").split()
    assert words[1:] == ["run", "--db", "sc://h", *BOTH]
