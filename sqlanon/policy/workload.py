"""The workload file: the keys, and reading it into the frozen spec with every error and the line.

Measures of a workload are in `sqlanon.evaluate.workload`; whether columns exist is decided there, where the
release is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

from sqlanon.declared.kinds import FLAG, TEXT, Kind
from sqlanon.declared.records import BROKEN, Names, Part, Path, Record
from sqlanon.declared.values import REQUIRED, Integer, Number, OneOf, Value, WrongValue
from sqlanon.declared.words import join_words
from sqlanon.errors import PolicyError
from sqlanon.policy.document import read
from sqlanon.policy.problems import Problems
from sqlanon.workload_spec import GeneratorSpec, QuerySpec, WorkloadSpec

MOST_QUERIES = 10_000
"""Queries of a generator at most."""

RESERVED = ("queries", "all")
"""Names in reports for the file's own queries, and for all queries together."""


def _list(value: object) -> object:
    """A list, to be read item by item."""
    if not isinstance(value, list):
        raise WrongValue("not a list")
    return value


def _key(value: Value, default: object, text: str) -> Part:
    """A key, which may be empty where the default is None."""
    return Part(value, default, text=text, null=default is None)


_NAME = _key(TEXT, None, "What reports call it; default: the kind.")
_COLUMNS = _key(Names(), (), "Quasi columns; default: all.")
_SENSITIVE = _key(TEXT, None, "The sensitive column; default: the first one.")
_QUERIES = Integer(1, MOST_QUERIES)


def _generator_of(kind: str, about: str, **parts: Part) -> Record:
    """Keys of a family of queries."""
    return Record(dict, {"kind": _key(OneOf((kind,)), kind, about), "name": _NAME, **parts})


GENERATORS: Mapping[str, Record] = {
    # LeFevre et al. 2006, section 6.3.
    "equality": _generator_of(
        "equality",
        "COUNT(*) where one column equals one value.",
        columns=_COLUMNS,
        queries=_key(_QUERIES, None, "At most so many, drawn by the seed; default: every value of every column."),
    ),
    # Xiao and Tao 2006, section 6.
    "ranges": _generator_of(
        "ranges",
        "COUNT(*) over random ranges of several columns.",
        columns=_COLUMNS,
        dimensions=_key(Integer(1), 2, "Quasi columns in one query (the paper's qd)."),
        selectivity=_key(
            Number(Fraction(0), Fraction(1), above=True),
            Fraction(1, 10),
            "Share of the domain that a query asks for; of dimensions + 1 columns each takes its root.",
        ),
        sensitive=_key(TEXT, None, "The sensitive column that a set of values is drawn of; default: the first one."),
        queries=_key(_QUERIES, 100, "How many."),
    ),
    "aggregates": _generator_of(
        "aggregates",
        "SUM and AVG of a column by groups of another.",
        measures=_key(Names(), (), "Numeric columns that are published; default: all of them."),
        by=_key(Names(), (), "Columns to group by, one at a time; default: all published ones of at most 100 values."),
    ),
    # Ghinita et al. 2009, section 7.4: the datacube at one level of its lattice.
    "datacube": _generator_of(
        "datacube",
        "KL-divergence of all group-bys over `level` quasi columns and the sensitive one.",
        level=_key(Integer(1), 2, "Quasi columns in one group-by."),
        columns=_COLUMNS,
        sensitive=_SENSITIVE,
        answers=_key(FLAG, False, "Also ask each group-by as a query and measure the errors of its cells."),
    ),
    # Xiao et al. 2010, section 6.2.
    "joint": _generator_of(
        "joint", "KL-divergence over all quasi columns and the sensitive one.", columns=_COLUMNS, sensitive=_SENSITIVE
    ),
}
"""The families of queries, each with the keys that it takes."""

_QUERY = Record(
    QuerySpec,
    {
        "name": _key(TEXT, REQUIRED, "What reports call the query; unique in the file."),
        "sql": _key(
            TEXT, REQUIRED, "One SELECT over the source's table and column names, as `sqlanon query` answers them."
        ),
    },
)
_LIST = Kind("a list, at least one", {"type": "array"}, _list)
_HEAD = Record(
    dict,
    {
        "version": _key(Integer(1, 1), REQUIRED, "The version of this format: 1."),
        "seed": _key(Integer(0), 1, "What generators draw depends on nothing else."),
        "queries": _key(_LIST, [], "Queries, each with a name."),
        "generators": _key(_LIST, [], "Families of queries, each with a kind."),
    },
)
"""The file without queries and generators."""


def load_workload(path: str | os.PathLike[str], environ: Mapping[str, str] | None = None) -> WorkloadSpec:
    """Read a workload file.

    Args:
        path: the YAML file.
        environ: values for ``${NAME}``; default: the environment of the process.

    Raises:
        PolicyError: with every problem of the file, each as ``file:line: place: problem; allowed values``.
    """
    document = read(FilePath(path), os.environ if environ is None else environ)
    problems = Problems(document)
    for place, what, allowed in document.found:
        problems.add(place, what, allowed)
    problems.mute(document.unread)
    raw = document.data
    if not isinstance(raw, dict):
        what = "the file is empty" if raw is None else "not a mapping"
        problems.add((), what, "a workload begins with version: 1")
        problems.stop()
        raise PolicyError(f"{path}: {what}")  # muted: a tag at the top is a problem already
    head = _HEAD.read_at(raw, (), problems.add)
    queries = [query for path, item in _items(raw, "queries") if (query := _query(item, path, problems)) is not None]
    generators = [
        generator
        for path, item in _items(raw, "generators")
        if (generator := _generator(item, path, problems)) is not None
    ]
    if not raw.get("queries") and not raw.get("generators"):
        problems.add((), "nothing to ask", "queries, generators or both")
    _check_names((*queries, *generators), problems, document.line)
    problems.stop()
    return WorkloadSpec(
        tuple(item for _, item in queries),
        tuple(item for _, item in generators),
        head["seed"] if head is not BROKEN else 1,
    )


def _items(raw: Mapping[str, Any], key: str) -> list[tuple[Path, Any]]:
    items = raw.get(key)
    return [((key, place), item) for place, item in enumerate(items)] if isinstance(items, list) else []


def _query(item: object, path: Path, problems: Problems) -> tuple[Path, QuerySpec] | None:
    query = _QUERY.read_at(item, path, problems.add)
    return None if query is BROKEN else (path, query)


def _generator(item: object, path: Path, problems: Problems) -> tuple[Path, GeneratorSpec] | None:
    """A generator; the kind alone may be written as text."""
    raw = {"kind": item} if isinstance(item, str) else item
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or kind is None:
        problems.add(path, "no kind of generator", f"kind: one of {join_words(GENERATORS)}")
        return None
    model = GENERATORS.get(kind) if isinstance(kind, str) else None
    if model is None:
        problems.add((*path, "kind"), "not a kind of generator", f"one of {join_words(GENERATORS)}")
        return None
    values = model.read_at(raw, path, problems.add)
    if values is BROKEN:
        return None
    name = values.pop("name") or (f"datacube {values['level']}" if kind == "datacube" else kind)
    if name in RESERVED:
        problems.add((*path, "name"), "reports use this name themselves", f"another name than {join_words(RESERVED)}")
    return path, GeneratorSpec(name=name, **values)


def _check_names(
    items: Sequence[tuple[Path, QuerySpec | GeneratorSpec]], problems: Problems, line: Callable[[Path], int]
) -> None:
    first: dict[str, Path] = {}
    for path, item in items:
        earlier = first.setdefault(item.name, path)
        if earlier != path:
            problems.add(path, f"the name of the item in line {line(earlier)} again", "each has its own name")
