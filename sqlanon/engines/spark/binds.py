"""Values of statements: Spark shows the literals of a plan in its user interface and its event log, so values do not go there.

A text or a float is a column of a local relation of one row, which plans name and do not show, and the statement selects it. Whole
numbers and NULL are written into the text: they are numbers of rows, versions and classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlanon.engines.base import Bind

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|--[^\n]*|::|:([^\W\d]\w*)""", re.DOTALL)
"""What a placeholder must not be looked for in, or a placeholder."""


def placed(text: str, binds: Mapping[str, Bind], view: str) -> tuple[str, dict[str, str | float]]:
    """The statement without placeholders, and what the view of values must hold.

    Args:
        text: SQL of Spark with ``:name`` for values.
        binds: the values.
        view: the name of the view.
    """
    hidden: dict[str, str | float] = {}

    def value(token: re.Match[str]) -> str:
        name = token[1]
        if name is None or name not in binds:
            return token[0]
        bound = binds[name]
        if bound is None:
            return "NULL"
        if isinstance(bound, int):
            return str(int(bound))
        hidden[name] = bound
        return f"(SELECT {name} FROM {view})"  # noqa: S608 - a name of ours

    return _TOKEN.sub(value, text), hidden


__all__ = ["placed"]
