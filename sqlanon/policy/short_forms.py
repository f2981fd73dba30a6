"""The short forms of parts of a policy: text in place of a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sqlanon.declared import METHODS, MethodsOption
from sqlanon.declared.kinds import METHOD_NAME, TEXT
from sqlanon.declared.values import WrongValue
from sqlanon.declared.words import wrong_kind
from sqlanon.declared.zip3 import INSTEAD

BUILDERS = ("steps", "calendar", "prefix", "mask", "table", "hipaa")
"""Builders of a hierarchy that can be written as text: `steps:5,10`."""
A_HIERARCHY = "a CSV file, or a mapping such as {steps: [5, 10]}, {prefix: [3, 2, 1]} or {groups: {young: [18, 19]}}"


def hierarchy(value: object) -> object:
    """The text forms of a hierarchy, a file or ``steps:5,10 from 0``, as the mapping that they mean."""
    if isinstance(value, Mapping):
        return _with_instead(
            {key: os.fspath(part) if isinstance(part, os.PathLike) else part for key, part in value.items()}
        )
    if not isinstance(value, str):
        raise WrongValue(wrong_kind(value, "not a hierarchy"), A_HIERARCHY)
    builder, colon, rest = TEXT.read(value).partition(":")
    if not colon or builder not in BUILDERS:
        return {"file": value}
    if builder == "steps" and " from " in rest:
        rest, _, origin = rest.partition(" from ")
        return {"steps": rest.strip(), "from": origin.strip()}
    return _with_instead({builder: rest.strip()})


def _with_instead(keys: dict[str, object]) -> dict[str, object]:
    """With the substitute that the rule counts unlisted prefixes as."""
    return {"other": INSTEAD, **keys} if keys.get("hipaa") is not None else keys


def groups(value: object) -> object:
    """A list of values, or the name of a hierarchy's file, as the mapping that it means."""
    if isinstance(value, list | tuple):
        return {"values": value}
    return {"hierarchy": value} if isinstance(value, str) else value


def method(value: object) -> object:
    """The mapping of the text form ``name:option=value,option=value``.

    A list of methods is a text, separated by ``;``.
    """
    if isinstance(value, Mapping):
        declared = METHODS.get(str(value.get("name")))
        several = [option.name for option in declared.options if isinstance(option, MethodsOption)] if declared else []
        return {key: _join_methods(key, text) if key in several else text for key, text in value.items()}
    if not isinstance(value, str):
        return value
    name, colon, rest = value.partition(":")
    options: dict[str, object] = {"name": name}
    for item in rest.split(",") if colon else ():
        key, equals, option = item.partition("=")
        if not equals or not key.strip() or not option or key.strip() in options:
            raise WrongValue("its options cannot be read", METHOD_NAME.allowed)
        options[key.strip()] = option.strip()
    return options


def _join_methods(option: object, value: object) -> object:
    if not isinstance(value, list | tuple):
        return value
    if not value or not all(isinstance(name, str) and name for name in value):
        raise WrongValue(f"{option} names no methods", "a list of methods, each as name:option=value")
    return "; ".join(value)
