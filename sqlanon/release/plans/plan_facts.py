"""Facts of a plan: the treatment of every column, and the SQL statements that do not depend on the data."""

from __future__ import annotations

from typing import Any

from sqlanon.engines.base import Engine, TableRef
from sqlanon.formats import format_of
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.views import sensitive_of
from sqlanon.release.prepare.prepare import link_columns
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.publish.content import list_columns
from sqlanon.release.trials.column_losses import ColumnLosses
from sqlanon.results import PlanColumn
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.domain import Domain
from sqlanon.table.stage import hash_parameters
from sqlanon.table.tree import hierarchy_of


def columns_of(spec: ReleaseSpec, ready: PreparedSource, lost: ColumnLosses | None) -> list[PlanColumn]:
    """The columns in the source's order; ``lost``: the loss of each column, if it was measured."""
    form = format_of(spec.format.kind)
    names = form.layout(ready.roles, ready.quasi, spec.format).names
    domains = {domain.reading.name: domain for domain in ready.quasi + ready.sensitive}
    roles = {reading.name: reading for reading in ready.roles.quasi + ready.roles.kept}
    columns = []
    for column in ready.roles.relation.columns:
        reading, domain = roles.get(column.name), domains.get(column.name)
        if reading is None:
            role = "identifier" if column in ready.roles.identifiers else "rest"
            columns.append(PlanColumn(column.name, column.shown_type, role, "not published", 0, 0, ()))
        elif reading.spec.role == "quasi" and domain is not None:
            columns.append(
                PlanColumn(
                    column.name,
                    column.shown_type,
                    "quasi",
                    "as it is" if form.facts.exact else _treatment(domain),
                    domain.distinct,
                    domain.nulls,
                    names[domain.code].list_columns(),
                    lost.of.get(column.name) if lost else None,
                )
            )
        else:
            distinct, nulls = (domain.distinct, domain.nulls) if domain else (0, 0)
            columns.append(
                PlanColumn(
                    column.name,
                    column.shown_type,
                    reading.spec.role,
                    "as a token"
                    if reading.spec.role == "pseudonym"
                    else "counted by group, in the second table"
                    if form.facts.paired and domain
                    else "as it is",
                    distinct,
                    nulls,
                    (column.name,),
                )
            )
    return columns


def _treatment(domain: Domain) -> str:
    reading = domain.reading
    weight = f", weight {reading.spec.weight}" if reading.spec.weight != 1 else ""
    if reading.treatment == "hierarchy":
        return f"hierarchy of {len(hierarchy_of(domain).levels)} leaves{weight}"
    return f"{'set of values' if reading.treatment == 'nominal' else 'range'}{weight}"


def statements(engine: Engine, spec: ReleaseSpec, target: Publication, ready: PreparedSource) -> list[str]:
    """The texts of the statements, each after the statement's name."""
    form = format_of(spec.format.kind)
    layout = form.layout(ready.roles, ready.quasi, spec.format)
    stage = TableRef(None, "_sqlanon_run_stage")
    physical = target.view if target.file else private_table(engine, target.physical)
    staged = [
        reading.staged | {"type": None}
        for reading in ready.roles.quasi + ready.roles.sensitive + ready.roles.insensitive
    ]
    tokens = [{"name": reading.name, "alias": reading.alias} for reading in ready.roles.pseudonyms]
    released: dict[str, Any] = {
        "classed": TableRef(None, "_sqlanon_run_classed"),
        "released": TableRef(None, "_sqlanon_run_released"),
    }
    sensitive_table = sensitive_of(physical) if layout.sensitive else None
    grouping = form.grouping(physical, sensitive_table, layout)
    statements_made = [
        statement(
            "table/stage",
            engine.dialect,
            stage=stage,
            source=ready.roles.relation.ref,
            columns=staged,
            dense=False,
            numbers=None,
            link=[] if ready.roles.link else hash_parameters(ready.roles.relation, link_columns(ready.roles, spec)),
            key=list(spec.key),
            persons=list(ready.persons),
            also=[],
            tokens=tokens,
            owner=ready.persons[0] if ready.owned else None,
        ),
        statement(
            "publish/table",
            engine.dialect,
            physical=physical,
            published=list_columns(layout.columns),
            dense=False,
            alone=False,
            hashed=True,
            repeated=[],
            declared=False,
            **released,
        ),
    ]
    views = [(target.view, physical, layout.columns)]
    if sensitive_table is not None:
        views.append((sensitive_of(target.view), sensitive_table, layout.sensitive))
        statements_made.append(
            statement(
                "publish/sensitive",
                engine.dialect,
                physical=sensitive_table,
                published=list_columns(layout.sensitive),
                **released,
            )
        )
    statements_made.append(
        statement(
            "verify/k_anonymity",
            engine.dialect,
            {"asked": spec.privacy.k},
            target=grouping.table,
            classes=list(grouping.columns),
            count=grouping.count,
        )
    )
    if not target.file:
        statements_made += [
            statement("publish/view", engine.dialect, view=view, physical=table, columns=[c.name for c in names])
            for view, table, names in views
        ]
    return [f"-- {item.name}\n{_body(item.text)}" for item in statements_made]


def _body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))
