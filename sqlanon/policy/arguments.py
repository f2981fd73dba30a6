"""From Python or command-line arguments to the same frozen spec as a policy file, through the same checks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

from sqlanon.policy import checks, shape
from sqlanon.policy.fields import name_parts
from sqlanon.policy.problems import Path, Problems, near, show
from sqlanon.spec import ReleaseSpec

Names = str | Sequence[str]
FileName = str | os.PathLike[str]
Number = int | float | str | Fraction | Decimal

_OF_COLUMN = {"weight": "weights", "hierarchy": "hierarchies", "ordered": "ordered"}


def release(
    *,
    source: str,
    quasi: Names,
    sensitive: Names | None = (),
    identifiers: Names | None = (),
    insensitive: Names | None = (),
    rest: str = "error",
    k: int | None = None,
    l: Number | None = None,  # noqa: E741 - the papers' symbol
    distinct_l: int | None = None,
    joint: bool = False,
    requirements: Mapping[str, object] | None = None,
    max_loss: Number | None = None,
    max_extent: Mapping[str, Number] | None = None,
    maximize: str | None = None,
    at_least: Mapping[str, Number] | None = None,
    presence: str | None = None,
    hierarchies: Mapping[str, FileName] | None = None,
    ordered: Mapping[str, FileName | Sequence[str]] | None = None,
    weights: Mapping[str, int] | None = None,
    method: str | Mapping[str, object] = "tree",
    refine: bool | Mapping[str, int] = False,
    format: str | Mapping[str, object] = "ranges",  # noqa: A002 - the policy's own word
    mean: Names | None = (),
    execution: str = "auto",
    memory: int | str | None = None,
    seed: int | None = None,
    rows_are: str = "persons",
    persons: str | None = None,
    accept_unique: Names | None = (),
    accept_repeats: Names | None = (),
    publish: str | None = None,
    publish_file: FileName | None = None,
    readers: Names | None = (),
    dimensions: Names | None = (),
    key: Names | None = (),
    every: str | None = None,
    keep: int = 2,
    max_failing: int | None = None,
    name: str | None = None,
) -> ReleaseSpec:
    """Check the arguments of one release and freeze them.

    Arguments mean what the keys of a policy file mean (docs/policy.md). Relative paths start in the working directory.
    ``requirements`` are further keys of `privacy` that extensions add. ``k`` must be said, except with ``maximize`` and with the format anatomy: 1 publishes rows as they are.
    ``max_loss`` is the policy's ``max_loss.per_class_ncp``, ``max_failing`` its ``history.max_failing``. ``name`` defaults to the source's table name; ``publish`` stays None if it is not given.

    Raises:
        PolicyError: with every problem, each as ``argument: what is wrong; what is allowed``.

    Example:
        >>> spec = release(source="main.patients", quasi=["age", "zip"], sensitive="diagnosis", k=10, l=2.5)
        >>> spec.name, spec.privacy.l
        ('patients', Fraction(5, 2))
    """
    origin = _Arguments()
    problems = Problems(origin)
    lists = {"quasi": quasi, "sensitive": sensitive, "identifiers": identifiers, "insensitive": insensitive}
    columns = _roles(lists, origin, problems)
    _settings(columns, "weight", weights, problems)
    _settings(columns, "hierarchy", hierarchies, problems)
    _settings(columns, "ordered", ordered, problems)
    for setting, given in (("accept_unique", accept_unique), ("accept_repeats", accept_repeats)):
        _settings(columns, setting, dict.fromkeys(_names((setting,), given, problems), True), problems)
    raw: dict[str, Any] = {
        "name": _table(source) or "x" if name is None else name,
        "source": source,
        "publish": publish,
        "publish_file": _file(publish_file),
        "columns": columns,
        "rest": rest,
        "rows_are": rows_are,
        "persons": persons,
        "readers": () if readers is None else readers,
        "dimensions": () if dimensions is None else dimensions,
        "key": () if key is None else key,
        "every": every,
        "keep": keep,
        "history": None if max_failing is None else {"max_failing": max_failing},
        "privacy": {
            "l": l,
            "distinct_l": distinct_l,
            "joint": joint,
            "max_loss": None if max_loss is None else {"per_class_ncp": max_loss},
            "max_extent": _keyed(max_extent),
            "maximize": maximize,
            "at_least": _keyed(at_least),
            "presence": presence,
        },
        "method": method,
        "refine": _keyed(refine),
        "format": _format(format, () if mean is None else mean),
        "execution": execution,
        "memory": memory,
        "seed": seed,
    }
    if k is not None:
        raw["privacy"]["k"] = k
    raw["privacy"] |= requirements or {}
    model = shape.read(raw, (), problems)
    spec = None if model is None else checks.build(model, raw, (), problems, checks.Files(FilePath()))
    problems.stop()
    assert spec is not None
    return spec


class _Arguments:
    """Says where a value is by the argument that brought it."""

    def __init__(self) -> None:
        self.listed: dict[str, str] = {}

    def place(self, path: Path) -> tuple[int, str]:
        """The argument; all come in the order they were found."""
        key = str(path[0])
        if key == "columns":
            return 0, self._column(path)
        if key == "privacy" or path[:2] == ("format", "mean"):
            argument = str(path[1])
            inner = len(path) > 2 and argument in ("max_extent", "at_least")
            return 0, f"{argument}[{show(str(path[2]))}]" if inner else argument
        if path[:2] == ("history", "max_failing"):
            return 0, "max_failing"
        if key in ("method", "format", "refine") and len(path) > 1 and path[1] not in ("name", "kind"):
            return 0, f"{key}[{show(str(path[1]))}]"
        return 0, key

    def shown(self, path: Path, text: str) -> str:
        """The file name itself: the caller wrote it."""
        return text if path else ""

    def _column(self, path: Path) -> str:
        if len(path) == 1:
            return "quasi"
        column = str(path[1])
        setting = str(path[2]) if len(path) > 2 else "role"
        argument = _OF_COLUMN.get(setting, setting)
        return f"{self.listed.get(column, 'quasi') if setting == 'role' else argument}[{show(column)}]"


def _roles(
    lists: Mapping[str, Names | None], origin: _Arguments, problems: Problems
) -> dict[str, dict[str, object]]:
    """Each column with the role of the argument that lists it, in the order of the arguments."""
    columns: dict[str, dict[str, object]] = {}
    for argument, given in lists.items():
        for column in _names((argument,), given, problems):
            if column in columns:
                first = origin.listed[column]
                what = "is listed twice" if first == argument else f"is also listed in {first}"
                problems.add((argument,), f"the column {show(column)} {what}", "each column has one role")
                continue
            origin.listed[column] = argument
            columns[column] = {"role": argument.removesuffix("s")}
    return columns


def _names(path: Path, given: object, problems: Problems) -> list[str]:
    """The column names of one argument; None counts as none."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Iterable) or isinstance(names, bytes | Mapping):
        problems.add(path, "not a list of columns", "a column's name or a list of names")
        return []
    names = list(names)
    if not all(isinstance(column, str) for column in names):
        problems.add(path, "a column's name is not text", "a column's name or a list of names")
    return [column for column in names if isinstance(column, str)]


def _settings(columns: dict[str, dict[str, object]], key: str, given: object, problems: Problems) -> None:
    """Put one setting to the columns it names."""
    argument = _OF_COLUMN.get(key, key)
    if given is None:
        return
    if not isinstance(given, Mapping):
        problems.add((argument,), "not a mapping", "column: value pairs")
        return
    for column, value in given.items():
        if column in columns:
            columns[column][key] = _file(value)
        else:
            what = f"the column {show(str(column))} has no role{near(column, columns)}"
            problems.add((argument,), what, "a column of quasi, sensitive, identifiers or insensitive")


def _file(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _keyed(given: object) -> object:
    """A mapping with its keys as text."""
    return {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else given


def _format(given: object, mean: Names) -> object:
    if isinstance(given, Mapping):
        return {**given, "mean": mean} if mean else dict(given)
    return {"kind": given, "mean": mean}


def _table(source: object) -> str:
    parts = name_parts(source) if isinstance(source, str) else None
    return parts[-1] if parts else ""
