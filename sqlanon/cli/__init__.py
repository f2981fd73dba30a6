"""The command line: typer commands and their rendering. The only room that prints.

Nothing is imported here, so that the entry point starts fast; `sqlanon.cli.app` holds the commands, and each of
them imports the library when it runs.
"""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading

NEEDED = ("typer", "rich")
"""Packages that the command line imports, and the library does not: the extra ``cli``."""


def main() -> None:
    """Run the command line with the process's own arguments and exit."""
    try:
        from sqlanon.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in NEEDED:
            raise
        sys.stderr.write(f"error: the command sqlanon needs {' and '.join(NEEDED)}: pip install 'sqlanon[cli]'\n")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name the terminal cannot show must not fail a run
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            _end(ended.code)
        raise


def _end(code: int) -> None:
    """End the process without Python's release of memory.

    After a stopped rewriting that would take seconds.

    Returns where that is not safe: the interpreter's own way is left.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return
    atexit._run_exitfuncs()  # noqa: SLF001 - each is done once, also if Python's own way follows
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)
