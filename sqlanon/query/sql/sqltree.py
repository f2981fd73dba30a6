"""SQL trees out of small texts, and the few operations that the rewriting needs, constants folded away.

Texts are in DuckDB's dialect, of which only words that mean the same on every engine are used; parts are trees, and
trees from the analyst keep the dialect that they were read in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import TableRef

Tree = exp.Expr
T = TypeVar("T", bound=exp.Expr)
_ATOMIC = (exp.Column, exp.Literal, exp.Func, exp.Paren, exp.Boolean, exp.Null, exp.Subquery, exp.Star, exp.Identifier,
           exp.DataType)


@lru_cache(maxsize=1024)
def _parse(text: str) -> Tree:
    tree = sqlglot.parse_one(text, read="duckdb")
    for node in tree.walk():
        node.meta.clear()  # places in this text would be copied with every use
    return tree


def sql(text: str, **parts: Tree) -> Tree:
    """The tree of ``text``, with placeholders ``:name`` replaced by trees."""
    return _fill(_parse(text), parts)


def _fill(tree: Tree, parts: Mapping[str, Tree]) -> Tree:
    """A copy of a parsed text, other trees in place of placeholders."""
    if type(tree) is exp.Placeholder:
        return parenthesize(parts[tree.name])
    args = {
        name: [_fill(item, parts) if isinstance(item, exp.Expr) else item for item in value]
        if isinstance(value, list)
        else _fill(value, parts)
        if isinstance(value, exp.Expr)
        else value
        for name, value in tree.args.items()
    }
    return tree.__class__(**args)


def nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Every node of a tree, in no particular order; `walk` of sqlglot takes several times longer."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for value in node.args.values():
            if isinstance(value, exp.Expr):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, exp.Expr)]


def copy_tree(tree: T) -> T:
    """A copy of a tree with its types and places; `copy` of sqlglot takes several times longer."""
    args = {
        name: copy_tree(value)
        if isinstance(value, exp.Expr)
        else [copy_tree(item) if isinstance(item, exp.Expr) else item for item in value]
        if type(value) is list
        else value
        for name, value in tree.args.items()
    }
    copy = tree.__class__(**args)
    copy._type = tree._type
    if tree._meta:
        copy._meta = dict(tree._meta)
    return copy


def own(tree: Tree) -> Tree:
    """The tree as a part for another: itself where it is part of none yet, else a copy."""
    return tree if tree.parent is None else copy_tree(tree)


def parenthesize(tree: Tree) -> Tree:
    """The tree as a part for another, in parentheses where these are needed to keep it together."""
    atomic = isinstance(tree, _ATOMIC) and not isinstance(tree, exp.Binary)
    return own(tree) if atomic else exp.Paren(this=own(tree))


def select(
    chosen: Iterable[Tree],
    source: exp.Expr | str | None = None,
    *,
    where: Iterable[Tree] = (),
    group: Iterable[Tree] = (),
    order: Iterable[exp.Expr] = (),
    distinct: bool = False,
) -> exp.Select:
    """A SELECT of these items; ``source``: a table, by name or as a tree.

    sqlglot's builders copy the whole statement with every clause.
    """
    select = exp.Select(expressions=[own(item) for item in chosen])
    if source is not None:
        select.set("from_", exp.From(this=make_table(source) if isinstance(source, str) else own(source)))
    condition = [own(part) for part in where]
    if condition:
        select.set("where", exp.Where(this=every(condition) if len(condition) > 1 else condition[0]))
    terms = [own(term) for term in group]
    if terms:
        select.set("group", exp.Group(expressions=terms))
    sorting = [own(term) for term in order]
    if sorting:
        select.set("order", exp.Order(expressions=sorting))
    if distinct:
        select.set("distinct", exp.Distinct())
    return select


def make_table(name: str) -> exp.Table:
    """A table of this package, by name: to parse a name takes longer."""
    return exp.Table(this=exp.to_identifier(name))


@lru_cache(maxsize=64)
def _kind(text: str) -> exp.DataType:
    return exp.DataType.build(text)


def as_type(tree: Tree, kind: str) -> Tree:
    """The tree, cast to a type."""
    return exp.cast(own(tree), copy_tree(_kind(kind)), copy=False)


def named(tree: Tree, name: str) -> Tree:
    """An item of a SELECT under an exact name."""
    return exp.Alias(this=own(tree), alias=exp.Identifier(this=name, quoted=True))


def column(name: str, table: str | None = None) -> Tree:
    """A column by exact name."""
    column = exp.Column(this=exp.Identifier(this=name, quoted=True))
    if table:
        column.set("table", exp.Identifier(this=table, quoted=True))
    return column


def with_columns(tree: Tree, replaced: Callable[[exp.Column], Tree | None]) -> Tree:
    """A copy of ``tree`` with other trees in place of some columns; None keeps a column."""
    whole = exp.Paren(this=copy_tree(tree))
    for node in list(whole.find_all(exp.Column)):
        replacement = replaced(node)
        if replacement is not None:
            node.replace(own(replacement))
    expression: Tree = whole.this
    return expression.pop()


def table_of(ref: TableRef, alias: str) -> exp.Table:
    """A table by exact name, with an alias for the SQL."""
    return exp.Table(
        this=exp.to_identifier(ref.name, quoted=True),
        db=exp.to_identifier(ref.schema, quoted=True) if ref.schema else None,
        catalog=exp.to_identifier(ref.database, quoted=True) if ref.database else None,
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
    )


def number(value: int | Fraction | Decimal | float) -> Tree:
    """A number as SQL; fractions with finite decimals are written out, others as a division of doubles."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return number(value.numerator)
        with localcontext(prec=1200):  # half way between two doubles has as many digits
            plain = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(plain) == value:
            return number(plain)
        return sql("CAST(:a AS DOUBLE) / :b", a=number(value.numerator), b=number(value.denominator))
    text = format(value, "f") if isinstance(value, Decimal) else repr(value)
    if text.startswith("-"):
        return exp.Paren(this=exp.Neg(this=exp.Literal.number(text[1:])))
    return exp.Literal.number(text)


def string(text: str) -> Tree:
    """A text literal."""
    return exp.Literal.string(text)


def _constant(tree: Tree) -> Tree:
    """A tree that is always copied: it has a parent."""
    expression: Tree = exp.Paren(this=tree).this
    return expression


TRUE: Tree = _constant(exp.true())
FALSE: Tree = _constant(exp.false())
ZERO: Tree = _constant(exp.Literal.number("0.0"))
ONE: Tree = _constant(exp.Literal.number("1.0"))


def is_true(tree: Tree) -> bool:
    """Whether it is the constant TRUE."""
    return isinstance(tree, exp.Boolean) and bool(tree.this)


def is_false(tree: Tree) -> bool:
    """Whether it is the constant FALSE."""
    return isinstance(tree, exp.Boolean) and not tree.this


def every(trees: Iterable[Tree]) -> Tree:
    """Their conjunction."""
    terms = [tree for tree in trees if not is_true(tree)]
    if any(is_false(tree) for tree in terms):
        return FALSE
    return _chain(exp.And, terms) if terms else TRUE


def some(trees: Iterable[Tree]) -> Tree:
    """Their disjunction."""
    terms = [tree for tree in trees if not is_false(tree)]
    if any(is_true(tree) for tree in terms):
        return TRUE
    return _chain(exp.Or, terms) if terms else FALSE


_LONG = 40
"""Parts from which a chain is written as two: it may not be as deep as it is long."""


def _chain(kind: type[exp.And] | type[exp.Or], trees: list[Tree]) -> Tree:
    if len(trees) > _LONG:
        half = len(trees) // 2
        trees = [_chain(kind, trees[:half]), _chain(kind, trees[half:])]
    whole = parenthesize(trees[0]) if len(trees) > 1 else own(trees[0])
    for tree in trees[1:]:
        whole = kind(this=whole, expression=parenthesize(tree))
    return whole


def negate(tree: Tree) -> Tree:
    """The negation of ``tree``, which is never NULL."""
    if isinstance(tree, exp.Boolean):
        return FALSE if tree.this else TRUE
    if isinstance(tree, exp.Not):
        inner: Tree = tree.this.unnest()
        return copy_tree(inner)
    return exp.Not(this=parenthesize(tree))


def when(condition: Tree, then: Tree, otherwise: Tree | None = None) -> Tree:
    """``CASE WHEN condition THEN then ELSE otherwise END``; no ``otherwise``: NULL."""
    if is_true(condition):
        return own(then)
    if is_false(condition):
        return own(otherwise) if otherwise is not None else exp.null()
    tree = exp.Case(ifs=[exp.If(this=own(condition), true=own(then))])
    if otherwise is not None:
        tree.set("default", own(otherwise))
    return tree


def _is(tree: Tree, value: float) -> bool:
    return isinstance(tree, exp.Literal) and not tree.is_string and float(tree.this) == value


def times(*trees: Tree) -> Tree:
    """Their product."""
    if any(_is(tree, 0) for tree in trees):
        return ZERO
    factors = [tree for tree in trees if not _is(tree, 1)]
    if not factors:
        return ONE
    whole = own(factors[0])
    for tree in factors[1:]:
        whole = exp.Mul(this=parenthesize(whole), expression=parenthesize(tree))
    return whole


def plus(trees: Iterable[Tree]) -> Tree:
    """Their sum."""
    summands = [tree for tree in trees if not _is(tree, 0)]
    if not summands:
        return ZERO
    if len(summands) > _LONG:
        half = len(summands) // 2
        summands = [plus(summands[:half]), plus(summands[half:])]
    whole = own(summands[0])
    for tree in summands[1:]:
        whole = exp.Add(this=parenthesize(whole), expression=parenthesize(tree))
    return whole


def counts(trees: Iterable[Tree]) -> Tree:
    """The sum of whole numbers, a whole number also where there are none."""
    total = plus(trees)
    return exp.Literal.number(0) if total is ZERO else total


def less(first: Tree, second: Tree) -> Tree:
    """Their difference."""
    return own(first) if _is(second, 0) else exp.Sub(this=parenthesize(first), expression=parenthesize(second))


def least(trees: Iterable[Tree]) -> Tree:
    """The smallest that is not NULL."""
    return _extreme("LEAST", list(trees))


def greatest(trees: Iterable[Tree]) -> Tree:
    """The largest that is not NULL."""
    return _extreme("GREATEST", list(trees))


def _extreme(word: str, trees: list[Tree]) -> Tree:
    if len(trees) == 1:
        return own(trees[0])
    rest = [own(tree) for tree in trees[1:]]
    call = exp.Least() if word == "LEAST" else exp.Greatest()
    for name, part in (("this", own(trees[0])), ("expressions", rest), ("ignore_nulls", True)):
        call.set(name, part)
    return call


def indicator(tree: Tree) -> Tree:
    """1.0 where it holds, else 0.0."""
    return when(tree, ONE, ZERO)


def counter(tree: Tree) -> Tree:
    """1 where it holds, else 0, as whole numbers."""
    return when(tree, exp.Literal.number(1), exp.Literal.number(0))
