"""What chooses between aggregates: nullif, greatest, least and CASE, over the ends of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.sqltree import Tree, every, is_false, negate, some, sql, when
from sqlanon.query.rewrite.types import is_number
from sqlanon.query.rewrite.wanted import Quad

if TYPE_CHECKING:
    from sqlanon.query.rewrite.calculation import Calculator


def without(calculator: Calculator, node: exp.Nullif, *, sharp: bool) -> Quad:
    """NULL in place of one number."""
    at = node.expression
    if at.find(exp.AggFunc) is not None or not calculator.is_constant(at):
        refuse(calculator.scope.text, node, "nullif takes an aggregate and a constant")
    inner = calculator.quad(node.this, typed=True, sharp=sharp)
    hit = sql("NOT COALESCE(:l > :v OR :h < :v, FALSE)", l=inner.low, h=inner.high, v=at)
    # The one number that there may be is the one that is left out.
    gone = sql("COALESCE(:l = :v AND :h = :v, FALSE)", l=inner.low, h=inner.high, v=at)
    maybe = sql("GREATEST(:u, CASE WHEN :x THEN 1 ELSE 0 END)", u=inner.undefined, x=hit)
    low, high, estimate = (when(gone, exp.null(), end) for end in (inner.low, inner.high, inner.estimate))
    return Quad(estimate, low, high, maybe, tight=False)


def extreme(calculator: Calculator, node: exp.Greatest | exp.Least, *, sharp: bool) -> Quad:
    """The greatest or least of aggregates and constants; NULL is passed over."""
    sides = [_side(calculator, part, sharp=sharp) for part in (node.this, *node.expressions)]
    most, least_ = ("GREATEST", "LEAST") if isinstance(node, exp.Greatest) else ("LEAST", "GREATEST")
    far, near = ("high", "low") if isinstance(node, exp.Greatest) else ("low", "high")
    names = [f"x{i}" for i in range(len(sides))]

    def over(word: str, end: str) -> Tree:
        parts = {name: getattr(side, end) for name, side in zip(names, sides, strict=True)}
        return sql(f"{word}({', '.join(f':{name}' for name in names)})", **parts)

    def known(end: str) -> Tree:
        return every(sql("NOT :x IS NULL", x=getattr(side, end)) for side in sides)

    # What may be NULL leaves the others alone.
    defined = every(sql(":u = 0", u=side.undefined) for side in sides)
    ends = {
        far: when(known(far), over(most, far)),
        near: when(defined, over(most, near), when(known(near), over(least_, near))),
    }
    return Quad(over(most, "estimate"), ends["low"], ends["high"], over("LEAST", "undefined"), tight=False)


def _side(calculator: Calculator, node: exp.Expr, *, sharp: bool) -> Quad:
    """A calculation with aggregates, or what is the same throughout a group."""
    if node.find(exp.AggFunc) is not None:
        return calculator.quad(node, typed=True, sharp=sharp)
    if isinstance(node.unnest(), exp.Null):
        return Quad(exp.null(), exp.null(), exp.null(), exp.Literal.number(1))
    plain = calculator.groups.plain(node)
    missing = sql("CASE WHEN :x IS NULL THEN 1 ELSE 0 END", x=plain)
    return Quad(plain, plain, plain, missing)


def chosen(calculator: Calculator, node: exp.Case) -> Quad:
    """CASE: the ends of every branch that some consistent source takes."""
    if not is_number(calculator.check(node)):
        refuse(
            calculator.scope.text,
            node,
            "CASE around aggregates is answered with numbers; ask for the aggregate, and compare its bounds",
        )
    turns = []
    for one in node.args["ifs"]:
        asked = one.this if node.this is None else exp.EQ(this=node.this.copy(), expression=one.this.copy())
        turns.append((asked, one.args["true"]))
    default = node.args.get("default")
    reached: list[Tree] = []
    found: list[tuple[Tree, Quad]] = []
    for asked, value in turns:
        may = negate(calculator.groups.surely(asked, False))
        found.append((every([*reached, may]), _side(calculator, value, sharp=True)))
        reached.append(negate(calculator.groups.surely(asked, True)))
    nothing = Quad(exp.null(), exp.null(), exp.null(), exp.Literal.number(1))
    found.append((every(reached), nothing if default is None else _side(calculator, default, sharp=True)))
    lows, highs = (
        [when(may, getattr(side, end), None) for may, side in found if not is_false(may)]
        for end in ("low", "high")
    )
    unbounded = [
        some(
            every([may, sql(":x IS NULL", x=end)])
            for may, side in found
            for end in [getattr(side, name)]
            if not isinstance(end, exp.Null)
        )
        for name in ("low", "high")
    ]
    ends = [
        when(some([missing]), exp.null(), _over(word, trees))
        for word, trees, missing in zip(("LEAST", "GREATEST"), (lows, highs), unbounded, strict=True)
    ]
    maybe = _over("GREATEST", [when(may, side.undefined, exp.Literal.number(0)) for may, side in found])
    return Quad(calculator.groups.estimated(node), ends[0], ends[1], maybe, tight=False)


def _over(word: str, trees: list[Tree]) -> Tree:
    """LEAST or GREATEST, which pass over NULL."""
    if len(trees) == 1:
        return trees[0]
    parts = {f"x{i}": tree for i, tree in enumerate(trees)}
    return sql(f"{word}({', '.join(f':{name}' for name in parts)})", **parts)
