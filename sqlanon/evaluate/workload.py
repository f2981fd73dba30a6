"""Workloads: the queries that a release is measured by, written down or drawn by generators from a seed.

Every query is SQL over the source's own names, so that the same text gives the truth on the source and the estimate on
the release. Drawn queries depend on the workload's seed, the generator's name and the source's values only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.evaluate.divergence import level
from sqlanon.evaluate.subject import Subject
from sqlanon.evaluate.values import Values
from sqlanon.release.catalog.views import spell_table
from sqlanon.sqltext import identifier, in_dialect
from sqlanon.workload_spec import GeneratorKind, GeneratorSpec, WorkloadSpec

MOST_QUERIES = 10_000
"""Queries of a generator at most."""

RANGES = 100
"""Queries of ``ranges`` where no number is given."""

MOST_GROUPS = 100
"""Values that a column of text may have to be grouped by unless it is named."""

FEW = 12
"""Largest number of values of a column of whole numbers that is grouped by value without being named.

Columns with more values are grouped by steps.
"""

NUMERIC = ("integer", "float", "decimal")

DEFAULT = WorkloadSpec(
    generators=(
        *(
            GeneratorSpec(f"ranges {share} %", "ranges", queries=50, selectivity=Fraction(share, 100))
            for share in (1, 3, 10)
        ),
        GeneratorSpec("aggregates", "aggregates"),
        GeneratorSpec("datacube 1", "datacube", level=1),
        GeneratorSpec("datacube 2", "datacube", level=2),
        GeneratorSpec("joint", "joint"),
    )
)
"""The workload for a release when none is named."""


@dataclass(frozen=True, slots=True)
class WorkloadQuery:
    """A query.

    Attributes:
        name: for reports; holds no value.
        family: the generator, or ``queries``.
        sql: the text.
        secret: it holds values of the source that a generator drew, and must not be shown.
        condition: of a COUNT(*) without groups, the WHERE; None: another query.
    """

    name: str
    family: str
    sql: str
    secret: bool = False
    condition: str | None = None


def list_queries(engine: Engine, subject: Subject, workload: WorkloadSpec) -> list[WorkloadQuery]:
    """Every query of a workload over a release, `check`ed before.

    Raises:
        PolicyError: a generator asks sums of values that are no numbers.
    """
    queries = [WorkloadQuery(query.name, "queries", query.sql) for query in workload.queries]
    values = Values(engine, subject)
    for generator in workload.generators:
        draw = random.Random(f"{workload.seed} {generator.name}")  # noqa: S311 - a workload, not a secret
        generated = _KINDS[generator.kind](generator, subject, values, draw)
        queries += (_in_dialect(query, engine.dialect) for query in generated)
    return queries


def _in_dialect(query: WorkloadQuery, dialect: str) -> WorkloadQuery:
    """A query written in standard SQL, in the dialect that people write for the engine."""
    condition = None if query.condition is None else in_dialect(query.condition, dialect)
    return replace(query, sql=in_dialect(query.sql, dialect), condition=condition)


def fit_workload(workload: WorkloadSpec | None, subject: Subject) -> WorkloadSpec:
    """The workload for a release: `DEFAULT` as far as the release has columns for it, or the given workload, checked.

    Raises:
        PolicyError: with everything in it that does not fit the release.
    """
    if workload is None:
        most = len(subject.quasi)
        return replace(
            DEFAULT,
            generators=tuple(
                replace(generator, dimensions=min(generator.dimensions, most))
                for generator in DEFAULT.generators
                if generator.kind != "datacube" or generator.level <= most
            ),
        )
    problems = [problem for generator in workload.generators for problem in _problems(generator, subject)]
    if problems:
        raise PolicyError(problems)
    return workload


def _size(generator: GeneratorSpec) -> int:
    """How many quasi columns a query or group-by of it has."""
    return {"ranges": generator.dimensions, "datacube": generator.level}.get(generator.kind, 1)


def _problems(generator: GeneratorSpec, subject: Subject) -> Iterator[str]:
    """Problems of a generator that does not fit the release."""
    place = f"generators[{generator.name}]"
    published = (*subject.quasi, *subject.sensitive, *subject.insensitive)
    value = () if generator.sensitive is None else (generator.sensitive,)
    for names, there, role in (
        (generator.columns, subject.quasi, "quasi "),
        (value, subject.sensitive, "sensitive "),
        ((*generator.measures, *generator.by), published, ""),
    ):
        missing = [name for name in names if name not in there]
        if missing:
            offered = ", ".join(there) or "none"
            yield f"{place}: the release publishes no {role}column {', '.join(missing)}; it has: {offered}"
    columns, size = choose_columns(generator, subject), _size(generator)
    if not 1 <= size <= max(len(columns), 1):
        key = "level" if generator.kind == "datacube" else "dimensions"
        yield f"{place}: {key} {size}; there are {len(columns)} quasi columns to choose from"
    if not 0 < generator.selectivity <= 1:
        yield f"{place}: selectivity {generator.selectivity}; a number above 0 and at most 1"


def choose_columns(generator: GeneratorSpec, subject: Subject) -> tuple[str, ...]:
    """The quasi columns of a generator, in the order of the release."""
    return tuple(name for name in subject.quasi if not generator.columns or name in generator.columns)


def find_sensitive(generator: GeneratorSpec, subject: Subject) -> str | None:
    """The sensitive column of a generator, if it has any."""
    return generator.sensitive or (subject.sensitive[0] if subject.sensitive else None)


def _count(subject: Subject, generator: GeneratorSpec, name: str, condition: str) -> WorkloadQuery:
    sql = f"SELECT COUNT(*) AS n FROM {spell_table(subject.roles.relation.ref)} WHERE {condition}"  # noqa: S608
    return WorkloadQuery(name, generator.name, sql, secret=True, condition=condition)


def _equality(
    generator: GeneratorSpec, subject: Subject, values: Values, draw: random.Random
) -> Iterator[WorkloadQuery]:
    """COUNT(*) WHERE column = value (LeFevre et al. 2006, section 6.3)."""
    every = [(column, value) for column in choose_columns(generator, subject) for value in values.of(column)]
    most = min(generator.queries or MOST_QUERIES, MOST_QUERIES)
    if len(every) > most:
        every = [every[place] for place in sorted(draw.sample(range(len(every)), most))]
    for number, (column, value) in enumerate(every, 1):
        name = f"{generator.name} {number} ({column})"
        yield _count(subject, generator, name, values.run(column, [value]))


def _ranges(generator: GeneratorSpec, subject: Subject, values: Values, draw: random.Random) -> Iterator[WorkloadQuery]:
    """COUNT(*) over qd quasi columns and the sensitive column (Xiao and Tao 2006, section 6).

    Each predicate takes b = ceil(|A| s^(1 / (qd + 1))) of the |A| values that the source holds. The paper draws any b
    of them; here they are neighbours in the column's order, and any b where it has none.
    """
    columns = tuple(column for column in choose_columns(generator, subject) if values.of(column))
    value = find_sensitive(generator, subject)
    value = value if value is not None and values.column(value).kind != "other" and values.of(value) else None
    size = min(generator.dimensions, len(columns))
    predicates = size + (value is not None)
    if not predicates:
        return  # NULL alone, in every column
    share = float(generator.selectivity) ** (1 / predicates)
    nominal = {reading.name for reading in subject.roles.quasi if reading.treatment == "nominal"}
    for number in range(1, (generator.queries or RANGES) + 1):
        picked = [columns[place] for place in sorted(draw.sample(range(len(columns)), size))]
        shown = ", ".join(picked)
        conditions = []
        for column in [*picked, *([value] if value is not None else [])]:
            there = values.of(column)
            width = max(1, min(len(there), math.ceil(len(there) * share - 1e-9)))
            if column in nominal or column == value:
                chosen_values = [there[place] for place in sorted(draw.sample(range(len(there)), width))]
            else:
                first = draw.randrange(len(there) - width + 1)
                chosen_values = there[first : first + width]
            conditions.append(values.run(column, chosen_values))
        yield _count(subject, generator, f"{generator.name} {number} ({shown})", " AND ".join(conditions))


def _aggregates(
    generator: GeneratorSpec, subject: Subject, values: Values, _: random.Random
) -> Iterator[WorkloadQuery]:
    """COUNT, and SUM and AVG of each measure, by each group."""
    published = (*subject.quasi, *subject.sensitive, *subject.insensitive)
    trees = {reading.name for reading in subject.roles.quasi if reading.treatment == "hierarchy"}
    kinds = {name: values.column(name).kind for name in published}
    texts = [name for name in generator.measures if kinds[name] not in NUMERIC or name in trees]
    if texts:
        raise PolicyError(f"generators[{generator.name}]: {', '.join(texts)}: no numbers, which have no sum")
    measures = generator.measures or [name for name in published if kinds[name] in NUMERIC and name not in trees]
    shown = identifier("group")
    keys = [(name, identifier(name)) for name in generator.by] or list(_coarse(subject, values))
    source = spell_table(subject.roles.relation.ref)
    for group, by in keys:
        aggregates = [
            f"{word}({identifier(name)}) AS {identifier(f'{word.lower()} of {name}')}"
            for name in measures
            if name != group
            for word in ("SUM", "AVG")
        ]
        text = f"SELECT {by} AS {shown}, {', '.join(['COUNT(*) AS n', *aggregates])} FROM {source} GROUP BY {by}"  # noqa: S608
        yield WorkloadQuery(f"{generator.name} (by {group})", generator.name, text)


def _coarse(subject: Subject, values: Values) -> Iterator[tuple[str, str]]:
    """GROUP BY keys of analysts, with their columns: values where there are few, else steps.

    Ordered text has no groups over ranges.
    """
    ordered = {reading.name for reading in subject.roles.quasi if reading.treatment == "ordered"}
    for name in (*subject.quasi, *subject.sensitive, *subject.insensitive):
        kind, column = values.column(name).kind, identifier(name)
        if kind in ("text", "enum", "boolean"):
            declared = any(r.name == name and isinstance(r.spec.ordered, tuple) for r in subject.roles.quasi)
            if values.few(name, MOST_GROUPS) and (kind == "boolean" or name not in ordered or declared):
                yield name, column
        elif kind in ("date", "timestamp"):
            yield name, f"date_trunc('year', {column})"
        elif kind == "integer" and values.few(name, FEW):
            yield name, column
        elif kind in NUMERIC and name in ordered:
            there = [value for value in values.of(name) if math.isfinite(value)]
            if there and there[-1] > there[0]:
                yield name, f"floor({column} / {_step(float(there[-1]) - float(there[0]))})"


def _step(extent: float) -> str:
    """The step, 1, 2 or 5 times a power of ten, that divides the extent into about ten parts.

    It has a decimal point, so that no engine uses integer division.
    """
    size = 10.0 ** math.floor(math.log10(extent / 10))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= extent / 10)
    return format(Decimal(repr(step)), "f") if step < 1 else f"{step:.1f}"


def _datacube(
    generator: GeneratorSpec, subject: Subject, _values: Values, _draw: random.Random
) -> Iterator[WorkloadQuery]:
    """COUNT(*) by the group-bys of a level and the sensitive column, if asked (Ghinita et al. 2009, section 7.4)."""
    if not generator.answers:
        return
    value, source = find_sensitive(generator, subject), spell_table(subject.roles.relation.ref)
    for columns in level(choose_columns(generator, subject), generator.level):
        by = ", ".join(identifier(name) for name in (*columns, *([value] if value else [])))
        text = f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}"  # noqa: S608
        yield WorkloadQuery(f"{generator.name} ({', '.join(columns)})", generator.name, text)


def _joint(
    _generator: GeneratorSpec, _subject: Subject, _values: Values, _draw: random.Random
) -> Iterator[WorkloadQuery]:
    """The divergence says all; see `sqlanon.evaluate.run`."""
    return iter(())


_KINDS: dict[GeneratorKind, Callable[[GeneratorSpec, Subject, Values, random.Random], Iterator[WorkloadQuery]]] = {
    "equality": _equality,
    "ranges": _ranges,
    "aggregates": _aggregates,
    "datacube": _datacube,
    "joint": _joint,
}
