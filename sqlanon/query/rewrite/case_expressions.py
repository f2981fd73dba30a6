"""Bounds CASE between aggregates, over the ends of each branch that some source takes."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Calculator
from sqlanon.query.rewrite.query_plan import Quad
from sqlanon.query.rewrite.window_functions import has_aggregate
from sqlanon.query.sql.sqltree import Tree, every, is_false, negate, own, some, sql, string, when
from sqlanon.query.sql.types import is_number


def _side(calculator: Calculator, node: exp.Expr, *, sharp: bool) -> Quad:
    """A calculation with aggregates, or an expression that is constant throughout a group."""
    if has_aggregate(node):
        return calculator.quad(node, typed=True, sharp=sharp)
    if isinstance(node.unnest(), exp.Null):
        return Quad(exp.null(), exp.null(), exp.null(), exp.Literal.number(1))
    plain = calculator.groups.plain(node)
    missing = sql("CASE WHEN :x IS NULL THEN 1 ELSE 0 END", x=plain)
    return Quad(plain, plain, plain, missing)


def calculate_case(calculator: Calculator, node: exp.Case) -> Quad:
    """CASE: the ends of every branch that some consistent source takes."""
    branches = _branches(calculator, node)
    if not is_number(calculator.check(node)):
        return _words(calculator, node, branches)
    sides = [(may, _side(calculator, value, sharp=True)) for may, value in branches]
    lows, highs = (
        [
            when(may, getattr(side, end), None)
            for may, side in sides
            if not is_false(may) and not isinstance(getattr(side, end), exp.Null)
        ]  # a bare NULL has the type of a text in PostgreSQL, and says nothing about the ends
        for end in ("low", "high")
    )
    unbounded = [
        some(
            every([may, sql(":x IS NULL", x=end)])
            for may, side in sides
            for end in [getattr(side, name)]
            if not isinstance(end, exp.Null)
        )
        for name in ("low", "high")
    ]
    ends = [
        when(some([missing]), exp.null(), _over(word, trees))
        for word, trees, missing in zip(("LEAST", "GREATEST"), (lows, highs), unbounded, strict=True)
    ]
    maybe = _over("GREATEST", [when(may, side.undefined, exp.Literal.number(0)) for may, side in sides])
    return Quad(calculator.groups.estimate(node), ends[0], ends[1], maybe, tight=False)


def _branches(calculator: Calculator, node: exp.Case) -> list[tuple[Tree, exp.Expr]]:
    """Condition under which a source may take each branch of a CASE, and the branch's value."""
    reached: list[Tree] = []
    branches: list[tuple[Tree, exp.Expr]] = []
    for argument in node.args["ifs"]:
        condition = (
            argument.this if node.this is None else exp.EQ(this=node.this.copy(), expression=argument.this.copy())
        )
        branches.append((every([*reached, negate(calculator.groups.surely(condition, False))]), argument.args["true"]))
        reached.append(negate(calculator.groups.surely(condition, True)))
    return [*branches, (every(reached), node.args.get("default") or exp.null())]


def _words(calculator: Calculator, node: exp.Case, branches: list[tuple[Tree, exp.Expr]]) -> Quad:
    """CASE of constant texts: the first and the last, in the order of bytes, of those that some source gives."""
    values = [value.unnest() for _, value in branches]
    if not all(isinstance(value, exp.Null) or (isinstance(value, exp.Literal) and value.is_string) for value in values):
        refuse(
            calculator.scope.text,
            node,
            "CASE around aggregates is answered with numbers, and with constant texts; ask for the aggregate, and "
            "compare its bounds",
        )
    may: dict[str | None, list[Tree]] = {}
    for (reached, _), value in zip(branches, values, strict=True):
        may.setdefault(None if isinstance(value, exp.Null) else value.name, []).append(reached)
    texts = sorted((text for text in may if text is not None), key=str.encode)
    ends = [
        exp.Case(ifs=[exp.If(this=own(some(may[text])), true=string(text)) for text in listed])
        if listed
        else exp.null()
        for listed in (texts, texts[::-1])
    ]
    undefined = when(some(may.get(None, [])), exp.Literal.number(1), exp.Literal.number(0))
    return Quad(calculator.groups.estimate(node), ends[0], ends[1], undefined, tight=False)


def _over(word: str, trees: list[Tree]) -> Tree:
    """LEAST or GREATEST, which pass over NULL."""
    if not trees:
        return exp.null()
    if len(trees) == 1:
        return trees[0]
    parts = {f"x{i}": tree for i, tree in enumerate(trees)}
    return sql(f"{word}({', '.join(f':{name}' for name in parts)})", **parts)
