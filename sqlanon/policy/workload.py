"""The workload file: its keys as pydantic models, and reading it into the frozen spec with every error and its line.

What a workload measures is in `sqlanon.evaluate.workload`; whether its columns exist is decided there, where the
release is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from sqlanon.errors import PolicyError
from sqlanon.policy import fields, shape
from sqlanon.policy.document import read
from sqlanon.policy.models import Flag, Names, Part, Text
from sqlanon.policy.problems import Path, Problems, listed
from sqlanon.policy.quantities import amount, whole
from sqlanon.spec import GeneratorSpec, QuerySpec, WorkloadSpec

MOST_QUERIES = 10_000
"""Queries of one generator at most."""

RESERVED = ("queries", "all")
"""What reports call the file's own queries, and everything together."""

Queries = Annotated[int, whole(1, MOST_QUERIES)]
M = TypeVar("M", bound=Part)


def _share(value: Fraction) -> Fraction:
    """A selectivity: more than 0, at most 1."""
    if value == 0:
        raise fields.wrong("too small", "a number above 0 and at most 1")
    return value


class QueryModel(Part):
    """One query."""

    name: Text = Field(description="What reports call the query; unique in the file.")
    sql: Text = Field(
        description="One SELECT over the source's table and column names, as `sqlanon query` answers them."
    )


class EqualityModel(Part):
    """COUNT(*) with one attribute equal to one value (LeFevre et al. 2006, section 6.3)."""

    kind: Literal["equality"] = Field("equality", description="COUNT(*) where one column equals one value.")
    name: Text | None = Field(None, description="What reports call it; default: the kind.")
    columns: Names = Field([], description="Quasi columns; default: all.")
    queries: Queries | None = Field(
        None, description="At most so many, drawn by the seed; default: every value of every column."
    )


class RangesModel(Part):
    """COUNT(*) with random ranges over several quasi columns (Xiao and Tao 2006, section 6)."""

    kind: Literal["ranges"] = Field("ranges", description="COUNT(*) over random ranges of several columns.")
    name: Text | None = Field(None, description="What reports call it; default: the kind.")
    columns: Names = Field([], description="Quasi columns to draw from; default: all.")
    dimensions: Annotated[int, whole(1)] = Field(2, description="Quasi columns in one query (the paper's qd).")
    selectivity: Annotated[Fraction, amount(1), AfterValidator(_share)] = Field(
        Fraction(1, 10),
        description="Share of the domain that a query asks for; of dimensions + 1 columns each takes its root.",
    )
    sensitive: Text | None = Field(
        None, description="The sensitive column that a set of values is drawn of; default: the first one."
    )
    queries: Queries = Field(100, description="How many.")


class AggregatesModel(Part):
    """SUM and AVG by group."""

    kind: Literal["aggregates"] = Field("aggregates", description="SUM and AVG of a column by groups of another.")
    name: Text | None = Field(None, description="What reports call it; default: the kind.")
    measures: Names = Field([], description="Numeric columns that are published; default: all of them.")
    by: Names = Field(
        [],
        description="Columns to group by, one at a time; default: all published ones of at most 100 values.",
    )


class DatacubeModel(Part):
    """The datacube at one level of its lattice (Ghinita et al. 2009, section 7.4)."""

    kind: Literal["datacube"] = Field(
        "datacube",
        description="KL-divergence of all group-bys over `level` quasi columns and the sensitive one.",
    )
    name: Text | None = Field(None, description="What reports call it; default: the kind and the level.")
    level: Annotated[int, whole(1)] = Field(2, description="Quasi columns in one group-by.")
    columns: Names = Field([], description="Quasi columns of the cube; default: all.")
    sensitive: Text | None = Field(None, description="The sensitive column; default: the first one.")
    answers: Flag = Field(False, description="Also ask each group-by as a query and measure the errors of its cells.")


class JointModel(Part):
    """The joint distribution over quasi columns and the sensitive one (Xiao et al. 2010, section 6.2)."""

    kind: Literal["joint"] = Field("joint", description="KL-divergence over all quasi columns and the sensitive one.")
    name: Text | None = Field(None, description="What reports call it; default: the kind.")
    columns: Names = Field([], description="Quasi columns; default: all.")
    sensitive: Text | None = Field(None, description="The sensitive column; default: the first one.")


GENERATORS: Mapping[str, type[EqualityModel | RangesModel | AggregatesModel | DatacubeModel | JointModel]] = {
    "equality": EqualityModel,
    "ranges": RangesModel,
    "aggregates": AggregatesModel,
    "datacube": DatacubeModel,
    "joint": JointModel,
}


class _Head(Part):
    """The file without its queries and generators."""

    version: Annotated[int, whole(1, 1)] = Field(description="The version of this format: 1.")
    seed: Annotated[int, whole(0)] = Field(1, description="What generators draw depends on nothing else.")
    queries: list[Any] = Field([], description="Queries, each with a name.")
    generators: list[Any] = Field([], description="Families of queries, each with a kind.")


def load_workload(path: str | os.PathLike[str], environ: Mapping[str, str] | None = None) -> WorkloadSpec:
    """Read a workload file.

    Args:
        path: the YAML file.
        environ: values for ``${NAME}``; default: the environment of the process.

    Raises:
        PolicyError: with every problem of the file, each as ``file:line: where: what is wrong; what is allowed``.
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
    head = _model(_Head, raw, (), problems)
    queries = [made for at, item in _items(raw, "queries") if (made := _query(item, at, problems)) is not None]
    generators = [one for at, item in _items(raw, "generators") if (one := _generator(item, at, problems)) is not None]
    if not raw.get("queries") and not raw.get("generators"):
        problems.add((), "nothing to ask", "queries, generators or both")
    _check_names((*queries, *generators), problems, document.line)
    problems.stop()
    return WorkloadSpec(tuple(one for _, one in queries), tuple(one for _, one in generators), head.seed if head else 1)


def _items(raw: Mapping[str, Any], key: str) -> list[tuple[Path, Any]]:
    items = raw.get(key)
    return [((key, place), item) for place, item in enumerate(items)] if isinstance(items, list) else []


def _model(model: type[M], raw: object, at: Path, problems: Problems) -> M | None:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        shape.note(error, model, at, problems)
    return None


def _query(item: object, at: Path, problems: Problems) -> tuple[Path, QuerySpec] | None:
    model = _model(QueryModel, item, at, problems)
    return (at, QuerySpec(model.name, model.sql)) if model else None


def _generator(item: object, at: Path, problems: Problems) -> tuple[Path, GeneratorSpec] | None:
    """One generator; its kind alone may be written as text."""
    raw = {"kind": item} if isinstance(item, str) else item
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or kind is None:
        problems.add(at, "no kind of generator", f"kind: one of {listed(GENERATORS)}")
        return None
    model = GENERATORS.get(kind) if isinstance(kind, str) else None
    if model is None:
        problems.add((*at, "kind"), "not a kind of generator", f"one of {listed(GENERATORS)}")
        return None
    made = _model(model, raw, at, problems)
    if made is None:
        return None
    given = {key: getattr(made, key) for key in type(made).model_fields}
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items()}
    name = values.pop("name") or (f"datacube {values['level']}" if kind == "datacube" else kind)
    if name in RESERVED:
        problems.add((*at, "name"), "reports use this name themselves", f"another name than {listed(RESERVED)}")
    return at, GeneratorSpec(name=name, **values)


def _check_names(
    made: Sequence[tuple[Path, QuerySpec | GeneratorSpec]], problems: Problems, line: Callable[[Path], int]
) -> None:
    first: dict[str, Path] = {}
    for at, one in made:
        earlier = first.setdefault(one.name, at)
        if earlier != at:
            problems.add(at, f"the name of the item in line {line(earlier)} again", "each has its own name")
