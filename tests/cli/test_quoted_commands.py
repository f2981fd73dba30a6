"""Commands in messages are quoted: a shell reads from them exactly the names that there are."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from sqlanon import shell
from sqlanon.cli.examples import EXAMPLES
from sqlanon.cli.options import next_command
from sqlanon.cli.screen import Screen
from sqlanon.release.prepare.release_warnings import how_to_measure
from tests.cli.conftest import POLICY, Cli
from tests.cli.test_next_commands import FROZEN
from tests.project.tree import ROOT

NASTY = (
    "two words",
    "it's",
    'say "x"',
    "$HOME",
    "`id`",
    "a;b|c&d",
    "*?[a]",
    "#x",
    "~",
    "",
    "!",
    "\\",
    "ü",
    "-dash",
    "--k",
    "two\nlines",
    "tab\tbed",
    "\x1b[2J",
    "\u202egnp",
    "it's\n\\n",
    "a\u00a0b",
)


def read_by_bash(text: str) -> list[str]:
    made = f"printf '%s\\0' {text}"
    ended = subprocess.run(["bash", "-c", made], capture_output=True, check=True, timeout=600)
    return ended.stdout.decode().split("\0")[:-1]


def test_a_shell_reads_the_words() -> None:
    words = [shell.word(name) for name in NASTY]
    assert all(word.isprintable() for word in words)
    assert read_by_bash(" ".join(words)) == list(NASTY)
    plain = [name for name in NASTY if name.isprintable()]
    assert shlex.split(" ".join(map(shell.word, plain))) == plain


def test_an_argument_is_not_taken_for_an_option() -> None:
    made = shell.command("erase", "-x", options=["--key-file", "-k.csv"])
    assert shlex.split(made) == ["sqlanon", "erase", "--key-file", "-k.csv", "--", "-x"]
    assert shell.command("erase", "x", options=["--yes"]) == "sqlanon erase x --yes"


@pytest.mark.thorough
def test_commands_of_messages_have_the_names(cli: Cli, warehouse: str, tmp_path: Path) -> None:
    """Plan, run, erase, and a release that cannot go on."""
    name = "-x it's $HOME; `y`\nlines\x1b"
    policy, keys = tmp_path / "-it's mine.yml", tmp_path / "some $keys.csv"
    text = POLICY.format(url="duckdb:///nowhere.duckdb").replace("name: people", f"name: {json.dumps(name)}")
    assert json.dumps(name) in text
    policy.write_text(text + FROZEN, encoding="utf-8")
    keys.write_text("id\n1001\n", encoding="utf-8")
    given = ("-p", policy, "--db", warehouse)
    found = [cli("plan", *given), cli("run", *given), cli("erase", "--key-file", keys, *given, "--", name)]
    policy.write_text(text.replace("k: 5", "k: 6") + FROZEN, encoding="utf-8")
    found.append(cli("run", *given))
    commands = []
    for ended in found:
        for line in (ended.out + ended.err).splitlines():
            printed = re.search(r"(?:^|next: |\()\s*(\S*sqlanon [a-z].*)", line)
            if printed:
                commands.append(read_by_bash(printed[1])[1:])
    assert all(line.isprintable() for ended in found for line in (ended.out + ended.err).split("\n"))
    names = [words[0] for words in commands]
    assert names[:5] == ["run", "audit", "releases", "erase", "run"]
    where = ["-p", str(policy), "--db", warehouse]
    assert commands[0] == ["run", *where]
    assert commands[2] == ["releases", *where, "--", name]
    assert commands[3] == ["erase", "--key-file", str(keys), "--yes", *where, "--", name]
    assert commands[4] == ["run", "--new-lineage", "-p", str(policy), "--select", name, "--db", warehouse]
    for words in (commands[4], commands[2], commands[3]):
        assert cli(*words).code == 0, words


def test_a_printed_proposal_has_no_control_characters(cli: Cli, tmp_path: Path) -> None:
    """A shell reads the names of the file and the columns from the command.

    Written to a file, it is a command for every shell.
    """
    source = tmp_path / "odd \x1b[31mname\n.csv"
    rows = "\n".join(f"{n % 9},{n % 5}" for n in range(60))
    source.write_text(f'"a\x1b[31m",b\n{rows}\n', encoding="utf-8")
    ended = cli("init", source)
    assert ended.code == 0
    assert all(line.isprintable() for line in ended.out.splitlines())
    assert str(source) in read_by_bash(ended.out.strip().splitlines()[-1].partition(" anonymize ")[2])
    assert cli("init", source, "-o", tmp_path / "made.sh").code == 0
    assert str(source) in (tmp_path / "made.sh").read_text(encoding="utf-8")


def test_the_next_command_has_the_names() -> None:
    for name in NASTY:
        made = next_command(Screen(), "erase", Path(f"{name}.yml"), [name], None, name, words=["--key-file", name])
        options = ["--key-file", name, "-p", f"{name}.yml", "--select", name]
        wanted = [*options, "--", name] if name.startswith("-") else [name, *options]
        assert read_by_bash(made.partition(" erase ")[2]) == wanted


def test_commands_in_warnings_and_errors() -> None:
    for name in NASTY:
        said = how_to_measure([name], "it's", False).partition("sqlanon ")[2]
        assert read_by_bash(said) == ["audit", "--together", name, "it's"]


def test_no_message_composes_a_command_of_bare_names() -> None:
    """What follows the name of a command in an f-string is quoted by `sqlanon.shell`, or fixed."""
    named = re.compile(rf"\bsqlanon ({'|'.join(EXAMPLES)}|dbt) ")
    composed = re.compile(rf"\bsqlanon ({'|'.join(EXAMPLES)}|dbt [a-z]+) [^.;:,()`]*$")
    found = []
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "sqlanon").rglob("*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text if "sqlanon " in text and 'f"' in text and named.search(text) else "")):
            if isinstance(node, ast.JoinedStr):
                before = ""
                for part in node.values:
                    if isinstance(part, ast.Constant):
                        before += str(part.value)
                    elif composed.search(before):
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
                        before = ""
    assert found == []
