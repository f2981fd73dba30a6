"""Extensions are found by entry points: of a real distribution in a process of its own, and what a bad one does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from sqlanon.declared import METHODS, Registry
from sqlanon.declared.cost import Cost
from sqlanon.declared.extensions import add_all
from sqlanon.declared.method import MethodDeclaration
from sqlanon.errors import PolicyError
from tests.cli.conftest import ROOT, START, environment
from tests.extend.installed import SITE

POLICY = """\
version: 1
connection: duckdb:///t.duckdb
releases:
  - name: people
    source: people
    columns: {age: quasi, illness: sensitive}
    privacy: {k: 3, max_share: 1/2}
    method: leading
    format: ends
"""


def python(directory: Path, *words: str, site: Path = SITE) -> subprocess.CompletedProcess[str]:
    """A Python that has the checkout, and a folder of distributions."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        env=environment(PYTHONPATH=f"{ROOT}:{site}"),
    )


def distribution(directory: Path, name: str, points: str) -> Path:
    """A folder with one more distribution."""
    info = directory / "site" / f"{name}-2.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(points)
    return directory / "site"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A database with a table, and a policy with all four extensions."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i % 17 AS age, substr('abcd', 1 + i % 4, 1) AS illness FROM range(60) "
            "AS t(i)"
        )
    (tmp_path / "anon.yml").write_text(POLICY)
    return tmp_path


@pytest.mark.thorough
def test_a_distribution_adds_all_four(policy: Path) -> None:
    planned, run = (python(policy, "-c", START, word) for word in ("plan", "run"))
    assert (planned.returncode, run.returncode) == (0, 0), planned.stderr + run.stderr
    assert "age_from" in planned.stdout
    assert "crowd " in run.stdout
    with duckdb.connect(str(policy / "t.duckdb")) as connection:
        found = connection.execute(
            "SELECT sum(n), max(n) / sum(n) FROM (SELECT age_from, age_to, illness, count(*) AS n FROM release.people "
            "GROUP BY ALL) GROUP BY age_from, age_to"
        ).fetchall()
    assert len(found) > 2
    assert min(rows for rows, _ in found) >= 3
    assert max(share for _, share in found) <= 0.5


LOOK = """\
import sys, sqlanon
import sqlanon.cli.app, sqlanon.database
from sqlanon.declared import FORMATS, Registry
assert not Registry._complete and not any(name.startswith("tests.extend") for name in sys.modules)
heavy = ("numpy", "numba", "duckdb", "psycopg")
before = [name for name in heavy if name in sys.modules]
spec = sqlanon.load_policy("anon.yml").releases[0]
print(spec.method.name, spec.format.kind, list(spec.privacy.more), \
[n for n in heavy if n in sys.modules and n not in before])
schema = sqlanon.policy.schema()["$defs"]
print("ends" in schema["FormatModel"]["properties"]["kind"]["enum"], \
"max_share" in schema["PrivacyModel"]["properties"])
"""


def test_imports_ask_for_none_and_policies_for_declarations_alone(policy: Path) -> None:
    done = python(policy, "-c", LOOK)
    assert done.stdout.splitlines() == ["leading ends ['max_share'] []", "True True"], done.stderr


@pytest.mark.thorough
def test_an_extension_that_cannot_be_used_is_an_error_of_what_reads_policies(policy: Path) -> None:
    site = distribution(policy, "broken", "[sqlanon.formats]\nspirals = no_such_module:DECLARED\n")
    run = python(policy, "-c", START, "plan", site=site)
    assert run.returncode == 2
    assert run.stderr == (
        "error: extension broken 2.1, entry point spirals = no_such_module:DECLARED of sqlanon.formats: "
        "ModuleNotFoundError: No module named 'no_such_module'; repair or uninstall it\n"
    )
    assert python(policy, "-c", START, "--help", site=site).returncode == 0


GOOD = MethodDeclaration("good", "A method of a test.", "nowhere:Good", Cost(0.0, 0.0))
TREE = MethodDeclaration("tree", "Another tree.", "nowhere:Tree", Cost(0.0, 0.0))


@pytest.mark.parametrize(
    ("point", "problem"),
    [
        ("tree = {here}:TREE", "there is a method tree already; choose another name"),
        ("good = {here}:POLICY", "it names no MethodDeclaration"),
        ("better = {here}:GOOD", "it declares the method good: both names must be the same"),
        ("good = {here}:NOTHING", "AttributeError: module '{here}' has no attribute 'NOTHING'"),
    ],
)
def test_all_problems_come_at_once_and_nothing_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, problem: str
) -> None:
    points = f"[sqlanon.methods]\n{point}\naaa = nowhere:GOOD\n".replace("{here}", __name__)
    monkeypatch.syspath_prepend(distribution(tmp_path, "bad", points))
    own = Registry("method", METHODS.own)
    with pytest.raises(PolicyError) as raised:
        add_all({"sqlanon.methods": own})
    assert len(raised.value.problems) == 2
    assert any(
        text.startswith("extension bad 2.1, entry point ") and problem.replace("{here}", __name__) in text
        for text in raised.value.problems
    )
    assert tuple(own.values()) == METHODS.own


def test_what_is_declared_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(distribution(tmp_path, "fine", f"[sqlanon.methods]\ngood = {__name__}:GOOD\n"))
    own = Registry("method", METHODS.own)
    add_all({"sqlanon.methods": own})
    assert own["good"] is GOOD
