"""The evaluator: from the abstract values of leaves to that of an expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, NoEndsError, flat
from sqlanon.query.functions.registry import DEFINITIONS, definition_of
from sqlanon.query.functions.value import Value
from sqlanon.query.sql.sqltree import Tree

MOST_CALLS = 64
"""Most operators and functions of an expression."""
MOST_NODES = 60_000
"""Most nodes of the trees of an abstract value: the ends repeat those of the operands, see `Definition.cost`."""


class Leaves(Protocol):
    """Where expressions are evaluated."""

    dialect: str
    """Of the engine."""

    def leaf(self, node: exp.Expr, *, sharp: bool) -> Value | None:
        """The value of a column, or of a part that reads no column with ranges; None: it is a call of parts.

        Args:
            node: the part.
            sharp: a function that jumps is applied to it, so that the ends must hold to the last digit.

        Raises:
            NoEndsError: a column without ends.
        """

    def types(self, nodes: Sequence[exp.Expr]) -> Sequence[exp.DataType]:
        """The types that expressions have in the source's engine."""

    def middle(self, definition: Definition, call: Call, value: Value) -> Tree | None:
        """The estimate of a call."""


def evaluate(node: exp.Expr, leaves: Leaves, *, sharp: bool = False) -> Value:
    """The abstract value of an expression over a row.

    Args:
        node: a bound expression.
        leaves: the leaves of the expression.
        sharp: a function that jumps is applied to it.

    Raises:
        NoEndsError: a part has no definition for the types of the operands.

    Cost: one question for the types of the parts.
    """
    calls: list[exp.Expr] = []
    values: dict[int, Value] = {}
    size = sum(1 for part in node.walk() if definition_of(part) is not None)
    if size > MOST_CALLS:
        raise NoEndsError(node, f"an expression over ranges has at most {MOST_CALLS} operators and functions")
    _collect(node.unnest(), leaves, (calls, values), sharp=sharp)
    types = leaves.types(calls) if calls else ()
    for call, type_ in zip(calls, types, strict=True):
        definition = definition_of(call)
        operands = [operand.unnest() for operand in flat(call)]
        operand_values = tuple(values[id(operand)] for operand in operands)
        if definition is None or definition.ends is None or not operand_values:
            raise NoEndsError(call, _no_ends(call))
        if not definition.accepts([value.kind for value in operand_values]):
            raise NoEndsError(call, _no_signature(call, [value.kind for value in operand_values]))
        for index in definition.constant:
            if index < len(operands) and (
                not operand_values[index].fixed or operands[index].find(exp.Column) is not None
            ):
                raise NoEndsError(call, f"{definition.name} takes a constant there")
        if definition.cost * sum(map(_size, operand_values)) > MOST_NODES:
            raise NoEndsError(call, f"the ends of {definition.name} would be too long here; write a shorter expression")
        typed_call = Call(call, operand_values, type_, leaves.dialect)
        ends = definition.ends(typed_call)
        exact = ends.exact and definition.exact
        values[id(call)] = replace(ends, middle=leaves.middle(definition, typed_call, ends), exact=exact)
    return values[id(node.unnest())]


def _collect(
    node: exp.Expr, leaves: Leaves, collected: tuple[list[exp.Expr], dict[int, Value]], *, sharp: bool
) -> None:
    """The calls of an expression, operands first, and the values of the leaves."""
    calls, values = collected
    leaf = leaves.leaf(node, sharp=sharp)
    if leaf is not None:
        values[id(node)] = leaf
        return
    definition = definition_of(node)
    jumps = sharp or (definition is not None and definition.jumps)
    for operand in flat(node):
        _collect(operand.unnest(), leaves, collected, sharp=jumps)
    calls.append(node)


def _size(value: Value) -> int:
    """How many nodes the trees of a value have."""
    parts = (value.low, value.high, value.null, value.nothing, value.middle)
    return sum(1 for part in parts if part is not None for _ in part.walk())


def _no_ends(node: exp.Expr) -> str:
    definition = definition_of(node)
    name = (
        definition.name
        if definition is not None
        else node.sql_name().lower()
        if isinstance(node, exp.Func)
        else node.key
    )
    return f"{name} has no ends over a range; there are {list_known_names()}"


def _no_signature(node: exp.Expr, kinds: Sequence[str]) -> str:
    definition = definition_of(node)
    assert definition is not None
    kinds_text = " and ".join(dict.fromkeys(kinds))
    forms = "; ".join(
        " with ".join(kind.replace("|", ", ") for kind in signature) for signature in definition.signatures
    )
    return f"{definition.name} has no ends over {kinds_text}; it has some over {forms}"


def list_known_names() -> str:
    """Names of the functions that have ends over ranges."""
    return ", ".join(dict.fromkeys(definition.name for definition in DEFINITIONS if definition.ends is not None))
