"""Functions of text, which ranges do not bound: they are computed value by value. And how long their texts may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.query.functions.definition import Definition

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
PADDED = 1000
"""Characters that a text may be padded to."""


def _replaced(parts: Sequence[int]) -> int:
    text, new = parts[0], parts[-1] if len(parts) > 2 else 0
    return max(text * max(new, 1), 1)


LENGTHS: dict[str, Callable[[Sequence[int]], int]] = {
    "longest": lambda parts: max(parts, default=0),
    "first": lambda parts: parts[0] if parts else 0,
    "changed": lambda parts: 3 * max(parts, default=0),
    "formatted": lambda parts: 20 * max(parts, default=0),
    "padded": lambda _: PADDED,
    "replaced": _replaced,
    "joined": sum,
    "separated": lambda parts: sum(parts) + (parts[0] * len(parts) if parts else 0),
}
"""The most characters of a text, by those of the parts of the call in their order; see `Definition.length`."""

DEFINITIONS = (
    *(
        Definition(node, name, _ONE, null_in=True, null_out=True, collation=True, length="changed")
        for node, name in ((exp.Lower, "lower"), (exp.Upper, "upper"))
    ),
    Definition(exp.Length, "length", _ONE, null_in=True, null_out=True),
    Definition(exp.Reverse, "reverse", _ONE, null_in=True, length="changed"),
    Definition(exp.Initcap, "initcap", _TWO, null_in=True, collation=True, length="changed"),
    Definition(exp.Left, "left", _TWO, operands=("this", "expression"), null_in=True, null_out=True, length="first"),
    Definition(exp.Right, "right", _TWO, operands=("this", "expression"), null_in=True, length="first"),
    *(
        Definition(node, name, _TWO, operands=("this", "expression"), null_in=True)
        for node, name in (
            (exp.StartsWith, "starts_with"),
            (exp.EndsWith, "ends_with"),
            (exp.Contains, "contains"),
        )
    ),
    Definition(
        exp.Substring,
        "substring",
        frozenset({"this", "start", "length"}),
        operands=("this", "start", "length"),
        null_in=True,
        null_out=True,
        length="first",
    ),
    Definition(exp.Trim, "trim", _TWO, operands=("this", "expression"), null_in=True, length="first"),
    Definition(
        exp.Pad,
        "lpad",
        frozenset({"this", "expression", "fill_pattern"}),
        operands=("this", "expression", "fill_pattern"),
        length="padded",
    ),
    Definition(
        exp.Replace,
        "replace",
        frozenset({"this", "expression", "replacement"}),
        operands=("this", "expression", "replacement"),
        length="replaced",
    ),
    Definition(exp.Concat, "concat", frozenset({"expressions"}), operands=("expressions",), length="joined"),
    Definition(exp.ConcatWs, "concat_ws", frozenset({"expressions"}), operands=("expressions",), length="separated"),
    Definition(exp.DPipe, "||", operands=("this", "expression"), length="joined"),
    Definition(exp.StrPosition, "strpos", frozenset({"this", "substr"}), operands=("this", "substr")),
    Definition(
        exp.RegexpLike,
        "regexp_like",
        frozenset({"this", "expression", "flag"}),
        operands=("this", "expression", "flag"),
        collation=True,
    ),
    Definition(exp.RegexpILike, "~*", operands=("this", "expression"), collation=True),
)
