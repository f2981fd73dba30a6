"""Roles meet the source: which columns are read, and how each quasi column is treated."""

from __future__ import annotations

import difflib
from dataclasses import replace

from sqlanon.column_spec import ColumnSpec, Rule
from sqlanon.engines.base import Column, Relation
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.spec import ReleaseSpec
from sqlanon.table import pseudonyms
from sqlanon.table.reading import Reading, Roles, Treatment
from sqlanon.table.recodes import recode_refusal
from sqlanon.table.rules import explain_refusal

_UNCOMPARED = (
    "PostgreSQL cannot hash, so that what is published could not be verified; cast it in a view, to text for example "
    "(json to jsonb), or make it an identifier (not published)"
)


def assign_roles(spec: ReleaseSpec, relation: Relation) -> Roles:
    """Match a policy with a source's columns.

    Raises:
        PolicyError: every column without a role, and every role without a column, at once.
        UnsupportedError: a quasi column's type has neither an order nor equality that we can use.
    """
    columns = {column.name: column for column in relation.columns}
    folded: dict[str, list[Column]] = {}
    for column in relation.columns:
        folded.setdefault(column.name.lower(), []).append(column)
    problems: list[str] = []
    column_specs: dict[str, ColumnSpec] = {}
    for item in spec.columns:
        relation_column = columns.get(item.name)
        if relation_column is None and len(folded.get(item.name.lower(), [])) == 1:
            relation_column = folded[item.name.lower()][0]
        if relation_column is None:
            near = difflib.get_close_matches(item.name, list(columns), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(f"{spec.name}: {relation.ref} has no column {item.name}{hint}")
        elif relation_column.name in column_specs:
            problems.append(f"{spec.name}: column {relation_column.name} is named twice")
        else:
            column_specs[relation_column.name] = replace(item, name=relation_column.name)
    missing = [name for name in columns if name not in column_specs]
    if missing and spec.rest == "error" and not problems:
        problems.append(
            f"{spec.name}: no role for {', '.join(missing)}; name a role (identifier, pseudonym, quasi, sensitive, "
            "insensitive) for each, or say what happens to the rest: rest: drop (not published) or keep (published as "
            "they are)"
        )
    problems += [
        f"{spec.name}: sensitive column {name} has type {columns[name].shown_type}, whose own equality generated SQL "
        "does not use, so that values could be counted as different that are equal; cast it in a view, to text for "
        "example (of citext lower(...)::text)"
        for name, item in column_specs.items()
        if item.role == "sensitive" and columns[name].own_operators
    ]
    problems += [
        f"{spec.name}: sensitive column {name} has collation {columns[name].collation}, in which texts of other bytes "
        "are equal: they would "
        "be counted as different values; in a view, write equal values alike, with a deterministic collation "
        '(lower(...) COLLATE "C", '
        "for example)"
        for name, item in column_specs.items()
        if item.role == "sensitive" and columns[name].kind == "text" and not columns[name].deterministic
    ]
    published = {name: item.role for name, item in column_specs.items() if item.role in ("sensitive", "insensitive")}
    if spec.rest == "keep":
        published |= dict.fromkeys(missing, "insensitive")
    problems += [
        f"{spec.name}: {role} column {name} has type {columns[name].shown_type}, which {_UNCOMPARED}"
        for name, role in published.items()
        if not columns[name].hashable
    ]
    problems += [
        f"{spec.name}: {pseudonyms.problem_of(columns[name])}"
        for name, item in column_specs.items()
        if item.role == "pseudonym" and not pseudonyms.has_stable_text(columns[name])
    ]
    summed = {of.lower() for _, of in spec.numbers}  # a query of these names is refused where they are two columns
    problems += [
        f"{spec.name}: measure {name}: {relation.ref} has a column of that name, and a query of sum({name}) could mean "
        "either; give the measure another name"
        for name, _ in spec.numbers
        if name.lower() in folded and name.lower() not in summed
    ]
    if problems:
        raise PolicyError(problems)
    specs = list(column_specs.values())
    if spec.rest == "keep":
        specs += [ColumnSpec(name, "insensitive") for name in missing]
    by_role = {
        role: [item for item in specs if item.role == role]
        for role in ("quasi", "sensitive", "insensitive", "pseudonym")
    }
    identifiers = tuple(item for item in specs if item.role == "identifier")
    quasi = tuple(_quasi(spec, item, columns[item.name], f"q{i}") for i, item in enumerate(by_role["quasi"], 1))
    return Roles(
        relation,
        quasi,
        tuple(Reading(item, columns[item.name], f"s{i}") for i, item in enumerate(by_role["sensitive"], 1)),
        tuple(Reading(item, columns[item.name], f"i{i}") for i, item in enumerate(by_role["insensitive"], 1)),
        tuple(columns[item.name] for item in identifiers),
        identifiers,
        pseudonyms=tuple(
            Reading(item, Column(item.name, "VARCHAR", "text"), f"t{i}")
            for i, item in enumerate(by_role["pseudonym"], 1)
        ),
    )


def _quasi(spec: ReleaseSpec, item: ColumnSpec, column: Column, alias: str) -> Reading:
    kind = column.kind
    if kind == "other":
        raise UnsupportedError(
            f"{spec.name}: column {column.name} has type {column.shown_type}, which cannot be a quasi-identifier; "
            "cast it to text or a number in a view, or give it another role"
        )
    if item.ordered == "declared" and kind != "enum":
        raise PolicyError(f"{spec.name}: ordered: declared is for enums; {column.name} is {column.shown_type}")
    if item.ordered == "alphabetical" and kind not in ("text", "enum"):
        raise PolicyError(f"{spec.name}: ordered: alphabetical is for text; {column.name} is {column.shown_type}")
    if isinstance(item.ordered, tuple) and kind not in ("text", "enum"):
        raise PolicyError(f"{spec.name}: a list of values is for text; {column.name} is {column.shown_type}")
    if isinstance(item.hierarchy, Rule) and (why := explain_refusal(item.hierarchy, kind, column.shown_type)):
        raise PolicyError(f"{spec.name}: hierarchy of {column.name}: {why}")
    if item.recode is not None and (why := recode_refusal(item.recode, column)):
        raise PolicyError(f"{spec.name}: {column.name}: {why}")
    treatment: Treatment
    if item.hierarchy is not None:
        treatment = "hierarchy"
    elif kind in ("text", "enum") and item.ordered is None:
        treatment = "nominal"
    else:
        treatment = "ordered"
    return Reading(item, column, alias, treatment)
