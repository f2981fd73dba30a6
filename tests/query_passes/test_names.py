"""No file of query outside its registry knows a function or an operator by its name, a test over the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sqlglot import exp

from tests.project.tree import ROOT

GRAMMAR = frozenset(
    (
        *("Func", "AggFunc", "Anonymous", "Binary", "Predicate", "Connector", "Operator", "Dot"),
        *("And", "Or", "Not", "Is", "In", "Between", "NullSafeEQ", "NullSafeNEQ"),
        *("Case", "If", "Any", "All", "Array", "Exists", "Collate", "Columns", "Neg"),
    )
)
"""Classes of the parser that are the grammar of SQL: kinds of nodes, logic, CASE, lists, and the sign of a constant."""
FILES = sorted(path for path in (ROOT / "sqlanon" / "query").rglob("*.py") if "functions" not in path.parts)


def names(path: Path) -> list[str]:
    """The functions and operators that a file asks for; trees that it makes itself are called, and do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call) for part in ast.walk(node.func)}
    return [
        f"{path.name}:{node.lineno} {node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "exp"
        and id(node) not in made
        and is_named(node.attr)
    ]


def is_named(name: str) -> bool:
    """Whether the parser's class is a function or an operator."""
    kind = getattr(exp, name, None)
    known = isinstance(kind, type) and issubclass(kind, exp.Func | exp.Binary | exp.Predicate | exp.Neg)
    return known and name not in GRAMMAR


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_functions_are_known_to_the_registry_alone(path: Path) -> None:
    assert names(path) == []


def test_a_name_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("found = isinstance(node, exp.Floor)\nmade = exp.Ceil(this=node)\n", encoding="utf-8")
    assert names(file) == ["x.py:1 Floor"]
