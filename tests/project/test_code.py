"""Code: what the import contracts of pyproject.toml cannot say."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.project.tree import MODULES, PACKAGE, ROOT, label, nodes, syntax, tracked

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
    for node in nodes(path):
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
    for node in nodes(path):
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
    for path in files - {PACKAGE / "kernels" / name for name in ("cache.py", "wheel_kernels.py")}:
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
    """Exceptions: the export of frames, lake tables, and Spark's engine, which moves columns by Arrow."""
    heavy = {"pandas", "pyarrow", "polars"}
    others = [path for path in MODULES if not path.is_relative_to(PACKAGE / "engines" / "spark")]
    assert [label(path) for path in others if heavy & {name.partition(".")[0] for name in imports(path)}] == [
        "sqlanon/engines/duckdb/frame_export.py",
        "sqlanon/engines/duckdb/lake/delta_commits.py",
        "sqlanon/engines/duckdb/lake/iceberg.py",
        "sqlanon/engines/duckdb/lake/iceberg_commits.py",
        "sqlanon/engines/duckdb/lake/parquet_files.py",
        "sqlanon/engines/duckdb/lake/parquet_objects.py",
    ]


def test_nobody_asks_which_engine_it_is():
    """Outside its room an engine has capabilities and templates of its own, no name."""
    outside = [path for path in MODULES if not path.is_relative_to(PACKAGE / "engines")]
    assert [f"{label(path)}:{line}" for path in outside for line in comparisons(path)] == []


MODES = {"own_boxes", "token", "whole"}
"""What a policy asks for, as attributes of a `ReleaseSpec` and its `PrivacySpec`."""
KINDS = {"boxes", "certificate", "edges", "frozen", "lineage"}
"""What only some versions have."""
CHOOSING = {
    "sqlanon/attack/kinds.py": "what attacks can measure of a version",
    "sqlanon/privacy/persons.py": "which requirements a policy asks for",
    "sqlanon/privacy/requirements.py": "the same of a policy in the catalog",
    "sqlanon/query/rewrite/attained_rows.py": "whether rows of classes or candidates of boxes attain what is shown",
    "sqlanon/release/audit/by_certificate.py": "whether a policy asks for the boxes that a version has",
    "sqlanon/release/catalog/entry.py": "what the catalog has of a version: certificate or link table",
    "sqlanon/release/catalog/lineage.py": "which lineage a version is of",
    "sqlanon/release/catalog/policy_diff.py": "whether a policy is weaker than another one",
    "sqlanon/release/divide/choose_division.py": "how a run divides",
    "sqlanon/release/erase.py": "why a policy's release has no keys to erase",
    "sqlanon/release/frozen/choose_lineage.py": "whether a run has a lineage, and which",
    "sqlanon/release/frozen/erased_keys.py": "what brings back the list of erased keys",
    "sqlanon/release/history/earlier_versions.py": "earlier versions that a comparison has, or has lost",
    "sqlanon/release/history/history.py": "which versions have lost their lineage",
    "sqlanon/release/history/side.py": "whether a comparison of two versions counts candidates",
    "sqlanon/release/verify/recheck_certificate.py": "whether a version has a certificate",
    "sqlanon/release/verify/stored_rows.py": "whether a version's rows are its own or its lineage's",
    "sqlanon/release/verify/tokens.py": "whether a table has tokens to verify",
    "sqlanon/results/run.py": "the words and figures of reports for a version",
    "sqlanon/results/versions.py": "the same of a line of the catalog",
    "sqlanon/table/pseudonyms.py": "what tokens are keyed with",
}
"""The files that may ask, and what they choose by it."""
OUTSIDE = {"policy", "declared"}
"""Rooms that check what a policy asks for."""


def conditions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose truth decides something."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test
        case ast.BoolOp(values=values):
            yield from values
        case ast.comprehension(ifs=tests):
            yield from tests
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Call(func=ast.Name(id="bool"), args=[asked]):
            yield asked
        case ast.Match(subject=subject):
            yield subject


def modes(path: Path) -> Iterator[int]:
    """The lines where a file asks how rows are divided, or which kind of version there is."""
    asserted = {inner for node in nodes(path) if isinstance(node, ast.Assert) for inner in ast.walk(node)}
    for node in (node for node in nodes(path) if node not in asserted):
        match node:
            case ast.Attribute(attr="own_boxes", value=owner) if last_name(owner) != "declared":
                yield node.lineno
            case ast.Attribute(attr=name, value=owner) if name in MODES and last_name(owner) in {"spec", "privacy"}:
                yield node.lineno
            case ast.Attribute(attr="frozen", value=ast.Attribute(attr="refresh")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value="own_boxes" | "whole")]):
                yield node.lineno
            case ast.Compare(left=asked, ops=[ast.Is() | ast.IsNot()]) if kind(asked):
                yield node.lineno
            case ast.Compare(left=ast.Attribute(attr="candidates" | "drawn"), ops=[ast.Is() | ast.IsNot()]):
                yield node.lineno
        yield from (test.lineno for test in conditions(node) if kind(test))


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, without leading underscores; empty for other expressions."""
    return str(getattr(node, "attr", getattr(node, "id", ""))).lstrip("_")


def kind(node: ast.AST) -> bool:
    """Whether an expression is what only some versions have."""
    if isinstance(node, ast.NamedExpr):
        return kind(node.target) or kind(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr in KINDS and last_name(node.value) != "request"  # `Request`, of a method's declaration
    return last_name(node) == "lineage"


ASKED = [
    "if spec.privacy.own_boxes: pass",
    "x = self._spec.token",
    "x = work.spec.privacy.whole",
    "x = spec.refresh.frozen and persons",
    "x = one if here.own_boxes else two",
    "x = bool(policy['privacy'].get('own_boxes'))",
    "if lineage is not None: pass",
    "x = recoded.candidates is None",
    "x = [one for one in entries if one.certificate]",
    "x = not entry.certificate",
    "x = [one for one in state.versions if one.frozen and one.version == 1]",
    "x = old.boxes is not None",
    "x = bool(entry.certificate)",
    "x = state.published and lineage",
    "match lineage:\n    case None: pass",
    "if (lineage := find()) is None: pass",
    "x = 1 if (found := entry.certificate) else 2",
]


@pytest.mark.parametrize("code", ASKED)
def test_a_question_for_a_mode_is_noticed(code, tmp_path):
    path = tmp_path / "code.py"
    path.write_text(code)
    assert set(modes(path)) == {1}


def test_modes_are_asked_for_where_they_are_chosen():
    """So a kind of division or of versions is a file, and no condition in the files of the others."""
    inside = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in OUTSIDE]
    found = {label(path): set(modes(path)) for path in inside}
    assert {name: lines for name, lines in found.items() if lines and name not in CHOOSING} == {}
    assert [name for name in CHOOSING if not found[name]] == []


def plain_strings(path: Path) -> Iterator[int]:
    """The lines where a file gives an engine SQL that is no `Statement`, so that it runs on the connection's path."""
    for node in nodes(path):
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


def test_the_formatter_lays_out_every_line():
    """No comment keeps it from a statement; nor is a limit of the linter lifted for a whole file."""
    kept = re.compile(r"#\s*(fmt: *(skip|off)|yapf: *disable|ruff: *noqa)")
    texts = {path: path.read_text(encoding="utf-8") for path in tracked() if path.suffix == ".py"}
    assert [label(path) for path, text in texts.items() if kept.search(text)] == []


def figurative(text: str) -> Iterator[str]:
    """``line: word`` of every word to avoid, whole or as a part of a name with underscores."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from (f"{number}: {found[0]}" for found in FIGURATIVE.finditer(line))


def prose() -> Iterator[tuple[str, str]]:
    """Python, SQL, settings and documents, with their text; of CHANGELOG.md the newest version."""
    for path in tracked():
        place = path.relative_to(ROOT)
        if place.parts[0] not in {"sqlanon", "sql", "dbt"} and path.suffix not in PROSE:
            continue
        if path.samefile(__file__):  # the words themselves are here
            continue
        text = path.read_text(encoding="utf-8")
        if place.name == "CHANGELOG.md":
            text = "".join(re.split(r"^## ", text, flags=re.MULTILINE)[:2])
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


def _is_described(method: ast.FunctionDef) -> bool:
    return ast.get_docstring(method) is not None or ast.unparse(method.body[0]) == "..."


def undocumented(trees: Iterable[ast.Module]) -> list[str]:
    """Public methods without a docstring, where neither a base class nor a protocol has one for them.

    Members that are `...` are described by their class.
    """
    methods: dict[str, dict[str, bool]] = {}
    bases: dict[str, set[str]] = {}
    for node in (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)):
        own = {one.name: _is_described(one) for one in node.body if isinstance(one, ast.FunctionDef)}
        methods.setdefault(node.name, {}).update(own)
        names = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
        bases.setdefault(node.name, set()).update(getattr(base, "attr", getattr(base, "id", "")) for base in names)
    of_protocols = {
        name for owner in methods if "Protocol" in bases[owner] for name, has in methods[owner].items() if has
    }

    def documents(owner: str, name: str) -> bool:
        return methods.get(owner, {}).get(name, False) or any(documents(base, name) for base in bases.get(owner, ()))

    return [
        f"{owner}.{name}"
        for owner, own in methods.items()
        for name in own
        if not name.startswith("_") and not owner.startswith("_") and name not in of_protocols
        if not documents(owner, name)
    ]


def test_public_methods_are_documented() -> None:
    assert undocumented(syntax(path) for path in MODULES) == []


def test_a_method_without_a_docstring_is_found() -> None:
    code = """
class Protocol: ...
class Shape(Protocol):
    def area(self): "Its area."
class Square(Shape):
    def area(self): pass
    def side(self): pass
"""
    assert undocumented([ast.parse(code)]) == ["Square.side"]


def owners(path: Path, users: Mapping[str, set[Path]], kernels: Path) -> set[str]:
    """The folders whose files import a kernel, directly or by other files of `sqlanon/kernels`."""
    found: set[str] = set()
    for user in users[module_of(path)] - {path}:
        place = user.relative_to(PACKAGE).parts
        found |= owners(user, users, kernels) if user.parent == kernels else {"/".join(place[:2])}
    return found


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def test_kernels_that_one_folder_uses_are_in_it() -> None:
    users: dict[str, set[Path]] = defaultdict(set)
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}:
                    users[name].add(path)
    kernels = PACKAGE / "kernels"
    shared = [path for path in sorted(kernels.glob("*.py")) if path.name != "__init__.py"]
    assert len(shared) > 20
    assert {label(path): who for path in shared if len(who := owners(path, users, kernels)) < 2} == {}
