"""The list of operators and functions that docs/query.md shows, made of the registry."""

from __future__ import annotations

from sqlanon.query.functions.aggregates import DEFINITIONS as AGGREGATES
from sqlanon.query.functions.conditions import ANY, CHOSEN
from sqlanon.query.functions.definition import Definition
from sqlanon.query.functions.registry import DEFINITIONS

_KINDS = {
    "whole|decimal|double": "numbers",
    "whole|decimal": "exact numbers",
    "whole": "whole numbers",
    "date": "dates",
    "timestamp": "timestamps",
    "date|timestamp": "dates or timestamps",
    "boolean": "booleans",
    "interval": "intervals",
    ANY: "values of any type",
    CHOSEN: "numbers, dates, timestamps and booleans",
}


def reference() -> str:
    """Markdown lists of the functions with bounds over ranges, with operands, and of those computed value by value."""
    rows: dict[str, list[str]] = {}
    for definition in DEFINITIONS:
        if definition.ends is not None and definition.forms:
            form = f"`{definition.forms[0].text.replace('{x}', 'x').replace('{y}', 'y')}`"
            forms = rows.setdefault(_operands(definition), [])
            forms += [form] if form not in forms else []
    bounded = {definition.name for definition in DEFINITIONS if definition.ends is not None}
    listed = {definition.name for definition in DEFINITIONS if definition not in AGGREGATES} - bounded
    lines = ["| over ranges there are | of |", "|---|---|"]
    lines += [f"| {', '.join(forms)} | {operands} |" for operands, forms in rows.items()]
    names = ", ".join(f"`{name}`" for name in sorted(listed, key=str.lower))
    return "\n".join([*lines, "", f"Value by value, where the values of a column are listed, also: {names}.", ""])


def _operands(definition: Definition) -> str:
    texts: dict[str, None] = {}
    for signature in definition.signatures:
        words = [_KINDS[kinds.removesuffix("|quoted")] for kinds in signature if kinds != "quoted"]
        if len(words) < len(signature):
            continue  # a text that is written out, which is said of the other side
        for index in definition.constant:
            words[index] = "a constant"
        texts[" and ".join(dict.fromkeys(words))] = None
    return "; ".join(texts)
