"""Functions of text, which ranges do not bound: they are computed value by value. And how long their texts may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.query.functions.definition import Definition, Form

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
_TEXT, _TEXTS = (("text",),), (("text",), ("text",))
PADDED = 1000
"""Characters that a text may be padded to."""


def _limit_replaced(parts: Sequence[int]) -> int:
    text, new = parts[0], parts[-1] if len(parts) > 2 else 0
    return max(text * max(new, 1), 1)


LENGTHS: dict[str, Callable[[Sequence[int]], int]] = {
    "longest": lambda parts: max(parts, default=0),
    "first": lambda parts: parts[0] if parts else 0,
    "changed": lambda parts: 3 * max(parts, default=0),
    "formatted": lambda parts: 20 * max(parts, default=0),
    "padded": lambda _: PADDED,
    "replaced": _limit_replaced,
    "joined": sum,
    "separated": lambda parts: sum(parts) + (parts[0] * len(parts) if parts else 0),
}
"""The most characters of a text, by those of the parts of the call in their order; see `Definition.length`."""

DEFINITIONS = (
    *(
        Definition(
            node,
            name,
            _ONE,
            forms=(Form(f"{name}({{x}})", _TEXT),),
            null_in=True,
            null_out=True,
            collation=True,
            length="changed",
        )
        for node, name in ((exp.Lower, "lower"), (exp.Upper, "upper"))
    ),
    Definition(exp.Length, "length", _ONE, forms=(Form("length({x})", _TEXT),), null_in=True, null_out=True),
    Definition(exp.Reverse, "reverse", _ONE, forms=(Form("reverse({x})", _TEXT),), null_in=True, length="changed"),
    Definition(
        exp.Initcap,
        "initcap",
        _TWO,
        forms=(Form("initcap({x})", _TEXT, ("postgres", "spark")),),
        null_in=True,
        collation=True,
        length="changed",
    ),
    Definition(
        exp.Left,
        "left",
        _TWO,
        operands=("this", "expression"),
        forms=(Form("left({x}, 2)", _TEXT),),
        null_in=True,
        null_out=True,
        length="first",
    ),
    Definition(
        exp.Right,
        "right",
        _TWO,
        operands=("this", "expression"),
        forms=(Form("right({x}, 2)", _TEXT),),
        null_in=True,
        length="first",
    ),
    *(
        Definition(
            node,
            name,
            _TWO,
            operands=("this", "expression"),
            forms=(Form(f"{name}({{x}}, 'a')", _TEXT, engines),),
            null_in=True,
        )
        for node, name, engines in (
            (exp.StartsWith, "starts_with", ()),
            (exp.EndsWith, "ends_with", ("duckdb",)),
            (exp.Contains, "contains", ("duckdb", "spark")),
        )
    ),
    Definition(
        exp.Substring,
        "substring",
        frozenset({"this", "start", "length"}),
        operands=("this", "start", "length"),
        forms=(Form("substring({x}, 2, 2)", _TEXT), Form("substring({x} FROM 2)", _TEXT)),
        null_in=True,
        null_out=True,
        length="first",
    ),
    Definition(
        exp.Trim,
        "trim",
        _TWO,
        operands=("this", "expression"),
        forms=(Form("trim({x})", _TEXT),),
        null_in=True,
        length="first",
    ),
    Definition(
        exp.Pad,
        "lpad",
        frozenset({"this", "expression", "fill_pattern"}),
        operands=("this", "expression", "fill_pattern"),
        forms=(Form("lpad({x}, 7, '-')", _TEXT),),
        length="padded",
    ),
    Definition(
        exp.Replace,
        "replace",
        frozenset({"this", "expression", "replacement"}),
        operands=("this", "expression", "replacement"),
        forms=(Form("replace({x}, 'a', 'xyz')", _TEXT), Form("replace({x}, {y}, 'x')", _TEXTS)),
        length="replaced",
    ),
    Definition(
        exp.Concat,
        "concat",
        frozenset({"expressions"}),
        operands=("expressions",),
        forms=(Form("concat({x}, '-', {y})", _TEXTS),),
        length="joined",
    ),
    Definition(
        exp.ConcatWs,
        "concat_ws",
        frozenset({"expressions"}),
        operands=("expressions",),
        forms=(Form("concat_ws('--', {x}, {y})", _TEXTS),),
        length="separated",
    ),
    Definition(exp.DPipe, "||", operands=("this", "expression"), forms=(Form("{x} || {y}", _TEXTS),), length="joined"),
    Definition(
        exp.StrPosition,
        "strpos",
        frozenset({"this", "substr"}),
        operands=("this", "substr"),
        forms=(Form("strpos({x}, 'b')", _TEXT),),
    ),
    Definition(
        exp.RegexpLike,
        "regexp_like",
        frozenset({"this", "expression", "flag"}),
        operands=("this", "expression", "flag"),
        collation=True,
    ),
    Definition(exp.RegexpILike, "~*", operands=("this", "expression"), collation=True),
)
