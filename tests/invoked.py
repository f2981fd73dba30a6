"""The command line in this process."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner, Result


@cache
def commands() -> Any:
    """All commands, which typer makes of their functions: it would do so at every call."""
    from sqlanon.cli.app import app

    return get_command(app)


def invoke(*words: object, **environment: str) -> Result:
    """Run a command.

    Args:
        words: of the command line, after ``sqlanon``.
        environment: variables of it.
    """
    from sqlanon.cli.app import app

    with patch("typer.testing._get_command", lambda _: commands()):
        return CliRunner().invoke(app, [str(word) for word in words], env=environment)
