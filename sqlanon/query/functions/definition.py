"""Definitions of operators and functions, and the calls that they are applied to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.functions.value import Value
from sqlanon.query.sql.sqltree import Tree, own, parenthesize


class NoEndsError(Exception):
    """A part of an expression has no ends: the part, and why."""

    def __init__(self, node: exp.Expr, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


@dataclass(frozen=True)
class Call:
    """A call to evaluate to an abstract value.

    Attributes:
        node: as it is written.
        values: values of the operands, in order.
        type: type of the result in the source's engine.
        dialect: dialect of the engine.
    """

    node: exp.Expr
    values: tuple[Value, ...]
    type: exp.DataType
    dialect: str

    def at(self, *operands: Tree) -> Tree:
        """The call with these operands."""
        rebuilt: exp.Expr = self.node.copy()
        rest = list(operands)
        for name, operand in operands_of(self.node):
            if name == "ifs":
                turns = [(rest.pop(0), rest.pop(0)) for _ in self.node.args["ifs"]]
                rebuilt.set(name, [exp.If(this=own(turn), true=own(value)) for turn, value in turns])
            elif isinstance(operand, list):
                rebuilt.set(name, [own(rest.pop(0)) for _ in operand])
            else:
                rebuilt.set(name, parenthesize(rest.pop(0)))
        return rebuilt

    def reject(self, reason: str) -> NoEndsError:
        """The error that the call has no ends."""
        return NoEndsError(self.node, reason)


Transfer = Callable[[Call], Value]
Estimate = Callable[[Call, Value], Tree]


@dataclass(frozen=True)
class Form:
    """A form of a call that has ends, with the kinds of values for the contract suite.

    Attributes:
        text: the form, with ranges written {x}, {y}.
        kinds: for each range the kinds of values that it takes.
        engines: families of engines that have the form with these kinds; empty: all.
        listed: it has no ends, and is computed value by value alone.
    """

    text: str
    kinds: tuple[tuple[str, ...], ...]
    engines: tuple[str, ...] = ()
    listed: bool = False


@dataclass(frozen=True)
class Definition:
    """An operator or function.

    Attributes:
        node: node type of the parser.
        name: name in the analyst's SQL.
        arguments: the allowed arguments; a call with others is refused. None: it is an operator with arguments that the
            grammar decides.
        operands: the arguments that are values, in order; the rest are constants of the form, such as a unit.
        ends: makes the abstract value; None: it is computed value by value only, where the values of a box are listed.
        signatures: kinds of the operands that ``ends`` is for, each operand's kinds joined by ``|``; the last one
            repeats.
        constant: operands, by their numbers, that must be constants.
        jumps: it may differ much where an operand differs by the last digit.
        estimate: the value over estimates, which are doubles, from the call and the abstract value; None: the call
            itself.
        divides: the operand that must be 0 in no row; None: any value has a result.
        exact: the ends are reached where those of the operands are, independently of one another.
        finite: it has values for finite times only.
        null_in: it is NULL where an operand is.
        null_out: it is NULL nowhere else, infinite times apart if it is for finite times.
        passes_null: it may have a value where an operand is NULL.
        collation: it depends on more of a text than the bytes.
        floating: it makes numbers that may be infinite or NaN.
        length: greatest length of the text in characters, from the lengths of the parts, see
            `sqlanon.query.functions.texts`.
        unit: the step of a time within which the value is constant.
        cost: the most copies of an operand's ends in the abstract value, as a factor of the operand's size.
        clock: the value depends on the current time.
        fails: it may be an error of operands for which the engine has no result: a number that is too large for the
            type, a divisor 0, a time without a year.
    """

    node: type[exp.Expr]
    name: str
    arguments: frozenset[str] | None = None
    operands: tuple[str, ...] = ("this",)
    ends: Transfer | None = None
    signatures: tuple[tuple[str, ...], ...] = ()
    forms: tuple[Form, ...] = ()
    constant: tuple[int, ...] = ()
    jumps: bool = False
    estimate: Estimate | None = None
    divides: int | None = None
    exact: bool = True
    finite: bool = False
    null_in: bool = False
    null_out: bool = False
    passes_null: bool = False
    collation: bool = False
    floating: bool = False
    length: str = "longest"
    unit: Callable[[exp.Expr], str | None] | None = None
    cost: int = 3
    clock: bool = False
    fails: bool = False

    def accepts(self, kinds: Sequence[str]) -> bool:
        """Whether it has ends for operands of these kinds; a NULL is of every kind."""
        return any(_matches(signature, kinds) for signature in self.signatures)


def _matches(signature: tuple[str, ...], kinds: Sequence[str]) -> bool:
    listed = [*signature, *[signature[-1]] * (len(kinds) - len(signature))]
    return len(kinds) <= len(listed) and all(
        kind in (*names.split("|"), "null") for names, kind in zip(listed, kinds, strict=False)
    )


_OPERANDS: dict[type[exp.Expr], tuple[str, ...]] = {}


def operands_of(node: exp.Expr) -> list[tuple[str, exp.Expr | list[exp.Expr]]]:
    """The operands of a call, by the names of the arguments."""
    names = _OPERANDS.get(type(node), ())
    return [(name, argument) for name in names if (argument := node.args.get(name))]


def flat(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a call, in order; a WHEN of CASE has two, a condition and a value."""
    listed = [
        item for _, operand in operands_of(node) for item in (operand if isinstance(operand, list) else [operand])
    ]
    if not isinstance(node, exp.Case):
        return listed
    return [part for item in listed for part in ([item.this, item.args["true"]] if item.arg_key == "ifs" else [item])]


def remember(definition: Definition) -> None:
    """Note which arguments of a node are operands."""
    _OPERANDS[definition.node] = definition.operands
