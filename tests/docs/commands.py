"""The commands of a page, and an environment that holds no package but those that sqlanon itself needs."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from tests.project.tree import ROOT

README, QUICKSTART = ROOT / "README.md", ROOT / "docs" / "quickstart.md"
ROWS = 5000
SERVER = "postgresql://user@host/database"
SCREEN = {"TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
FIRST = "python3 dev.py demo"
"""What makes the environment: tested with its pinned packages."""
ELSEWHERE = (
    "python3 dev.py test",
    "python3 dev.py docs",
    "python3 dev.py demo --engine",
    "sqlanon --install-completion",
)
"""What other tests run, and what changes the user's shell."""


def commands_with_lines(page: Path) -> Iterator[tuple[str, int]]:
    """Shell commands of a page in their order, each with the number of the line after it.

    They are lines of blocks, which go on after a backslash and inside quotes, and what prose quotes of ``sqlanon``.
    """
    text = page.read_text(encoding="utf-8")
    blocks = re.sub(
        r"^```(?:python|yaml|json|sql)\n.*?^```$",
        lambda block: "\n" * block[0].count("\n"),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    lines = blocks.splitlines()
    for number, line in enumerate(lines):
        found = re.fullmatch(r"(?:    )?(?:\$ )?((?:python3?|sqlanon|cd) .*)", line)
        if found and (line[:4] == "    " or line[:2] == "$ "):
            command, after = _without_comment(found[1]), number + 1
            while goes_on(command):
                begun = command.removesuffix("\\").rstrip()
                command = f"{begun} {_without_comment(lines[after].strip())}"
                after += 1
            together = [command]
        else:
            together, after = re.findall(r"`(sqlanon [^`]+)`", line), number + 1
        for each in together:
            if not each.startswith(ELSEWHERE):
                yield each, after


def commands(page: Path) -> Iterator[str]:
    """Shell commands of a page, in their order."""
    return (command for command, _ in commands_with_lines(page))


def _without_comment(line: str) -> str:
    return re.sub(r"\s{2,}#.*$", "", line).strip()


def goes_on(command: str) -> bool:
    """Whether a command has no end yet."""
    if command.endswith("\\"):
        return True
    try:
        shlex.split(command)
    except ValueError:  # no closing quotation
        return True
    return False


def pinned_environment(folder: Path, more: Sequence[str] = ()) -> dict[str, str]:
    """Variables of an environment with what `requirements/run.txt` pins, ``more`` distributions, and this checkout.

    Its path has ``sqlanon`` and ``python``.
    """
    site, programs = folder / "site", folder / "bin"
    for one in (site, programs):
        one.mkdir(parents=True)
    text = (ROOT / "requirements/run.txt").read_text(encoding="utf-8")
    for name in (*re.findall(r"^([a-z0-9-]+)==", text, flags=re.MULTILINE), *more):
        held = metadata.distribution(name)
        for top in {path.parts[0] for path in held.files or () if path.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(held.locate_file(top))
    described = next(path.parts[0] for path in metadata.distribution("sqlanon").files or () if path.name == "METADATA")
    (site / described).symlink_to(metadata.distribution("sqlanon").locate_file(described))
    path = os.pathsep.join([str(site), str(ROOT)])
    for name, words in (("python", ""), ("sqlanon", "-m sqlanon")):
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={shlex.quote(path)} exec {shlex.quote(sys.executable)} -S -P {words} "$@"\n'
        )
        program.chmod(0o755)
    known = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return known | SCREEN | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def on_terminal(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command of a shell as on a terminal: its exit code, and what is on the screen."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # all who could write are gone
                part = b""
            if not part:
                break
            shown += part
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))
    return process.returncode, text.replace("\r\n", "\n")


def run_in_order(page: Path, folder: Path, environment: dict[str, str], server: str = "") -> dict[str, str]:
    """Run the commands of a page; gives what each has shown."""
    shown = {}
    (folder / "examples").symlink_to(ROOT / "examples")
    for command in commands(page):
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        if command.startswith("python3 dev.py"):
            assert command == FIRST
        given = command.replace(FIRST, f"sqlanon demo --rows {ROWS}").replace(SERVER, server)
        code, shown[command] = on_terminal(given, folder, environment)
        assert code == 0, f"{command}\n{shown[command]}"
        assert "Traceback" not in shown[command]
    return shown
