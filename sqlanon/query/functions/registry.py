"""All definitions, and questions about the nodes of an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from sqlglot import exp

from sqlanon.query.functions import aggregates, arithmetic, choice, comparisons, conditions, numbers, texts, times
from sqlanon.query.functions.alternatives import alternative_to
from sqlanon.query.functions.definition import Definition, flat, remember

DEFINITIONS: tuple[Definition, ...] = (
    *arithmetic.DEFINITIONS,
    *numbers.DEFINITIONS,
    *choice.DEFINITIONS,
    *times.DEFINITIONS,
    *texts.DEFINITIONS,
    *comparisons.DEFINITIONS,
    *conditions.DEFINITIONS,
    *aggregates.DEFINITIONS,
)
_BY_NODE = {definition.node: definition for definition in DEFINITIONS}
for _one in DEFINITIONS:
    remember(_one)

_CLOCK = re.compile("now|today|tomorrow|yesterday", re.IGNORECASE)
NAMES = {"date_part": 2, "make_date": 3, "strftime": 2, "ceiling": 1}
"""Functions that the parser does not know in some dialect, and how many arguments they have."""


def definition_of(node: exp.Expr) -> Definition | None:
    """The definition of an operator or function; None: it has none."""
    return _BY_NODE.get(type(node))


def is_known(node: exp.Func) -> bool:
    """Whether a function is defined, whatever its arguments."""
    if isinstance(node, exp.Anonymous):
        return isinstance(node.this, str) and node.name.lower() in NAMES
    definition = definition_of(node)
    return definition is not None and definition.arguments is not None


def unknown_arguments(node: exp.Func) -> bool:
    """Whether a defined function has arguments that are not in the definition."""
    if isinstance(node, exp.Anonymous):
        return len(node.expressions) != NAMES.get(node.name.lower())
    argument_names = {
        name for name, value in node.args.items() if isinstance(value, exp.Expr) or (isinstance(value, list) and value)
    }
    definition = definition_of(node)
    return definition is None or not argument_names <= (definition.arguments or frozenset())


_PLAIN = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Var, exp.DataType)
"""Nodes without a value, or with a value that is NULL where a column is."""


def null_with_column(node: exp.Expr) -> bool:
    """Whether an expression reads a column and is NULL where the column is."""
    return node.find(exp.Column) is not None and all(
        isinstance(part, _PLAIN) or ((definition := definition_of(part)) is not None and definition.null_in)
        for part in node.walk()
    )


def null_only_with_column(node: exp.Expr) -> bool:
    """Whether an expression is NULL exactly where the column is."""
    return all(isinstance(part, _PLAIN) or _null_only_of_null(part) for part in node.walk())


def _null_only_of_null(call: exp.Expr) -> bool:
    """Whether a call is NULL exactly where an operand is: on Spark a cast to a decimal is NULL of infinities too."""
    definition = definition_of(call)
    decimal = isinstance(call, exp.Cast) and call.to.is_type("DECIMAL")
    return definition is not None and definition.null_in and definition.null_out and not decimal


def is_floating(node: exp.Expr) -> bool:
    """Whether a part of an expression makes numbers that may be infinite or NaN of others."""
    return any((definition := definition_of(part)) is not None and definition.floating for part in node.walk()) or any(
        cast.to.is_type("DOUBLE", "FLOAT") for cast in node.find_all(exp.Cast)
    )


def by_collation(node: exp.Expr) -> bool:
    """Whether a call depends on more of a text than the bytes."""
    definition = definition_of(node)
    return definition is not None and definition.collation


def needs_finite_times(node: exp.Expr) -> bool:
    """Whether some part of an expression has a value of finite times only."""
    return any((definition := definition_of(part)) is not None and definition.finite for part in node.walk())


def divisors(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Every call in an expression that divides, and the divisor."""
    for part in node.walk():
        definition = definition_of(part)
        if definition is not None and definition.divides is not None:
            yield part, flat(part)[definition.divides]


def failing(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression that may be errors of the engine."""
    return (part for part in node.walk() if (definition := definition_of(part)) is not None and definition.fails)


def passes_null(node: exp.Expr) -> bool:
    """Whether some part of an expression may have a value where an operand of it is NULL."""
    return any((definition := definition_of(part)) is not None and definition.passes_null for part in node.walk())


def reads_clock(node: exp.Expr) -> bool:
    """Whether an expression may have another value at another time; texts such as 'today' are read as such dates."""
    return any(
        (definition := definition_of(part)) is not None and definition.clock
        if not isinstance(part, exp.Literal)
        else part.is_string and _CLOCK.search(part.name) is not None
        for part in node.walk()
    )


def keeps_ends(node: exp.Expr) -> bool:
    """Whether the ends of an expression are reached where those of the columns are, if each column occurs once."""
    return all(
        (definition := definition_of(part)) is None
        or definition.ends is None
        or definition.exact
        or not _reads_range(part)
        for part in node.walk()
    )


def _reads_range(node: exp.Expr) -> bool:
    return any(part.table == "_box" for part in node.find_all(exp.Column))


def length_of(node: exp.Expr) -> str:
    """The rule for the length of a call's text, see `sqlanon.query.functions.texts`."""
    definition = definition_of(node)
    return (
        definition.length if definition is not None else "formatted" if isinstance(node, exp.Anonymous) else "longest"
    )


def find_padding(node: exp.Expr) -> exp.Expr | None:
    """How many characters a call pads a text to; None: it pads none."""
    return node.expression if length_of(node) == "padded" else None


def name_of(node: exp.Func) -> str:
    """A function's name, as it is written."""
    definition = definition_of(node)
    if definition is not None:
        return definition.name
    return node.name if isinstance(node, exp.Anonymous) else node.sql_name().lower()


def nearest(node: exp.Func) -> str:
    """The form to ask in place of a function, or one with nearly the same name, for a message; "": there is none."""
    form = alternative_to(name_of(node))
    if form is not None:
        return f"; the nearest form is {form}"
    names = {definition.name for definition in DEFINITIONS if definition.arguments is not None}
    # Below this similarity names of four letters match where three letters do: rand and rank, foo and floor.
    matches = get_close_matches(name_of(node).lower(), sorted(names | set(NAMES)), n=1, cutoff=0.8)
    return f"; the nearest is {matches[0]}" if matches else ""


def is_replaced(node: exp.Func) -> bool:
    """Whether a function is not answered and another form is, see `nearest`."""
    return not is_known(node) and aggregates.aggregate_of(node) is None and alternative_to(name_of(node)) is not None


def is_null_with_operand(node: exp.Expr) -> bool:
    """Whether a call of a single operand is NULL exactly where the operand is."""
    definition = definition_of(node)
    return definition is not None and definition.operands == ("this",) and _null_only_of_null(node)


def is_estimated_apart(node: exp.Expr) -> bool:
    """Whether the estimate of a call differs from the call of estimates."""
    definition = definition_of(node)
    return (
        definition is not None and definition.ends is not None and (definition.jumps or definition.estimate is not None)
    )
