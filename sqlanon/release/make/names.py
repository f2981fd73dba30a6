"""The published names of a source's columns, by format (design, section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.errors import PolicyError
from sqlanon.spec import FormatSpec
from sqlanon.table.encode import Domain
from sqlanon.table.stage import Reading, Roles

GROUP, COUNT = "group_id", "count"
"""Columns that format anatomy adds: the group, in both of its tables; and how often the group holds a sensitive value."""


@dataclass(frozen=True, slots=True)
class Names:
    """What one quasi column becomes; parts that the format does not publish are None."""

    value: str | None = None
    lo: str | None = None
    hi: str | None = None
    mean: str | None = None
    null: str | None = None
    suppressed: str | None = None

    def published(self) -> tuple[str, ...]:
        """The columns, in the order they are published."""
        parts = (self.value, self.lo, self.hi, self.mean, self.null, self.suppressed)
        return tuple(part for part in parts if part is not None)


def names_of(reading: Reading, form: FormatSpec, nulls: bool) -> Names:
    """The published columns of a quasi column; ``nulls``: it holds NULLs."""
    name = reading.name
    if form.kind == "ranges":
        null = f"{name}_null" if nulls else None
        if reading.treatment == "ordered":
            return Names(
                lo=f"{name}_lo",
                hi=f"{name}_hi",
                mean=f"{name}_mean" if name in form.mean else None,
                null=null,
            )
        return Names(value=name, null=null)
    if form.kind == "suppressed":
        return Names(value=name, suppressed=f"{name}_suppressed" if nulls else None)
    return Names(value=name)


@dataclass(frozen=True, slots=True)
class Published:
    """One column of the release: from the class (``r``), from the staged row (``s``), or counted (``n``)."""

    source: str
    column: str
    name: str


def layout(
    roles: Roles, quasi: tuple[Domain, ...], form: FormatSpec, longest: int = 1 << 20
) -> tuple[dict[str, Names], tuple[Published, ...]]:
    """Names per quasi column (by code), and all published columns in the source's order.

    Format anatomy publishes no sensitive column here but the group, as the last column; see `sensitive_layout`.
    ``longest``: bytes that a name may have.

    Raises:
        PolicyError: two published columns would share a name, or the mean of a column cannot be taken.
    """
    by_alias = {domain.reading.alias: domain for domain in quasi}
    for name in form.mean:
        domain = next((item for item in quasi if item.reading.name == name), None)
        if domain is None or domain.reading.column.kind not in ("integer", "float", "decimal"):
            raise PolicyError(f"format.mean: {name} is not a numeric quasi column")
    names: dict[str, Names] = {}
    columns: list[Published] = []
    for reading in roles.published_order():
        if reading.alias in by_alias:
            domain = by_alias[reading.alias]
            names[domain.code] = names_of(reading, form, domain.has_null)
            if form.kind == "anatomy":
                columns.append(Published("s", reading.alias, reading.name))
            else:
                columns += [Published("r", part, part) for part in names[domain.code].published()]
        elif form.kind != "anatomy" or reading.spec.role != "sensitive":
            columns.append(Published("s", reading.alias, reading.name))
    if form.kind == "anatomy":
        columns.append(Published("r", GROUP, GROUP))
        _check(sensitive_layout(roles), longest)
    _check(columns, longest)
    return names, tuple(columns)


def sensitive_layout(roles: Roles) -> tuple[Published, ...]:
    """The columns of format anatomy's second table."""
    values = tuple(Published("s", reading.alias, reading.name) for reading in roles.sensitive)
    return (Published("r", GROUP, GROUP), *values, Published("n", COUNT, COUNT))


def _check(columns: Sequence[Published], longest: int) -> None:
    """The names of one published table are short enough, and no two are the same."""
    for column in columns:
        if len(column.name.encode()) > longest:
            raise PolicyError(
                f"published column {column.name} would be longer than the {longest} bytes of this database; "
                "rename it in a view of the source, or choose another format"
            )
    seen: dict[str, str] = {}
    for column in columns:
        folded = column.name.lower()
        if folded in seen:
            raise PolicyError(
                f"the release would have two columns {column.name}; rename one in a view of the source, or choose "
                "another format"
            )
        seen[folded] = column.name
        if folded.startswith("_sqlanon_"):
            raise PolicyError(
                f"column {column.name}: names that begin with _sqlanon_ are sqlanon's own; rename it in a view"
            )
