"""Starting fast: what is not needed is not imported."""

from __future__ import annotations

import json

import pytest

import sqlanon
from tests.cli.conftest import python

HEAVY = {"duckdb", "numba", "numpy", "sqlglot", "jinja2", "pydantic", "psycopg", "yaml", "llvmlite", "pyarrow"}


def loaded(code: str) -> set[str]:
    """The top-level modules of a fresh Python after this code."""
    script = f"""
import atexit, json, sys
sys.argv = ["sqlanon", "--help"]
atexit.register(lambda: sys.stderr.write(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}}))))
try:
{chr(10).join("    " + line for line in code.splitlines())}
except SystemExit:
    pass
"""
    ended = python("-c", script)
    return set(json.loads(ended.stderr))


@pytest.mark.parametrize(
    "code", ["import sqlanon", "import sqlanon.cli", "import sqlanon.cli.app", "from sqlanon.cli import main; main()"]
)
def test_light(code):
    assert not loaded(code) & HEAVY


def test_help_needs_no_rich():
    assert not loaded("from sqlanon.cli import main; main()") & {"rich", "pygments"}


def test_a_database_needs_no_compiler_and_no_parser():
    """Until a kernel runs, or a query is parsed: on DuckDB templates are written as they are sent.

    (plan runs those of the method, but where rows may be left out.)
    """
    code = """with sqlanon.connect("duckdb:///:memory:") as db:
    db.engine.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b FROM range(12) AS r(i)")
    db.plan(policy.release(source="t", quasi="a", sensitive="b", k=3, suppression={"limit": 0.1}, method="suppress"))
    db.releases()
"""
    found = loaded("import sqlanon\nfrom sqlanon import policy\n" + code)
    assert not found & {"numba", "llvmlite", "sqlglot", "psycopg", "pyarrow", "rich"}
    assert "duckdb" in found


@pytest.mark.thorough
def test_module(shell):
    by_name = shell("--version")
    ended = python("-m", "sqlanon", "--version", check=False)
    assert (ended.returncode, ended.stdout) == (by_name.code, by_name.out)
    assert by_name.out.startswith("sqlanon ")


def test_dir_lists_the_public_names():
    """As completion in a shell sees it, before anything was used; every name can be imported."""
    ended = python("-c", "import json, sqlanon; print(json.dumps([dir(sqlanon), sqlanon.__all__]))")
    listed, public = json.loads(ended.stdout)
    assert all(hasattr(sqlanon, name) for name in public)
    assert set(public) <= set(listed)
    assert {"connect", "anonymize", "Database", "PolicyError", "load_policy"} <= set(public)
    assert {name for name in listed if not name.startswith("__")} == {*public, "dbt"} - {"__version__"}


@pytest.mark.thorough
def test_a_library_leaves_signals_alone():
    """Handlers are the command line's: a program that uses sqlanon keeps its own."""
    code = """
import signal, sqlanon
with sqlanon.connect("duckdb:///:memory:") as db:
    db.engine.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(9) AS r(i)")
    db.profile("t")
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, \
signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    ended = python("-c", code)
    assert ended.stdout.split() == ["True", "True"]


@pytest.mark.thorough
def test_the_end_does_not_wait_for_what_is_left_in_memory():
    """A stopped rewriting leaves millions of parts of trees, which Python would free one by one before it ends."""
    code = """
import atexit, sys
import sqlanon.cli.app
class Left:
    def __init__(self):
        self.own = self
    def __del__(self):
        print("taken apart", file=sys.stderr)
left = Left()
atexit.register(lambda: print("what is registered for the end is done"))
sys.argv = ["sqlanon", "no-such-command"]
from sqlanon.cli import main
main()
"""
    ended = python("-c", code, check=False)
    assert (ended.returncode, ended.stdout) == (2, "what is registered for the end is done\n")
    assert "No such command" in ended.stderr
    assert "taken apart" not in ended.stderr
