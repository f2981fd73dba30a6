"""Mutants of Python: one operator, comparison, constant, condition or statement of a module is another."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """A changed file.

    Attributes:
        path: relative to the checkout.
        line: of the change, in the file as it is.
        kind: what was changed.
        shown: the piece before and after.
        within: line of the first statement of the block that holds it; None outside of functions.
        text: the whole changed file.
    """

    path: str
    line: int
    kind: str
    shown: str
    within: int | None
    text: str


def mutants(root: Path, path: Path) -> Iterator[Callable[[], Mutant]]:
    """Every mutant of a module, in the order of its nodes; each is made when it is called."""
    for place, (node, _) in enumerate(_nodes(ast.parse(path.read_text(encoding="utf-8")))):
        for number, _ in enumerate(_changes(node)):
            yield partial(_mutant, root, path, place, number)


def _mutant(root: Path, path: Path, place: int, number: int) -> Mutant:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, within = list(_nodes(tree))[place]
    kind, changed = list(_changes(node))[number]
    shown = f"{ast.unparse(node).splitlines()[0][:90]} -> {ast.unparse(changed).splitlines()[0][:90]}"
    _replace(tree, node, changed)
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Mutant(path.relative_to(root).as_posix(), node.lineno, kind, shown, within, text)


def blocks(tree: ast.AST, inside: bool = False) -> Iterator[tuple[list[ast.stmt], int, int]]:
    """Every block of statements of a function.

    The list, where a statement may be added, and the line that names the block.
    """
    for _, value in ast.iter_fields(tree):
        if (line := _block(tree, value, inside=inside)) is not None:
            yield value, int(_is_docstring(value[0])), line
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield from blocks(node, inside or isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef))


def _block(tree: ast.AST, value: object, *, inside: bool) -> int | None:
    if not (inside or isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)):
        return None
    if not isinstance(value, list) or not value or not isinstance(value[0], ast.stmt):
        return None
    line: int = value[0].lineno
    return line


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _nodes(tree: ast.AST, within: int | None = None) -> Iterator[tuple[ast.expr | ast.stmt, int | None]]:
    """Nodes that run: no annotations, no docstrings, nothing that is only for the type checker."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        line = _block(tree, value, inside=within is not None)
        own = within if line is None else line
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            if isinstance(node, ast.stmt) and _is_docstring(node):
                continue
            if isinstance(node, ast.expr | ast.stmt):
                yield node, own
            yield from _nodes(node, own)


def _changes(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """What may replace a node."""
    made = copy.deepcopy(node)
    if isinstance(made, ast.Compare) and type(made.ops[0]) in COMPARED:
        made.ops[0] = COMPARED[type(made.ops[0])]()
        yield "comparison", made
    elif isinstance(made, ast.BinOp) and type(made.op) in CALCULATED and not _is_text(made):
        made.op = CALCULATED[type(made.op)]()
        yield "operator", made
    elif isinstance(made, ast.BoolOp):
        made.op = ast.Or() if isinstance(made.op, ast.And) else ast.And()
        yield "and/or", made
    elif isinstance(made, ast.UnaryOp) and isinstance(made.op, ast.Not):
        yield "not", made.operand
    elif isinstance(made, ast.Constant) and isinstance(made.value, bool):
        yield "constant", ast.copy_location(ast.Constant(not made.value), node)
    elif isinstance(made, ast.Constant) and isinstance(made.value, int | float):
        yield "constant", ast.copy_location(ast.Constant(made.value + 1), node)
    elif isinstance(made, ast.IfExp):
        made.test = ast.UnaryOp(ast.Not(), made.test)
        yield "condition", made
    elif isinstance(made, ast.Raise | ast.AugAssign) or (
        isinstance(made, ast.Expr) and isinstance(made.value, ast.Call)
    ):
        yield "statement", ast.copy_location(ast.Pass(), node)


def _is_text(node: ast.BinOp) -> bool:
    """Whether it joins texts or types, where another operator is an error at once."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _replace(tree: ast.AST, target: ast.AST, changed: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, changed)
                return
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if item is target:
                        value[i] = changed
                        return
    raise AssertionError("the node is not in the tree")
