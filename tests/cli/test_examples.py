"""Examples in help and errors: every command has one, and its arguments are right."""

from __future__ import annotations

import shlex

import pytest
import typer

from sqlanon.cli.app import app
from sqlanon.cli.examples import EXAMPLES

GROUP = typer.main.get_command(app)
COMMANDS = [name for name, command in GROUP.commands.items() if not hasattr(command, "commands")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_an_example_that_parses(name):
    program, called, *words = shlex.split(EXAMPLES[name])
    assert (program, called) == ("sqlanon", name)
    command = GROUP.commands[name]
    context = command.make_context(name, words)
    assert not context.args
    assert command.epilog == f"Example: {EXAMPLES[name]}"


def test_an_error_of_the_arguments_shows_it(cli):
    ended = cli("diff", "patients@1")
    assert ended.code == 2
    assert ended.err.splitlines()[1:] == [f"Example: {EXAMPLES['diff']}", "Try: sqlanon diff --help"]
    assert cli("nosuch").err.splitlines()[1:] == ["Try: sqlanon --help"]


@pytest.mark.usefixtures("policy")
def test_names_that_are_not_there(cli):
    assert cli("releases", "other").out.strip() == "nothing was released here yet"
    assert cli("run").code == 0
    ended = cli("releases", "other")
    assert (ended.code, ended.out.strip()) == (0, "nothing was released here under this name; there are: people")
    ended = cli("diff", "1", "2")
    assert (ended.code, ended.err.strip()) == (
        2,
        (
            "error: 1 is not a release of this database; releases: people; name a version as NAME@VERSION, such as "
            "patients@2"
        ),
    )
