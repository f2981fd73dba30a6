"""Variables and arguments say what they hold: words that fit any value are not used for them."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

from tests.project.tree import MODULES, PACKAGE, label, nodes

WORDS = frozenset(
    {"asked", "at", "done", "drawn", "found", "given", "held", "kept", "known", "made", "named", "one", "own"}
    | {"said", "taken", "wanted", "written"}
)
"""Names that say nothing of a value: CONTRIBUTING.md names the noun instead."""
WEAK_ARGUMENTS: dict[str, int] = {"attack": 1, "cli": 2, "database": 1, "progress.py": 2, "testing": 2}
"""Keywords with such a name in Python and on the command line, which callers write; a folder that is not here has none.

They are ``known`` of attacks and audits, ``done`` of `Progress` and ``asked`` of `sqlanon.testing`.
"""

CLASSES = frozenset(
    {"Around", "Before", "Beside", "Drawn", "Found", "Full", "Held", "Kept", "Least", "Left", "Made", "Most", "New"}
    | {"Outside", "Over", "Paid", "Past", "Plain", "Ran", "Raw", "Read", "Rest", "Road", "Room", "Seen", "Several"}
    | {"Shown", "Stays", "Sure", "Taken", "Together", "Whole", "Written", "Wrong"}
)
"""Names of one word that say nothing of a class; likewise all that end in -ed or -ing and are no nouns."""
NOUNS = frozenset({"Drawing", "Grouping", "Heading", "Packing", "Pricing", "Reading", "Spending"})
MODULES_OF_WORDS = frozenset(
    {"again", "apart", "beside", "better", "few", "fits", "keep", "least", "new", "past", "rest", "seen", "several"}
    | {"ties", "together", "whole", "wide", "without", "works"}
)
"""Names of one word that say nothing of a module, in addition to participles and to those of classes."""
NAMED_MODULES = {
    "sqlanon/formats/suppressed.py": "the format of this name",
    "sqlanon/kernels/compiled.py": "the decorators of compiled functions",
    "sqlanon/methods/suppress/better.py": "the variant of this name",
    "sqlanon/release/versions/full.py": "the refresh mode of this name",
    "sqlanon/statistics/unserved.py": "the error for a cell of this state",
}
"""Modules with such a name, and what it is."""
MODULE_NOUNS = frozenset(
    {"accounting", "annealing", "grouping", "matching", "pricing", "reading", "ring", "rounding", "staging"}
)
PUBLIC_FUNCTIONS = frozenset({"checked", "known", "satisfied", "swept"})
"""Functions with such a name that callers, extensions and engines write: they stay."""
FUNCTION_VERBS = frozenset({"bound", "feed", "fold", "hold", "need", "round", "seed", "succeed", "threshold"})
"""Verbs and nouns that end as participles do."""
BUILDERS = {"sqlanon/query/sql/sqltree.py"}
"""Modules whose functions are words of SQL trees, such as ``named(tree, name)``."""
PUBLISHED_CLASSES = frozenset({"Bounded", "Coded", "Grouped", "Measured", "Whole"})
"""Names that extensions and callers write: they stay."""


def is_weak_class(name: str) -> bool:
    """Whether a name of one word is a participle, or says nothing of the class."""
    word = name.lstrip("_")
    return word in CLASSES or (word not in NOUNS and re.fullmatch("[A-Z][a-z]*(ed|ing)", word) is not None)


def is_weak_module(word: str) -> bool:
    """Whether a name of one word is a participle, or says nothing of the module."""
    vague = word in MODULES_OF_WORDS or word in WORDS or word.capitalize() in CLASSES
    return vague or (word not in MODULE_NOUNS and re.fullmatch("[a-z]+(ed|ing)", word) is not None)


def is_weak_function(node: ast.FunctionDef) -> bool:
    """Whether a function has a participle for a name; properties and context managers are named after their values."""
    word = node.name.lstrip("_")
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    participle = re.fullmatch("[a-z]+(ed|own|ept|ound|ade|old|eft)", word) is not None
    return participle and word not in FUNCTION_VERBS and not marks & {"property", "cached_property", "contextmanager"}


def weak_names(code: CodeType) -> Iterator[str]:
    """Such names of variables, each with the line of the function or comprehension; arguments do not count."""
    arguments, more, keywords = inspect.getargs(code)
    names = {*code.co_varnames, *code.co_cellvars} - {*arguments, more, keywords}
    yield from (f"{code.co_firstlineno} {name}" for name in sorted(WORDS & names))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from weak_names(inner)


def weak_arguments(code: CodeType) -> Iterator[str]:
    """Such names of arguments, each with the line of the function."""
    arguments, more, keywords = inspect.getargs(code)
    yield from (f"{code.co_firstlineno} {name}" for name in sorted(WORDS & {*arguments, more, keywords}))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from weak_arguments(inner)


@cache
def read_code(path: Path) -> CodeType:
    """The compiled module: two tests look at all of them."""
    return compile(path.read_text(encoding="utf-8"), path, "exec", dont_inherit=True)


@pytest.mark.parametrize(
    ("name", "weak"),
    [("Found", True), ("_Asked", True), ("Linking", True), ("Reading", False), ("Release", False), ("KeptRows", False)],
)
def test_a_weak_class_is_noticed(name: str, weak: bool) -> None:
    assert is_weak_class(name) == weak


def test_classes_are_nouns() -> None:
    """A class is the noun of databases and papers for its objects."""
    weak = [
        f"{label(path)}:{node.name}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and is_weak_class(node.name) and node.name not in PUBLISHED_CLASSES
    ]
    assert weak == []


@pytest.mark.parametrize(
    ("name", "weak"), [("taken", True), ("linked", True), ("rounding", False), ("kept_rows", False), ("wide", True)]
)
def test_a_weak_module_is_noticed(name: str, weak: bool) -> None:
    assert is_weak_module(name) == weak


def test_modules_are_nouns() -> None:
    """A module is named after what is in it, as its first line says."""
    weak = {label(path) for path in MODULES if is_weak_module(path.stem)}
    assert weak == NAMED_MODULES.keys()


@pytest.mark.parametrize(
    ("code", "weak"),
    [
        ("def _left(): ...", True),
        ("def bound(): ...", False),
        ("@property\ndef kept(self): ...", False),
        ("def list_kept(): ...", False),
    ],
)
def test_a_weak_function_is_noticed(code: str, weak: bool) -> None:
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.FunctionDef)
    assert is_weak_function(node) == weak


def test_functions_are_verbs() -> None:
    weak = [
        (label(path), node.name)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and is_weak_function(node) and node.name not in PUBLIC_FUNCTIONS
    ]
    assert [one for one in weak if one[0] not in BUILDERS] == []


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "return [one for one in y]",
        "for at, b in a: pass",
        "if made := 1: pass",
        "return lambda: [kept := 1]",
    ],
)
def test_a_weak_name_is_noticed(code: str) -> None:
    assert len(list(weak_names(compile(f"def f(a):\n    {code}", "code.py", "exec")))) == 1


def test_fields_and_arguments_do_not_count() -> None:
    code = "class C:\n    kept: int = 1\n    def f(self, found, *named, one, **own):\n        found = found or one\n"
    assert list(weak_names(compile(code, "code.py", "exec"))) == []


def test_local_variables_say_what_they_hold() -> None:
    assert [f"{label(path)}:{name}" for path in MODULES for name in weak_names(read_code(path))] == []


def test_weak_arguments_are_noticed() -> None:
    code = (
        "def f(found, *named, one, **own):\n    return lambda kept, other=1: kept\nclass C:\n    def g(self, at): ..."
    )
    names = [name.partition(" ")[2] for name in weak_arguments(compile(code, "code.py", "exec"))]
    assert names == ["found", "named", "one", "own", "kept", "at"]


def test_arguments_say_what_they_hold() -> None:
    """Give a new argument the noun of its value; where an old one was renamed, lower the number of its folder."""
    weak = Counter(path.relative_to(PACKAGE).parts[0] for path in MODULES for _ in weak_arguments(read_code(path)))
    assert {room: number for room, number in weak.items() if number > WEAK_ARGUMENTS.get(room, 0)} == {}
