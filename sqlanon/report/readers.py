"""The report for readers: made of the view and its metadata, so that whoever may read these makes the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.base import Engine
from sqlanon.engines.rows import count as count_rows
from sqlanon.query.counts.release import ReleasedCounts
from sqlanon.query.find import find, find_rows
from sqlanon.query.noisy.release import ReleasedNoisy
from sqlanon.query.release import ReaderRelease
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.counts import counts_for_readers
from sqlanon.report.document import Page, Section, Text, make_table
from sqlanon.report.noisy import noisy_readers_report
from sqlanon.report.owner import OWN_BOXES, PAIRED, check_unchanged
from sqlanon.report.requirement_levels import list_meanings
from sqlanon.report.risk import TableFigures, risk_section
from sqlanon.report.settings import ROLES
from sqlanon.report.sizes import class_sizes_section
from sqlanon.results import RiskReport
from sqlanon.results.figures import count, measure
from sqlanon.risk import AssessedColumns, assess
from sqlanon.risk.sizes import class_sizes

PERSONS = (
    "A person may have several rows here, and readers do not see whose a row is. What was asked holds over persons "
    "too, so that rows of at least k persons are in every class. All figures here count rows: the risk of a person may "
    "be higher than they are, and is at most 1 / k."
)


def readers_report(engine: Engine, release: str) -> Page:
    """Make the report of a release from tables that its readers may read.

    Args:
        engine: any connection that may read the view and its metadata.
        release: the view; the owner may also give the release's name.

    Raises:
        PolicyError: no release goes by the name.
        DatabaseError: the view or its metadata may not be read.

    Cost: a few groupings of the release.
    """
    released = find(engine, release)
    if isinstance(released, ReleasedNoisy):
        page = noisy_readers_report(released)
    elif isinstance(released, ReleasedCounts):
        page = counts_for_readers(engine, released.view)
    else:
        page = _page(engine, find_rows(engine, release))
    check_unchanged(engine, released)
    return page


def _page(engine: Engine, released: ReaderRelease) -> Page:
    facts: dict[str, Any] = json.loads(next(str(row[5]) for row in released.metadata if row[0] == ""))
    view = spell_table(released.view.ref)
    own_boxes = facts.get("boxes") == "own"
    sensitive = [
        name
        for field in released.fields
        if field.role == "sensitive"
        for name in field.published
        if any(column.name == name for column in released.view.columns)
    ]
    exact = [name for field in released.fields if field.role == "quasi" for name in field.published]
    sizes = None if own_boxes else class_sizes(engine, released.view.ref, released.group_columns)
    columns = AssessedColumns(exact, () if released.group else sensitive)
    risk = None if own_boxes else assess(engine, view, columns)
    notes = (OWN_BOXES,) if own_boxes else (PAIRED,) if released.group else (PERSONS,) if facts.get("persons") else ()
    rows = risk.rows if risk is not None else _rows(engine, released)
    place = ".".join(part for part in (released.view.ref.schema, released.view.ref.name) if part)
    summary = [
        ("view", place),
        ("format", released.format),
        ("made by", f"sqlanon {facts.get('sqlanon', '')}"),
        ("rows", count(rows)),
    ]
    summary += [
        (title, count(int(facts[key])))
        for key, title in (
            ("left_out", "rows left out"),
            ("starred", "rows without values of identifying columns"),
            ("stale", "rows that have other values in the source"),
            ("retained", "rows that are no longer in the source"),
            ("not_published", "rows of the source that are not published"),
        )
        if facts.get(key)
    ]
    if sizes is not None:
        summary.append(("classes", count(sizes.count)))
    return Page(
        release=str(facts.get("release", "")),
        version=int(facts.get("version", 0)),
        confidential=False,
        summary=tuple(summary),
        sound=None,
        sections=(
            _report_promises(facts, None if released.group else risk),
            risk_section(None, TableFigures(risk) if risk is not None else None, notes),
            *([] if sizes is None else [class_sizes_section(sizes)]),
            _columns(released),
        ),
    )


def _rows(engine: Engine, released: ReaderRelease) -> int:
    from sqlanon.sqltext import statement

    return count_rows(engine, statement("table/count", engine.dialect, source=released.view.ref))


def _report_promises(facts: Mapping[str, Any], risk: RiskReport | None) -> Section:
    """Requirements by the metadata, and levels that the rows show."""
    values: dict[str, list[str]] = {}
    for model in risk.models if risk is not None else ():
        value = "none holds" if model.reached is None else measure(model.reached)
        about = ", ".join(part for part in (model.column, model.form) if part)
        values.setdefault(model.model, []).append(f"{value} ({about})" if about else value)
    rows = [
        (name, _format_value(facts[name]), "; ".join(values.get(name, ["-"])))
        for name in REQUIREMENTS
        if facts.get(name) not in (None, REQUIREMENTS[name].nothing)
    ]
    lead = (
        "Each requirement that the owner's policy asked for, and what the rows of the release show of it. The last "
        "column is measured without the policy: alpha over all values, also those that the policy does not list, and "
        "recursive_cl for several c, so it may differ from what was asked. The owner's own report has how each was "
        "verified."
    )
    blocks = (
        make_table("Requirements", "requirement | asked | in the release", rows)
        if rows
        else Text("Nothing was asked: rows are published as they are."),
    )
    return Section(
        "asked",
        "What was asked, and what the release shows",
        lead,
        blocks,
        list_meanings((row[0] for row in rows), own_boxes=facts.get("boxes") == "own"),
    )


def _format_value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_format_value(item)}" for key, item in value.items() if item not in (None, [], ""))
    return measure(value) if isinstance(value, int | float) else str(value)


def _columns(released: ReaderRelease) -> Section:
    """Published form of each column of the source."""
    rows = [
        (field.name, field.role, field.source_type, ", ".join(field.published), _describe_declared(field.declared))
        for field in released.fields
    ]
    return Section(
        "columns",
        "Columns",
        "What is published of each column, by the metadata of the release.",
        (
            make_table(
                "Columns", "column | role | type in the source | columns of the view | declared by the policy", rows
            ),
        ),
        tuple((role, text) for role, text in ROLES if role != "identifier"),
    )


def _describe_declared(declared: Mapping[str, Any]) -> str:
    if "leaves" in declared:
        return f"hierarchy of {count(len(declared['leaves']))} values"
    return f"order of {count(len(declared['order']))} values" if "order" in declared else ""
