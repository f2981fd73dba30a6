"""Workloads: the queries that a release is measured by, written down or drawn by generators from a seed.

Every query is SQL over the source's own names, so that the same text gives the truth on the source and the estimate on
the release. What a generator draws depends on the workload's seed, its own name and the source's values only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.query.datacube_subject import Subject
from sqlanon.query.divergence import level
from sqlanon.query.workload_values import Values, written
from sqlanon.release.swap import spelled
from sqlanon.spec import GeneratorKind, GeneratorSpec, WorkloadSpec
from sqlanon.sqltext import identifier

MOST_QUERIES = 10_000
"""Queries of one generator at most."""

MOST_GROUPS = 100
"""Values that a column may have to be grouped by unless it is named."""

DEFAULT = WorkloadSpec(
    generators=(
        GeneratorSpec("equality", "equality", queries=100),
        GeneratorSpec("ranges", "ranges", queries=100),
        GeneratorSpec("aggregates", "aggregates"),
        GeneratorSpec("datacube 1", "datacube", level=1),
        GeneratorSpec("datacube 2", "datacube", level=2),
        GeneratorSpec("joint", "joint"),
    )
)
"""What a release is measured by when no workload is named."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query.

    Attributes:
        name: for reports; holds no value.
        family: the generator, or ``queries``.
        sql: the text. That of a generated query holds values of the source: it must not be shown.
        generated: whether a generator made it.
    """

    name: str
    family: str
    sql: str
    generated: bool = True


def queries(engine: Engine, subject: Subject, workload: WorkloadSpec) -> list[Asked]:
    """Every query of a workload over one release.

    Raises:
        PolicyError: a generator names a column that the release does not publish in that role.
    """
    made = [Asked(query.name, "queries", query.sql, generated=False) for query in workload.queries]
    values = Values(engine, subject)
    for generator in workload.generators:
        draw = random.Random(f"{workload.seed} {generator.name}")  # noqa: S311 - a workload, not a secret
        made += _KINDS[generator.kind](generator, subject, values, draw)
    return made


def chosen(generator: GeneratorSpec, subject: Subject) -> tuple[str, ...]:
    """The quasi columns of a generator, in the order of the release."""
    _known(generator, generator.columns, subject.quasi, "quasi")
    return tuple(name for name in subject.quasi if not generator.columns or name in generator.columns)


def sensitive(generator: GeneratorSpec, subject: Subject) -> str | None:
    """The sensitive column of a generator, if there is one."""
    if generator.sensitive is not None:
        _known(generator, (generator.sensitive,), subject.sensitive, "sensitive")
        return generator.sensitive
    return subject.sensitive[0] if subject.sensitive else None


def _known(generator: GeneratorSpec, names: Sequence[str], there: Sequence[str], role: str) -> None:
    missing = [name for name in names if name not in there]
    if missing:
        raise PolicyError(
            f"generators[{generator.name}]: {', '.join(missing)} is not among the {role} columns that {subject_of(there)}"
        )


def subject_of(names: Sequence[str]) -> str:
    """What a release has to offer, for a message."""
    return f"the release publishes: {', '.join(names) or 'there are none'}"


def _count(subject: Subject, condition: str) -> str:
    return f"SELECT COUNT(*) AS n FROM {spelled(subject.roles.relation.ref)} WHERE {condition}"  # noqa: S608


def _equality(
    generator: GeneratorSpec, subject: Subject, values: Values, draw: random.Random
) -> Iterator[Asked]:
    """COUNT(*) WHERE column = value (LeFevre et al. 2006, section 6.3)."""
    every = [(column, value) for column in chosen(generator, subject) for value in values.of(column)]
    most = min(generator.queries or MOST_QUERIES, MOST_QUERIES)
    if len(every) > most:
        every = [every[at] for at in sorted(draw.sample(range(len(every)), most))]
    for number, (column, value) in enumerate(every, 1):
        condition = f"{identifier(column)} = {written(value)}"
        yield Asked(f"{generator.name} {number} ({column})", generator.name, _count(subject, condition))


def _ranges(
    generator: GeneratorSpec, subject: Subject, values: Values, draw: random.Random
) -> Iterator[Asked]:
    """COUNT(*) over qd quasi columns and the sensitive one (Xiao and Tao 2006, section 6).

    Each predicate takes b = ceil(|A| s^(1 / (qd + 1))) values of its column: neighbours in the column's order, and
    any b values where a column has none.
    """
    columns, value = chosen(generator, subject), sensitive(generator, subject)
    columns = tuple(column for column in columns if values.of(column))
    size = min(generator.dimensions, len(columns))
    share = float(generator.selectivity) ** (1 / (size + (value is not None)))
    nominal = {reading.name for reading in subject.roles.quasi if reading.treatment == "nominal"}
    for number in range(1, (generator.queries or 0) + 1):
        picked = [columns[at] for at in sorted(draw.sample(range(len(columns)), size))]
        told = ", ".join(picked)
        conditions = []
        for column in [*picked, *([value] if value is not None and values.of(value) else [])]:
            there = values.of(column)
            width = max(1, min(len(there), math.ceil(len(there) * share - 1e-9)))
            if column in nominal or column == value:
                taken = [there[at] for at in sorted(draw.sample(range(len(there)), width))]
            else:
                first = draw.randrange(len(there) - width + 1)
                taken = there[first : first + width]
            conditions.append(values.run(column, taken))
        yield Asked(
            f"{generator.name} {number} ({told})", generator.name, _count(subject, " AND ".join(conditions))
        )


def _aggregates(
    generator: GeneratorSpec, subject: Subject, values: Values, _: random.Random
) -> Iterator[Asked]:
    """SUM and AVG of each measure by each group."""
    published = (*subject.quasi, *subject.sensitive, *subject.insensitive)
    _known(generator, (*generator.measures, *generator.by), published, "published")
    trees = {reading.name for reading in subject.roles.quasi if reading.treatment == "hierarchy"}
    kinds = {name: values.column(name).kind for name in published}
    measures = generator.measures or [
        name for name in published if kinds[name] in ("integer", "float", "decimal") and name not in trees
    ]
    groups = generator.by or [
        name
        for name in published
        if kinds[name] in ("integer", "boolean", "date", "text", "enum")
        and len(values.of(name, MOST_GROUPS)) <= MOST_GROUPS
    ]
    source = spelled(subject.roles.relation.ref)
    for measure in measures:
        for group in groups:
            if group != measure:
                by, of = identifier(group), identifier(measure)
                text = f"SELECT {by}, SUM({of}) AS sum, AVG({of}) AS avg FROM {source} GROUP BY {by}"  # noqa: S608
                yield Asked(f"{generator.name} ({measure} by {group})", generator.name, text)


def _datacube(
    generator: GeneratorSpec, subject: Subject, _values: Values, _draw: random.Random
) -> Iterator[Asked]:
    """COUNT(*) by the group-bys of a level and the sensitive column (Ghinita et al. 2009, section 7.4), if they are asked."""
    if not generator.answers:
        return
    value, source = sensitive(generator, subject), spelled(subject.roles.relation.ref)
    for columns in level(chosen(generator, subject), generator.level):
        by = ", ".join(identifier(name) for name in (*columns, *([value] if value else [])))
        text = f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}"  # noqa: S608
        yield Asked(f"{generator.name} ({', '.join(columns)})", generator.name, text)


def _joint(
    _generator: GeneratorSpec, _subject: Subject, _values: Values, _draw: random.Random
) -> Iterator[Asked]:
    """Its divergence says all; see `sqlanon.query.evaluate`."""
    return iter(())


_KINDS: dict[GeneratorKind, Callable[[GeneratorSpec, Subject, Values, random.Random], Iterator[Asked]]] = {
    "equality": _equality,
    "ranges": _ranges,
    "aggregates": _aggregates,
    "datacube": _datacube,
    "joint": _joint,
}
