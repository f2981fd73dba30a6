"""Abstract values: the possible values of an expression over a row of the rewritten query."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, as_type, every, negate, number, some, sql, when
from sqlanon.query.sql.types import is_float, is_number, is_whole

_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_UNSIGNED = {"UTINYINT": 8, "USMALLINT": 16, "UINT": 32, "UBIGINT": 64}
_DIGITS = 10**37
"""Whole numbers up to here are added and subtracted in DECIMAL(38, 0) without an overflow."""

NUMBERS = ("whole", "decimal", "double")
TIMES = ("date", "timestamp")


@dataclass(frozen=True)
class Value:
    """Possible values of an expression. Ends are of its type; those of whole numbers may be of a wider type.

    Attributes:
        low, high: the least and greatest value that is not NULL. NULL where nothing bounds it on that side, and where
            it surely is NULL.
        null: it may be NULL; a condition that is never NULL, as is ``nothing``: it surely is NULL.
        type: type of the expression in the source's engine.
        middle: the mean over the box, as a number; None: there is no mean.
        bounded: the ends are not NULL where it may have a value.
        exact: each end is a possible value.
        most: greatest distance of whole ends from 0; None: not known.
        wide: they may be of another type than that of the value, or lie beyond it.
        fixed: it reads no column with ranges, so that each row has a single value.
        quoted: it is a written text, which the engine reads in the type of the other operand.
    """

    low: Tree
    high: Tree
    null: Tree
    nothing: Tree
    type: exp.DataType
    middle: Tree | None = None
    bounded: bool = True
    exact: bool = True
    most: int | None = None
    wide: bool = False
    fixed: bool = False
    quoted: bool = False

    @property
    def kind(self) -> str:
        """The kind of the value's type, see `kind_of`."""
        return "quoted" if self.quoted else kind_of(self.type)

    def narrow(self) -> Value:
        """The same with ends of the value's type: values beyond it are errors of the source's engine, not values."""
        limits = limits_of(self.type)
        if not self.wide or self.most is None or limits is None:
            return self
        if self.most <= limits[1] and -self.most >= limits[0]:
            return self._cast(self.low, self.high)
        least, most = (number(end) for end in limits)
        # LEAST and GREATEST pass over NULL.
        low = sql("LEAST(GREATEST(:x, :a), :b)", x=self.low, a=least, b=most)
        high = sql("GREATEST(LEAST(:x, :b), :a)", x=self.high, a=least, b=most)
        if not (self.bounded and self.nothing is FALSE):
            low, high = (when(is_known(end), inside) for end, inside in ((self.low, low), (self.high, high)))
        return replace(self._cast(low, high), exact=False, most=max(-limits[0], limits[1]))

    def _cast(self, low: Tree, high: Tree) -> Value:
        return replace(self, low=exp.cast(low, self.type), high=exp.cast(high, self.type), wide=False)


def kind_of(type_: exp.DataType) -> str:
    """Kind of a type: whole, decimal or double numbers, date, timestamp, boolean, text, interval, or other."""
    if isinstance(type_.this, exp.Interval):  # an interval of Spark, by units
        return "interval"
    if is_whole(type_):
        return "whole"
    if is_float(type_):
        return "double"
    if is_number(type_):
        return "decimal"
    for kind, types in _KINDS.items():
        if type_.is_type(*types):
            return kind
    return "null" if type_.is_type(exp.DataType.Type.NULL, exp.DataType.Type.UNKNOWN) else "other"


_KINDS = {
    "date": (exp.DataType.Type.DATE, exp.DataType.Type.DATE32),
    "timestamp": (
        exp.DataType.Type.TIMESTAMP,
        exp.DataType.Type.TIMESTAMPNTZ,
        exp.DataType.Type.TIMESTAMPTZ,
        exp.DataType.Type.TIMESTAMPLTZ,
        exp.DataType.Type.DATETIME,
        exp.DataType.Type.TIMESTAMP_S,
        exp.DataType.Type.TIMESTAMP_MS,
        exp.DataType.Type.TIMESTAMP_NS,
    ),
    "boolean": (exp.DataType.Type.BOOLEAN,),
    "text": tuple(exp.DataType.TEXT_TYPES),
    "interval": (exp.DataType.Type.INTERVAL,),
}


def limits_of(type_: exp.DataType) -> tuple[int, int] | None:
    """The least and greatest number of a type of whole numbers; None: another type, or a wider type."""
    name = type_.this.name if isinstance(type_.this, exp.DataType.Type) else ""
    if name in _BITS:
        return -(2 ** _BITS[name]), 2 ** _BITS[name] - 1
    if name in _UNSIGNED:
        return 0, 2 ** _UNSIGNED[name] - 1
    return None


def leaf(low: Tree, high: Tree, null: Tree, nothing: Tree, type_: exp.DataType, **facts: object) -> Value:
    """The value of a column, with ends of the column's type."""
    limits = limits_of(type_)
    most = max(-limits[0], limits[1]) if limits is not None else None
    return Value(low, high, null, nothing, type_, most=most, **facts)  # type: ignore[arg-type]


def fix_value(tree: Tree, type_: exp.DataType, *, null: Tree | None = None, column: Tree | None = None) -> Value:
    """The value of an expression that has a single value in each row.

    Args:
        tree: the expression.
        type_: the expression's type.
        null: whether it is NULL; None: that is asked of each row.
        column: name in the rows; None: it is a constant.
    """
    shown = tree if column is None else column
    null = sql(":v IS NULL", v=shown) if null is None else null
    middle = as_type(shown, "DOUBLE") if is_number(type_) else None
    quoted = isinstance(tree, exp.Literal) and tree.is_string
    value = leaf(shown, shown, null, null, type_, middle=middle, fixed=True, quoted=quoted)
    size = _size(tree)
    return value if size is None else replace(value, most=size)


def _size(tree: Tree) -> int | None:
    inner = tree.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return int(inner.this) if isinstance(inner, exp.Literal) and not inner.is_string and inner.this.isdigit() else None


def widen(values: list[Value], most: int) -> tuple[list[Value], int]:
    """Whole numbers in a type in which a result up to ``most`` does not overflow.

    Returns:
        The numbers, and how far from 0 the result may be; -1: no type is wide enough, and they are left as they are.
    """
    limits = [limits_of(value.type) for value in values]
    narrow = [limit for limit in limits if limit is not None]
    if len(narrow) < len(values):
        return values, -1
    if all(most <= high and -most >= low for low, high in narrow):
        return values, most
    if most > _DIGITS * 10 - 1:
        return values, -1
    wide = exp.DataType.build("BIGINT" if most < 2**63 else "DECIMAL(38, 0)")
    return [
        value
        if isinstance(value.low.unnest(), exp.Literal)
        else replace(value, low=exp.cast(value.low, wide), high=exp.cast(value.high, wide))
        for value in values
    ], most


def is_known(tree: Tree) -> Tree:
    """Whether an end is there."""
    return exp.Not(this=exp.Paren(this=exp.Is(this=exp.Paren(this=tree.copy()), expression=exp.null())))


def is_finite(end: Tree) -> Tree:
    """Whether an end of floating point numbers is finite; NaN is above infinity."""
    return sql("ABS(:x) < CAST('Infinity' AS DOUBLE)", x=end)


def where(condition: Tree, value: Value) -> Value:
    """The value where a condition holds; where it is not TRUE, nothing bounds it."""
    if condition is TRUE:
        return value
    low, high = (when(condition, end) for end in (value.low, value.high))
    return replace(value, low=low, high=high, bounded=False)


def extreme(word: str, values: list[Value], end: str) -> Tree:
    """LEAST or GREATEST of ends: NULL where an end of a possible value is missing.

    Args:
        word: the name of the function.
        values: the values.
        end: low or high.
    """
    ends: list[Tree] = [getattr(value, end) for value in values]
    if len(ends) == 1:
        return ends[0]
    names = [f"x{i}" for i in range(len(ends))]
    call = sql(f"{word}({', '.join(':' + name for name in names)})", **dict(zip(names, ends, strict=True)))
    missing = [
        every([negate(value.nothing), negate(is_known(tree))])
        for value, tree in zip(values, ends, strict=True)
        if not value.bounded
    ]
    return when(some(missing), exp.null(), call) if missing else call


def joint_null(values: tuple[Value, ...]) -> tuple[Tree, Tree]:
    """Whether a call that is NULL with any NULL argument may be NULL, and whether it surely is."""
    return some(value.null for value in values), some(value.nothing for value in values)
