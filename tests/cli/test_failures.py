"""How a command ends: every error has a kind, one message without data, and its exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest
import typer
from typer.testing import CliRunner

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.command import Commands, register
from sqlanon.cli.failures import describe
from sqlanon.errors import (
    DatabaseError,
    GuardError,
    InfeasibleError,
    LockedError,
    PolicyError,
    PrivacyViolation,
    SqlanonError,
    TemplateError,
    UnsupportedError,
)
from tests.cli.conftest import environment

CANARY = "xq7-canary-81"


def ended(error: BaseException, *words: str):
    """Run a command that raises."""
    app = typer.Typer(cls=Commands)

    def fail(_screen):
        raise error

    register(app, fail)
    register(app, other)
    return CliRunner().invoke(app, ["fail", *words])


def other(screen):
    """Two commands make a group."""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PrivacyViolation("k"), 1),
        (SqlanonError("s"), 2),
        (PolicyError("p"), 2),
        (GuardError("g"), 2),
        (UnsupportedError("u"), 2),
        (DatabaseError("d"), 3),
        (LockedError("l"), 3),
        (TemplateError("t"), 3),
        (InfeasibleError("i"), 4),
        (ValueError("v"), 3),
        (PermissionError(13, "Permission denied", "out.csv"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_codes(error, code):
    text = ended(error)
    assert text.exit_code == code
    assert text.stdout == ""
    assert text.stderr.startswith("error: ")
    reported = ended(error, "--json")
    assert reported.exit_code == code
    assert reported.stderr == ""
    body = json.loads(reported.stdout)["error"]
    assert body["exit_code"] == code
    assert body["message"] in text.stderr


def test_problems():
    result = ended(PolicyError(["a: wrong", "b: wrong too"]))
    assert result.stderr.splitlines() == ["error: 2 problems", "  a: wrong", "  b: wrong too"]
    body = json.loads(ended(PolicyError(["a: wrong", "b: wrong too"]), "--json").stdout)["error"]
    assert body["problems"] == ["a: wrong", "b: wrong too"]


@pytest.mark.parametrize("words", [(), ("--json",), ("-vv",)])
def test_text_of_others_is_kept(words):
    driver = DatabaseError("the database refused statement encode/domain")
    driver.__cause__ = ValueError(f"Could not convert string '{CANARY}' to INT32")
    for error in (
        ValueError(CANARY),
        KeyError(CANARY),
        driver,
        UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, "x"),
    ):
        result = ended(error, *words)
        assert result.exit_code == 3
        assert CANARY not in result.stdout + result.stderr


def test_debug_shows_causes():
    driver = DatabaseError("the database refused")
    driver.__cause__ = ValueError(CANARY)
    assert CANARY in ended(driver, "--debug").stderr
    result = ended(driver, "--debug", "--json")
    assert CANARY in result.stderr
    assert CANARY not in result.stdout


def test_unexpected_says_where():
    with pytest.raises(TypeError) as raised:
        parse_names("--qi", [3])
    failure = describe(raised.value)
    assert failure.exit_code == 3
    assert "sqlanon/cli/arguments.py:" in failure.message


def test_usage(cli):
    for words in (["nonsense"], ["plan", "--nonsense"], ["anonymize"], ["anonymize", "x.csv", "--k", "many"]):
        result = cli(*words)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: ")
        assert "--help" in result.err
        reported = cli(*words, "--json")
        assert reported.json["error"] == {
            "kind": "UsageError",
            "message": reported.json["error"]["message"],
            "exit_code": 2,
        }
    assert cli().code == 2


def test_shared_options_before_and_after():
    app = typer.Typer(cls=Commands)
    seen = []

    def look(screen):
        seen.append((screen.json, screen.quiet, screen.verbose, screen.debug))

    from sqlanon.cli.app import options

    app.callback()(options)
    register(app, look)
    register(app, other)
    for words in (
        ["--json", "-q", "-vv", "--debug", "look"],
        ["look", "--json", "--quiet", "-v", "-v", "--debug"],
        ["--json", "--debug", "look", "-q", "-vv"],
    ):
        assert CliRunner().invoke(app, words).exit_code == 0
    assert seen == [(True, True, 2, True)] * 3


def script(body: str, *, ignored: Sequence[str] = ()) -> list[str]:
    """Run a command with this body.

    The signals are those of a shell in the foreground, whatever the tests run under, or are ignored.
    """
    return [
        sys.executable,
        "-c",
        f"""
import signal, sys, time, typer
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
    signal.signal(getattr(signal, name), signal.SIG_IGN if name in {tuple(ignored)!r} else signal.SIG_DFL)
from sqlanon.cli.arguments import parse_names
from sqlanon.cli.command import Commands, register
app = typer.Typer(cls=Commands)
def work(screen):
{chr(10).join("    " + line for line in body.splitlines())}
def other(screen):
    pass
register(app, work)
register(app, other)
app(["work"])
""",
    ]


@pytest.mark.parametrize(
    ("number", "code", "reported"),
    [
        (signal.SIGINT, 130, "Ctrl-C"),
        (signal.SIGTERM, 143, "SIGTERM"),
        (signal.SIGHUP, 129, "SIGHUP"),
        (signal.SIGQUIT, 131, "SIGQUIT"),
    ],
)
def test_interrupt(number, code, reported, tmp_path):
    """Every ``finally`` is run, and a SIGTERM after another signal does not cut it short."""
    body = f"""import os, signal
try:
    os.write(1, b'ready\\n')
    time.sleep(600)
finally:
    if {number != signal.SIGINT}:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
    open({str(tmp_path / "cleaned")!r}, 'w').close()"""
    process = subprocess.Popen(
        script(body), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == code
    assert out == ""
    assert err.startswith(f"error: stopped by {reported}")
    assert (tmp_path / "cleaned").exists()
    assert "Traceback" not in err


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["SIGHUP", "SIGQUIT"])
def test_ignored_signals(name):
    """As under nohup, or in the background of a script."""
    body = f"os.kill(os.getpid(), signal.{name})\ntime.sleep(0.01)\nos.write(1, b'done')"
    ended = subprocess.run(
        script("import os\n" + body, ignored=[name]),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done", "")


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "code", "reported"), [("SIGINT", 130, "Ctrl-C"), ("SIGTERM", 143, "SIGTERM")])
def test_interrupt_that_a_driver_swallows(name, code, reported):
    body = f"""import os, signal
try:
    os.kill(os.getpid(), signal.{name})
    time.sleep(600)
except KeyboardInterrupt:
    raise RuntimeError("Query interrupted")"""
    ended = subprocess.run(script(body), env=environment(), capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == code
    assert ended.stderr.startswith(f"error: stopped by {reported}")
    assert "RuntimeError" not in ended.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("write", ["screen.show('x' * 100)", "sys.stdout.write('x' * 100)"])
def test_broken_pipe(write):
    process = subprocess.Popen(
        script(f"for _ in range(100000): {write}"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=300) == 141
    process.stderr.close()


def test_names_in_errors_and_logs_are_not_obeyed_by_a_terminal() -> None:
    """Escape sequences clear the screen, and a line break in a name would be a line of the log of its own."""
    body = r"""import logging, sys
from sqlanon.errors import DatabaseError
from sqlanon.cli.logs import configure
configure(1, debug=False)
logging.getLogger('sqlanon').warning('table %s', 'a\x1b[2Jb\nforged')
raise DatabaseError('no column x\x1b]0;title\x07\u202ey')"""
    ended = subprocess.run(script(body), env=environment(), capture_output=True, text=True, check=False, timeout=300)
    assert not [char for char in ended.stderr if not char.isprintable() and char != "\n"]
    lines = ended.stderr.splitlines()
    assert [
        line for line in lines if line.endswith("table a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}forged")
    ]
    assert "error: no column x\\x1b]0;title\\x07\\u202ey" in lines
