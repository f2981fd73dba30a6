"""The command line: typer commands and their rendering. The only room that prints.

Nothing is imported here, so that the entry point starts fast; `sqlanon.cli.app` holds the commands, and each of
them imports the library when it runs.
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line with the process's own arguments and exit."""
    from sqlanon.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name the terminal cannot show must not fail a run
            stream.reconfigure(errors="backslashreplace")
    app()
