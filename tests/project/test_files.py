"""Files: rooms say what belongs in them, modules stay short, templates carry a header, nothing names a registry."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from tests.project.tree import MODULES, PACKAGE, ROOT, TEMPLATES, label, syntax, tracked

MOST_LINES = 500
WIDEST = 120
WIDE_FILES = {
    "tests/serve/asked_by_clients.sql": "a statement a line, as clients send them",
    "tests/refresh/fixtures/catalog_010_duckdb.sql": "a catalog as version 0.1.0 wrote it",
    "tests/refresh/fixtures/catalog_010_postgres.sql": "a catalog as version 0.1.0 wrote it",
}
PRAGMA = re.compile(r"  # (noqa|type: ignore|pragma|nosec)\b.*")
"""What a tool reads at the end of a line; ruff does not count it either."""
ROOMS = sorted(path.parent for path in MODULES if path.name == "__init__.py")
PINNED = [
    "requirements/dev.txt",
    "requirements/run.txt",
    "requirements/dbt.txt",
    "requirements/docs.txt",
    "requirements/spark.txt",
    "requirements/sail.txt",
]


def test_every_room_says_what_belongs_in_it():
    inside = {label(room): ast.get_docstring(syntax(room / "__init__.py")) for room in ROOMS}
    assert [name for name, text in inside.items() if not text] == []


def test_every_folder_with_modules_is_a_room():
    assert {path.parent for path in MODULES} == set(ROOMS)


def test_every_module_says_what_it_is():
    assert [label(path) for path in MODULES if not ast.get_docstring(syntax(path))] == []


def test_no_module_is_long():
    files = [path for path in tracked() if path.suffix in {".py", ".sql"}]
    lengths = {label(path): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_line_is_wide():
    """Of code and SQL; nor is an exception named that is none."""
    wide = {
        label(path)
        for path in tracked()
        if path.suffix in {".py", ".sql", ".jinja"}
        for line in path.read_text().splitlines()
        if len(PRAGMA.sub("", line)) > WIDEST and "://" not in line
    }
    assert wide == set(WIDE_FILES)


def test_nothing_names_a_package_registry():
    hosts = [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("debian", "org")]
    pattern = re.compile("|".join(rf"\b{name}\.{domain}\b" for name, domain in hosts), re.IGNORECASE)
    named = [
        f"{label(path)}:{number}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="ignore").splitlines(), 1)
        if pattern.search(line)
    ]
    assert named == []


@pytest.mark.parametrize("name", PINNED)
def test_constraints_pin_by_hash_and_name_no_place(name):
    text = (ROOT / name).read_text()
    body = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert "://" not in text
    assert [line for line in body if line.startswith("-")] == []
    assert [line for line in body if not re.match(r"    --hash=sha256:[0-9a-f]{64}|[a-z0-9-]+==\S+ \\", line)] == []
    pins = re.split(r"^(?=\S+==)", "\n".join(body), flags=re.MULTILINE)
    assert [pin for pin in pins if pin and "--hash=" not in pin] == []


def pins(name: str) -> dict[str, str]:
    """Package -> version of a constraints file."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) ", (ROOT / name).read_text(), flags=re.MULTILINE))


def test_running_pins_are_those_of_development():
    assert pins("requirements/run.txt").items() <= pins("requirements/dev.txt").items()


def names(requirements: list[str]) -> set[str]:
    """The packages of a list of requirements."""
    found = (re.match(r"[A-Za-z0-9_.-]+", requirement) for requirement in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


def test_dbt_runs_beside_the_versions_that_sqlanon_runs_with():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    run, dbt = pins("requirements/run.txt"), pins("requirements/dbt.txt")
    own = names(project["dependencies"])
    assert {name: dbt[name] for name in own} == {name: run[name] for name in own}
    assert names(project["optional-dependencies"]["dev-dbt"]) <= dbt.keys()


def test_every_declared_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run = names(project["project"]["dependencies"]) | names(project["build-system"]["requires"])
    assert run <= pins("requirements/run.txt").keys()
    assert names(project["project"]["optional-dependencies"]["dev"]) <= pins("requirements/dev.txt").keys()
    assert names(project["project"]["optional-dependencies"]["docs"]) <= pins("requirements/docs.txt").keys()
    spark = pins("requirements/spark.txt")
    assert names(project["project"]["optional-dependencies"]["spark"]) <= spark.keys()
    both = spark.keys() & pins("requirements/dev.txt").keys()  # one environment holds them
    assert {name: spark[name] for name in both} == {name: pins("requirements/dev.txt")[name] for name in both}


def test_readme_has_the_two_commands():
    lines = {re.sub(r"^[ $]+|\s+(#.*)?$", "", line) for line in (ROOT / "README.md").read_text().splitlines()}
    assert {"python3 dev.py demo", "python3 dev.py test"} <= lines


def test_templates_are_in_core_or_an_engine():
    engines = {path.parent.name for path in (PACKAGE / "engines").glob("*/__init__.py")}
    assert {path.relative_to(ROOT / "sql").parts[0] for path in TEMPLATES} <= {"core"} | engines


def test_actions_are_named_by_commit():
    """A tag can be moved to other code; in workflows and in those that the pages show."""
    texts = [path.read_text() for path in tracked() if path.suffix in {".yml", ".yaml", ".md"}]
    used = [one for text in texts for one in re.findall(r"uses: *([\w./-]+@\S+)", text)]
    assert used
    assert [one for one in used if not re.search(r"@[0-9a-f]{40}$", one)] == []
