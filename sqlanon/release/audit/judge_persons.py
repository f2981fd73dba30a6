"""Requirements over persons in an audit by the policy: they are counted in the private link table of the version.

It has hashes of sensitive values. Requirements that read the values find them in the published table, by the same hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.formats import Grouping
from sqlanon.privacy.base import Requirement
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.verify.persons import explain_missing, find_link_columns, nulls_in, open_published_rows
from sqlanon.release.verify.stored_rows import find_stored_rows
from sqlanon.results import RequirementResult
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def judge_persons(
    engine: Engine,
    entry: Entry | None,
    spec: ReleaseSpec,
    names: Sequence[str],
    sensitive: Sequence[str],
    requirements: Sequence[Requirement],
    target: TableRef,
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Measure requirements that count the persons of ``names`` over a version's private link table.

    Those that read values find them in ``target``, the published table with the columns ``sensitive``, by their hashes.

    Returns the results, and for each requirement that could not be measured the reason. The link table has hashes of
    sensitive values if the version's policy has `persons: rows`, and numbers of persons by its `null_person`: with
    another they are not those of ``spec``.
    """
    if entry is not None and spec.person and nulls_in([entry.policy], names[0]) == "distinct" != spec.null_person:
        return (), tuple(
            f"{requirement.name} by {requirement.column}: version {entry.version} was made with null_person: "
            "distinct; run again"
            for requirement in requirements
        )
    columns = {name.lower(): column for name, column in find_link_columns(engine, entry).items()}
    values = _values(engine, entry, sensitive)
    lacking = [
        f"{requirement.name} by {requirement.column}: the private tables do not link persons and sensitive values"
        for requirement in requirements
        if requirement.column in sensitive and not values
    ]
    able = [requirement for requirement in requirements if requirement.column not in sensitive or values]
    missing = [name for name in names if name.lower() not in columns]
    if missing or entry is None:
        lacking += [
            f"{requirement.name} by {requirement.column}: {explain_missing(engine, entry)}" for requirement in able
        ]
        return (), tuple(lacking)
    results: list[RequirementResult] = []
    with open_published_rows(engine, entry, [*columns.values(), *values]) as table:
        grouping = Grouping(table, ("class",), persons=tuple(columns[name.lower()] for name in names))
        reading_values = {requirement.column for requirement in able if requirement.reads_values}
        value_names = {value: name for value, name in zip(values, sensitive, strict=False) if name in reading_values}
        rows = find_stored_rows(engine, entry)
        with _join_values(engine, grouping, values, rows.find_by_hash(value_names), target) as valued:
            for requirement in able:
                if requirement.reads_values and valued is None:
                    lacking.append(
                        f"{requirement.name} by {requirement.column}: {rows.other_values.format(entry.version)}"
                    )
                    continue
                groups = valued if valued and requirement.reads_values else grouping
                results.append(requirement.result(groups.measure(engine, requirement, values)))
    return tuple(results), tuple(lacking)


@contextmanager
def _join_values(
    engine: Engine, grouping: Grouping, values: Sequence[str], read: Mapping[str, str], target: TableRef
) -> Iterator[Grouping | None]:
    """The same groups with the values of the columns ``read``, by the hashes in ``target``.

    None if some are missing there.
    """
    if not read:
        yield None
        return
    with Scratch(engine) as scratch:
        table = scratch.table("valued")
        columns = [{"alias": alias, "place": i, "name": read.get(alias)} for i, alias in enumerate(values, 1)]
        scratch.execute(
            "audit/valued",
            valued=table,
            linked=grouping.table,
            target=target,
            persons=list(grouping.persons),
            columns=columns,
        )
        rows = [scratch.count("table/count", source=table_joined) for table_joined in (grouping.table, table)]
        yield replace(grouping, table=table) if rows[0] == rows[1] else None


def _values(engine: Engine, entry: Entry | None, sensitive: Sequence[str]) -> list[str]:
    """The columns of a version's private link table with hashes of these sensitive columns; none unless it has all."""
    if entry is None:
        return []
    sensitive_names = [column["name"].lower() for column in entry.policy["columns"] if column["role"] == "sensitive"]
    stored_columns = find_stored_rows(engine, entry).columns()
    value_columns = [
        f"s{sensitive_names.index(name.lower()) + 1}" for name in sensitive if name.lower() in sensitive_names
    ]
    return value_columns if len(value_columns) == len(sensitive) and stored_columns.issuperset(value_columns) else []
