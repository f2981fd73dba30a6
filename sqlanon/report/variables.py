"""The table of variables: role, technique, added risk and loss of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.base import Engine
from sqlanon.query.release import ReaderRelease
from sqlanon.report.document import Block, Section, Text, make_table
from sqlanon.report.settings import ROLES
from sqlanon.results import RunReport
from sqlanon.results.figures import measure, share
from sqlanon.risk.contribution import Contribution, measure_contributions

TOO_MANY = "the release has too many different rows and columns to leave out each in turn"
NO_CLASSES = "rows make no classes here, so that what a column adds to the risk is not measured"
MOST_EXPOSED = 20_000_000
"""Different rows x columns for which columns that are published as they are are measured: those rows may be as many as
the release has, where rows of quasi columns alone are at most as many as its classes."""
_NOTHING = "-"


def report_variables(
    engine: Engine, policy: Mapping[str, Any], run: RunReport, released: ReaderRelease | None
) -> Section:
    """Every column that the policy names.

    Args:
        engine: where the release is.
        policy: as the catalog keeps it.
        run: the run that made the version.
        released: the view; None: it is in another file, and nothing is measured.
    """
    contributions, why = _measure(engine, run, released)
    rows = []
    for column in policy.get("columns", ()):
        name = str(column["name"])
        adds = contributions.get(name)
        lost = run.loss.columns.get(name, {})
        rows.append(
            (
                name,
                str(column["role"]),
                str(column.get("because") or _NOTHING),
                "; ".join(_techniques(column, policy, run)),
                _NOTHING if adds is None else f"{share(adds.alone.highest, 1)} ({_mean(adds.alone.mean)})",
                _NOTHING if adds is None else f"{_more(adds.added.highest)} ({_more(adds.added.mean)})",
                measure(float(f"{lost['ncp']:.4g}")) if "ncp" in lost else _NOTHING,
            )
        )
    head = "column | role | why | what was done | >risk alone | >added to the others | >NCP"
    blocks: list[Block] = [make_table("Variables", head, rows)]
    if why:
        blocks.append(Text(f"Not measured: {why}."))
    if policy.get("rest") in ("drop", "keep"):
        treatment = "not published" if policy["rest"] == "drop" else "published as they are"
        blocks.append(Text(f"Columns of the source that the policy does not name are {treatment}."))
    return Section(
        "variables",
        "Variables",
        "Each column of the policy. The risks are those of the published values: by the column alone, and how much it "
        "adds to the others. The others of a quasi column are the quasi columns; those of a column that is published "
        "as it is are all published columns but the sensitive ones.",
        tuple(blocks),
        (
            *ROLES,
            ("why", "The policy's reason for the role (`because` of the column); -: it states none."),
            (
                "risk alone",
                "The highest over rows of 1 / rows that are equal in this column, and in brackets the mean.",
            ),
            (
                "added to the others",
                "By how much that risk would fall if the column were left out: the highest, and in brackets the mean.",
            ),
            ("NCP", "The part of the column's range that a value may now lie in: 0 is exact, 1 is any value."),
        ),
    )


def _measure(engine: Engine, run: RunReport, released: ReaderRelease | None) -> tuple[dict[str, Contribution], str]:
    if released is None:
        return {}, "the release is in another file"
    if not run.shape.grouped or released.group is not None:
        return {}, NO_CLASSES
    of_class = set(released.group_columns)
    quasi = {
        field.name: [name for name in field.published if name in of_class]
        for field in released.fields
        if field.role == "quasi" and of_class.intersection(field.published)
    }
    contributions = measure_contributions(engine, released.view.ref, quasi, max(run.classes, 1))
    if contributions is None:
        return {}, TOO_MANY if run.rows else "the release has no rows"
    exposed = {field.name: field.published for field in released.fields if field.role == "insensitive"}
    groups = (run.exposed.groups if run.exposed else 0) or max(run.rows, 1)
    every = {**quasi, **exposed}
    if exposed and groups * sum(map(len, every.values())) > MOST_EXPOSED:
        return {item.column: item for item in contributions}, f"columns that are published as they are, as {TOO_MANY}"
    more = measure_contributions(engine, released.view.ref, every, groups) if exposed else None
    exposed_items = [item for item in more or () if item.column in exposed]
    return {item.column: item for item in (*contributions, *exposed_items)}, ""


def _techniques(column: Mapping[str, Any], policy: Mapping[str, Any], run: RunReport) -> Iterator[str]:
    """Technique applied to a column, in words."""
    role = column["role"]
    if role == "identifier":
        yield "left out"
    elif role == "pseudonym":
        yield "replaced by a token, a keyed hash"
    elif role == "insensitive":
        yield "published as it is"
    elif role == "sensitive":
        requirements = [
            name for name, requirement in REQUIREMENTS.items() if requirement.sensitive and policy["privacy"].get(name)
        ]
        yield (
            f"published as it is, protected by {', '.join(requirements)}"
            if requirements
            else "published as it is, not protected"
        )
    else:
        recode = column.get("recode") or {}
        yield from (f"{key} {value}" for key, value in recode.items() if value is not None)
        hierarchy = column.get("hierarchy")
        if hierarchy:
            hierarchy_name = hierarchy if isinstance(hierarchy, str) else hierarchy.get("name", "a list")
            yield f"generalized by hierarchy {hierarchy_name}"
        else:
            yield f"generalized to {run.format} of its class"
    if column.get("accept_unique"):
        yield "accepted as nearly unique"


def _mean(value: float) -> str:
    return share(float(f"{value:.10g}"), 1)


def _more(value: float) -> str:
    """A difference of shares, without the last digits of a sum."""
    steady = round(value, 10) + 0.0
    return f"+{share(steady, 1)}" if steady > 0 else "0" if not steady else f"-{share(-steady, 1)}"
