"""Code: what the import contracts of pyproject.toml cannot say."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import MODULES, PACKAGE, ROOT, label, syntax, tracked

IDENTITY = {"name", "dialect", "__class__"}
FIGURATIVE = re.compile(
    r"(?<![a-z])(told|tells?|telling|stands?|stood|standing|strangers?|"
    r"mend(s|ed|ing)?|doubtful|unfit|lends?|lent)(?![a-z])",
    re.IGNORECASE,
)
"""Words that hide what the code does; CONTRIBUTING.md lists them, and what to write."""
PROSE = {".md", ".py", ".sql", ".toml", ".yml"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{label(path)}:{node.lineno} imports relatively"
            yield node.module or ""


def asks_which_engine(node: ast.expr) -> bool:
    """Whether an expression is ``engine.name``, ``self._engine.dialect`` or the like."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return node.attr in IDENTITY and owner.lstrip("_") == "engine"


def comparisons(path: Path) -> Iterator[int]:
    """The lines where a file decides by an engine's identity."""
    for node in ast.walk(syntax(path)):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject]
        elif isinstance(node, ast.Subscript):
            sides = [node.slice]
        if any(asks_which_engine(side) for side in sides):
            yield node.lineno


def test_kernels_import_numpy_and_numba_with_its_generator_only():
    allowed = {"numpy", "numba", "llvmlite"} | (
        sys.stdlib_module_names - {"os", "pathlib", "io", "sqlite3", "subprocess"}
    )
    found = {}
    files = {path for path in MODULES if "kernels" in path.relative_to(PACKAGE).with_suffix("").parts}
    for path in files - {PACKAGE / "kernels" / name for name in ("cache.py", "shipped.py")}:
        outside = {name for name in imports(path) if not ("kernels" in name.split(".") and name.startswith("sqlanon."))}
        found[label(path)] = {name for name in outside if name.partition(".")[0] not in allowed}
    assert len(found) > 50
    assert {name: some for name, some in found.items() if some} == {}


def test_declarations_import_what_is_declared():
    """And each other: so a policy is checked, and ``--help`` shown, before a method or a requirement is imported."""
    found = {}
    for path in MODULES:
        if path.name == "declaration.py":
            names = {name for name in imports(path) if name.partition(".")[0] not in sys.stdlib_module_names}
            found[label(path)] = {
                name for name in names if not re.fullmatch(r"sqlanon\.(declared\.\w+|lack|spec|.+\.declaration)", name)
            }
    assert len(found) > 20
    assert {name: some for name, some in found.items() if some} == {}
    folders = {path.parent for path in MODULES if path.name == "declaration.py"}
    rooms = {PACKAGE / name for name in ("methods", "papers", "privacy")}
    inits = {folder / "__init__.py" for folder in folders | rooms}
    assert [label(path) for path in inits if len(syntax(path).body) != 1] == []


def test_nobody_imports_pandas_or_arrow():
    """Exceptions are the export of frames, on request, and the engine of Spark, which moves columns by Arrow."""
    heavy = {"pandas", "pyarrow", "polars"}
    others = [path for path in MODULES if not path.is_relative_to(PACKAGE / "engines" / "spark")]
    assert [label(path) for path in others if heavy & {name.partition(".")[0] for name in imports(path)}] == [
        "sqlanon/engines/duckdb/frame_export.py"
    ]


def test_nobody_asks_which_engine_it_is():
    """Outside its room an engine has capabilities and templates of its own, no name."""
    outside = [path for path in MODULES if not path.is_relative_to(PACKAGE / "engines")]
    assert [f"{label(path)}:{line}" for path in outside for line in comparisons(path)] == []


MODES = {"own_boxes", "token", "whole"}


def modes(path: Path) -> Iterator[int]:
    """The lines where a file asks a policy whose rows a method divides."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Attribute) and node.attr in MODES:
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if owner.lstrip("_") in {"spec", "privacy"}:
                yield node.lineno


def test_one_file_asks_how_a_policy_has_rows_divided():
    room = PACKAGE / "release" / "divide"
    found = {label(path) for path in room.glob("*.py") for _ in modes(path)}
    assert found == {label(room / "choose_division.py")}


def plain_strings(path: Path) -> Iterator[int]:
    """The lines where a file gives an engine SQL that is no `Statement`, so that it runs on the connection's path."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner = getattr(node.func.value, "attr", getattr(node.func.value, "id", ""))
            text = isinstance(node.args[0], ast.JoinedStr | ast.Constant | ast.BinOp)
            if text and owner.lstrip("_") == "engine" and node.func.attr in {"execute", "fetch"}:
                yield node.lineno


def test_generated_sql_is_a_statement():
    """The demo makes a table of its own in an empty DuckDB file."""
    outside = [path for path in MODULES if not path.is_relative_to(PACKAGE / "engines")]
    found = {label(path) for path in outside for _ in plain_strings(path)}
    assert found == {label(PACKAGE / "demo" / "layout.py")}


@pytest.mark.parametrize(
    "code",
    [
        "if engine.name == 'duckdb': pass",
        "x = self._engine.dialect != 'duckdb'",
        "x = 'postgres' in database.engine.dialect",
        "match engine.name:\n    case 'duckdb': pass",
        "x = {'duckdb': 1}[engine.dialect]",
    ],
)
def test_the_question_is_noticed(code, tmp_path):
    path = tmp_path / "code.py"
    path.write_text(code)
    assert list(comparisons(path)) == [1]


def test_rooms_import_one_way():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert linter, "import-linter is a development dependency"
    ended = subprocess.run(
        [linter, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def figurative(text: str) -> Iterator[str]:
    """``line: word`` of every word to avoid, whole or as a part of a name with underscores."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from (f"{number}: {found[0]}" for found in FIGURATIVE.finditer(line))


def prose() -> Iterator[tuple[str, str]]:
    """Python, SQL, settings and documents, with their text; of CHANGELOG.md what is not released yet."""
    for path in tracked():
        place = path.relative_to(ROOT)
        if place.parts[0] not in {"sqlanon", "sql", "dbt"} and path.suffix not in PROSE:
            continue
        if path.samefile(__file__):  # the words themselves are here
            continue
        text = path.read_text(encoding="utf-8")
        if place.name == "CHANGELOG.md":
            text = re.split(r"^## \[\d", text, maxsplit=1, flags=re.MULTILINE)[0]
        elif place.name == "CONTRIBUTING.md":  # its table lists the words
            text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
        yield label(path), text


def test_prose_is_literal():
    assert [f"{name}:{place}" for name, text in prose() for place in figurative(text)] == []


def test_figurative_words_are_noticed():
    assert list(figurative("Told.\nunderstand, outstanding, amend\ntell_it(_stood)")) == [
        "1: Told",
        "3: tell",
        "3: stood",
    ]
