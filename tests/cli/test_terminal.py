"""What needs a terminal or a shell: the questions of ``init -i``, and completion in bash and zsh."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import sqlanon
from tests.cli.conftest import environment

ROWS = [(f"Canary {i}", 20 + i % 30, "ab"[i % 2], ("flu", "cold", "ache")[i % 3]) for i in range(120)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "w.duckdb")) as made:
        made.execute("CREATE TABLE people (name VARCHAR, age INTEGER, sex VARCHAR, diagnosis VARCHAR)")
        made.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    return tmp_path


@pytest.mark.thorough
def test_the_answers_are_the_policy(folder, terminal):
    """Each question has its reason; an answer that cannot be read is asked again; Enter takes what is proposed."""
    code, shown = terminal(
        "init",
        "people",
        "--db",
        "duckdb:///w.duckdb",
        "-i",
        "-o",
        "anon.yml",
        answers=[
            ("1 of 4: name", ""),
            ("2 of 4: age", ""),
            ("3 of 4: sex", "i"),
            ("one of identifier", "ins"),
            ("4 of 4: diagnosis", "sens"),
            ("the person's column [", "nobody"),
            ("an identifier by its name, or -", ""),
            ("  k [", "0"),
            ("a whole number", "7"),
            ("  l [", "2"),
        ],
    )
    assert code == 0, shown
    assert shown.count("because: ") == 4
    assert "Canary" not in shown
    (spec,) = sqlanon.load_policy(folder / "anon.yml").releases
    roles = {column.name: column.role for column in spec.columns}
    assert roles == {"name": "identifier", "age": "quasi", "sex": "insensitive", "diagnosis": "sensitive"}
    assert (spec.privacy.k, spec.privacy.l) == (7, 2)
    with sqlanon.connect(f"duckdb:///{folder / 'w.duckdb'}") as db:
        assert db.run(spec).verified


@pytest.mark.usefixtures("folder")
def test_without_a_terminal_nothing_is_asked(shell):
    for words in ((), ("--json",)):
        ended = shell("init", "people", "--db", "duckdb:///w.duckdb", "-i", *words)
        assert ended.code == 2
        assert "-i asks questions on a terminal" in ended.out + ended.err


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home of its own with ``sqlanon`` on the path."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "sqlanon").write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'sqlanon'\nfrom sqlanon.cli import main\nmain()\n"
    )
    (bin_ / "sqlanon").chmod(0o755)
    return environment(HOME=str(tmp_path), PATH=f"{bin_}:{os.environ['PATH']}", ZDOTDIR=str(tmp_path))


COMPLETES = {
    "bash": """
sqlanon --install-completion
. "$HOME/.bashrc"
COMP_WORDS=(sqlanon pre); COMP_CWORD=1; _sqlanon_completion sqlanon pre sqlanon; echo "found: ${COMPREPLY[@]}"
COMP_WORDS=(sqlanon run --sel); COMP_CWORD=2; _sqlanon_completion sqlanon --sel run; echo "found: ${COMPREPLY[@]}"
""",
    "zsh": """
sqlanon --install-completion
test -f "$HOME/.zfunc/_sqlanon" && grep -q zfunc "$HOME/.zshrc"
_SQLANON_COMPLETE=complete_zsh _TYPER_COMPLETE_ARGS="sqlanon pre" sqlanon
_SQLANON_COMPLETE=complete_zsh _TYPER_COMPLETE_ARGS="sqlanon run --sel" sqlanon
""",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMPLETES)
def test_one_command_installs_completion(name, home):
    """As docs/quickstart.md says it, in a shell of that kind."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} here")
    plain = [program, "--norc"] if name == "bash" else [program, "-f"]
    ended = subprocess.run(
        [*plain, "-c", COMPLETES[name]], env=home, capture_output=True, text=True, check=True, timeout=300
    )
    assert "preview" in ended.stdout, ended
    assert "--select" in ended.stdout, ended
