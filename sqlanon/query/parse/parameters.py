"""Values of a query's parameters, written into the text as constants."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from sqlglot import Token, TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlanon.errors import PolicyError
from sqlanon.sqltext import literal, respell

Parameters = Sequence[object] | Mapping[str, object]
_FORMS = "parameters are ? or $1 with a list of values, :name or $name with their names"


def write_parameters(text: str, parameters: Parameters | None, dialect: str) -> str:
    """The query with constants in place of parameters.

    Args:
        text: the query.
        parameters: a list for ``?`` and ``$1``, or values by names for ``:name`` and ``$name``; None: no parameters.
        dialect: the engine's.

    Raises:
        PolicyError: a parameter without a value, a value without a parameter, or a value of a type that has no
            constant.
    """
    if parameters is None:
        return text
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping):
        raise PolicyError(_FORMS)
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return text  # the parser explains it
    pieces, end, used_keys = [], 0, set()
    for start, stop, key in _places(tokens, by_name=isinstance(parameters, Mapping)):
        used_keys.add(key)
        pieces += [text[end:start], respell(_constant(_value(parameters, key)), dialect)]
        end = stop
    all_keys = set(parameters) if isinstance(parameters, Mapping) else set(range(len(parameters)))
    if all_keys - used_keys:
        raise PolicyError(f"{len(all_keys - used_keys)} of the values have no parameter in the query; {_FORMS}")
    return "".join([*pieces, text[end:]])


def _places(tokens: Sequence[Token], *, by_name: bool) -> Iterator[tuple[int, int, int | str]]:
    """Start and end of each parameter, and its number or name."""
    count = 0
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        joined = after is not None and after.start == token.end + 1
        if token.token_type is TokenType.PLACEHOLDER and not by_name:
            yield token.start, token.end + 1, count
            count += 1
        elif token.token_type is TokenType.PARAMETER and after is not None and joined:
            if not by_name and after.text.isdigit():
                yield token.start, after.end + 1, int(after.text) - 1
            elif by_name:
                yield token.start, after.end + 1, after.text
        elif token.token_type is TokenType.COLON and by_name and after is not None and joined:
            yield token.start, after.end + 1, after.text


def _value(parameters: Parameters, key: int | str) -> object:
    if isinstance(parameters, Mapping):
        if key not in parameters:
            raise PolicyError(f"parameter {key} has no value")
        return parameters[str(key)]
    assert isinstance(key, int)
    if not 0 <= key < len(parameters):
        raise PolicyError(f"parameter {key + 1} has no value: there are {len(parameters)}")
    return parameters[key]


def _constant(value: object) -> str:
    """A value as SQL."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, int) or (isinstance(value, float | Decimal) and math.isfinite(value)):
        text = format(value, "f") if isinstance(value, Decimal) else repr(value)
        return f"({text})" if text.startswith("-") else text
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return f"CAST({literal(value.isoformat(sep=' '))} AS TIMESTAMP)"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return f"CAST({literal(value.isoformat())} AS DATE)"
    raise PolicyError(
        "values of parameters are texts, finite numbers, booleans, dates, timestamps without a zone, and None"
    )
