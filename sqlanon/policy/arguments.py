"""From Python or command-line arguments to the same frozen spec as a policy file, through the same checks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any, Unpack, cast

from sqlanon.declared.key import PRIVACY, Form
from sqlanon.declared.keys import ARGUMENTS
from sqlanon.declared.kinds import source_name
from sqlanon.declared.options import AnonymizeOptions
from sqlanon.declared.records import Path
from sqlanon.declared.words import near, show
from sqlanon.policy import checks
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import read_release
from sqlanon.spec import ReleaseSpec

_NAMED = {argument.name: argument for argument in ARGUMENTS}
_ROLES = {argument.name: argument.place[-1] for argument in ARGUMENTS if argument.is_role}
_OF_COLUMN = {argument.place[2]: argument.name for argument in ARGUMENTS if argument.of_columns}
"""The argument of each setting of a column."""
_DEEPEST_FIRST = sorted(ARGUMENTS, key=lambda argument: -len(argument.place))


def release(*, source: str, **options: Unpack[AnonymizeOptions]) -> ReleaseSpec:
    """Check the arguments of a release and freeze them.

    Args:
        source: table or view, ``table`` or ``schema.table``.
        options: keys of a policy file, as in docs/policy.md. Relative paths start in the working directory.
            ``k`` must be said, except with ``maximize``, with the format anatomy and with ``k_map`` or
            ``delta_presence``: 1 publishes rows as they are. ``name`` defaults to the source's table name; ``publish``
            stays None if it is not given.

    Raises:
        PolicyError: with every problem, each as ``argument: problem; allowed values``.
        TypeError: an argument that there is not, or no quasi column.

    Example:
        >>> spec = release(source="main.patients", quasi=["age", "zip"], sensitive="diagnosis", k=10, l=2.5)
        >>> spec.name, spec.privacy.l
        ('patients', Fraction(5, 2))
    """
    settings = cast("dict[str, Any]", options)
    for name in settings:
        if name not in _NAMED:
            raise TypeError(f"there is no argument {name}{near(name, _NAMED)}")
    if "quasi" not in settings:
        raise TypeError("the argument quasi is missing")
    origin = _Arguments()
    problems = Problems(origin)
    columns = _roles({name: settings.get(name) for name in _ROLES}, origin, problems)
    raw: dict[str, Any] = {"name": _table(source) or "x", "source": source, "columns": columns, "privacy": {}}
    for argument in ARGUMENTS:
        value = settings.get(argument.name)
        if argument.is_role or argument.name not in settings or (value is None and argument.optional):
            continue
        if argument.of_columns:
            if argument.form is Form.NAMES:
                value = dict.fromkeys(_names((argument.name,), value, problems), True)
            _settings(columns, argument.place[2], value, problems)
        elif argument.name == "format":
            raw["format"] = dict(value) if isinstance(value, Mapping) else {"kind": value}
        elif argument.place == PRIVACY:
            if isinstance(value, Mapping):
                raw["privacy"] |= _keys_to_text(value)
            else:
                problems.add((argument.name,), "not a mapping", "requirement: value pairs")
        elif argument.name != "mean" or value:
            _set_key(raw, argument.place, _file(_keys_to_text(value)))
    model = read_release(raw, (), problems)
    spec = None if model is None else checks.build(model, raw, (), problems, checks.Files(FilePath()))
    problems.stop()
    assert spec is not None
    return spec


def _set_key(raw: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    """Set a key, and make the parts that it is in."""
    *parts, last = path
    for part in parts:
        raw = raw.setdefault(part, {})
    raw[last] = value


class _Arguments:
    """Says where a value is by the argument that brought it."""

    def __init__(self) -> None:
        self.listed: dict[str, str] = {}

    def place(self, path: Path) -> tuple[int, str]:
        """The argument; all come in the order they were found."""
        if path[0] == "columns":
            return 0, self._column(path)
        for argument in _DEEPEST_FIRST:
            location = argument.place
            if path[: len(location)] == location and location != PRIVACY:
                inner = [part for part in path[len(location) :] if part not in ("name", "kind")]
                return 0, argument.name + (f"[{show(str(inner[0]))}]" if inner else "")
        below = [argument.name for argument in ARGUMENTS if argument.place[: len(path)] == path]
        if not below and path[:1] == PRIVACY:
            return 0, f"requirements[{show(str(path[1]))}]"
        return 0, below[0] if len(below) == 1 else str(path[0])

    def display(self, path: Path, text: str) -> str:
        """The file name itself: the caller wrote it."""
        return text if path else ""

    def _column(self, path: Path) -> str:
        if len(path) == 1:
            return "quasi"
        column = str(path[1])
        setting = str(path[2]) if len(path) > 2 else "role"
        argument = _OF_COLUMN.get(setting, setting)
        return f"{self.listed.get(column, 'quasi') if setting == 'role' else argument}[{show(column)}]"


def _roles(lists: Mapping[str, object], origin: _Arguments, problems: Problems) -> dict[str, dict[str, object]]:
    """Each column with the role of the argument that lists it, in the order of the arguments."""
    columns: dict[str, dict[str, object]] = {}
    for argument, column_names in lists.items():
        for column in _names((argument,), column_names, problems):
            if column in columns:
                first = origin.listed[column]
                what = "is listed twice" if first == argument else f"is also listed in {first}"
                problems.add((argument,), f"the column {show(column)} {what}", "each column has one role")
                continue
            origin.listed[column] = argument
            columns[column] = {"role": _ROLES[argument]}
    return columns


def _names(path: Path, argument: object, problems: Problems) -> list[str]:
    """The column names of an argument; None counts as none."""
    if argument is None:
        return []
    names = [argument] if isinstance(argument, str) else argument
    if not isinstance(names, Iterable) or isinstance(names, bytes | Mapping):
        problems.add(path, "not a list of columns", "a column's name or a list of names")
        return []
    names = list(names)
    if not all(isinstance(column, str) for column in names):
        problems.add(path, "a column's name is not text", "a column's name or a list of names")
    return [column for column in names if isinstance(column, str)]


def _settings(columns: dict[str, dict[str, object]], key: str, settings: object, problems: Problems) -> None:
    """Put a setting to the named columns."""
    argument = _OF_COLUMN.get(key, key)
    if settings is None:
        return
    if not isinstance(settings, Mapping):
        problems.add((argument,), "not a mapping", "column: value pairs")
        return
    for column, value in settings.items():
        if column in columns:
            columns[column][key] = _file(value)
        else:
            what = f"the column {show(str(column))} has no role{near(column, columns)}"
            problems.add((argument,), what, "a column of quasi, sensitive, identifiers or insensitive")


def _file(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _keys_to_text(argument: object) -> object:
    """A mapping with keys as text."""
    return {str(key): value for key, value in argument.items()} if isinstance(argument, Mapping) else argument


def _table(source: object) -> str:
    return (source_name(source) if isinstance(source, str) else None) or ""
