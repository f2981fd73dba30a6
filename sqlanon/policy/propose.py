"""The proposal of ``sqlanon init`` for a table.

It has a role for every column, each with the reason, the owners of rows, and k and l.

The role of a column is in `sqlanon.policy.roles`, the column of the person in `sqlanon.policy.person_column`. Here is
the part for several columns: two columns with the same content, the number of quasi and sensitive columns of a release,
and the l that the table reaches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlanon.errors import PolicyError
from sqlanon.policy.column_counts import ColumnProfileLike, K, can_be_key, counts_of, leave_out, repeats
from sqlanon.policy.person_column import NOTHING, RelatedCounts, count_owners, person_of
from sqlanon.policy.proposal import Proposal, ProposedColumn
from sqlanon.policy.roles import SENSITIVE_BY_NAME, role_of

_QUASI = re.compile(r"(quasi|indirect) identifier", re.IGNORECASE)
_MASKED = re.compile(r"\s*MASKED\s+WITH\s+(FUNCTION\s+(?:\w+\.)*(\w+)\s*\(|VALUE\b)", re.IGNORECASE)
_KEPT = re.compile(r"\s*NOT\s+MASKED\s*", re.IGNORECASE)
_NEAR = re.compile(r"generalize_\w+|d?noise|add_noise\w*|shuffle\w*", re.IGNORECASE)
"""Functions with masked values that stay near the true ones, which are then meant to be known roughly."""
_NAME = re.compile(r"[A-Za-z_]{1,40}")


def apply_labels(column: ProposedColumn, labels: Sequence[str], *, able: bool, repeats: bool) -> ProposedColumn:
    """The proposal for a column by its labels; names and counts decide where labels say nothing of a role.

    Args:
        column: the proposal by names and counts.
        labels: of the column.
        able: the column's type can be generalized.
        repeats: a value is in several rows.
    """
    role, reason = None, ""
    for label in labels:
        if masked := _MASKED.match(label):
            near = masked[2] is not None and _NEAR.fullmatch(masked[2])
            how = masked[2] if masked[2] and _NAME.fullmatch(masked[2]) else "a value"
            role, reason = ("quasi" if near else "identifier"), f"labelled MASKED WITH {how}"
        elif _KEPT.fullmatch(label):
            reason = "labelled NOT MASKED; "
    if any(_QUASI.search(label) for label in labels):
        role, reason = "quasi", "labelled as quasi-identifier"
    if role is None:
        return replace(column, reason=f"{reason}{column.reason}")
    if role == "quasi" and able:
        return ProposedColumn(column.name, "quasi", reason, named=True, rank=0)
    if role == "quasi":
        return ProposedColumn(
            column.name,
            "identifier",
            f"{reason}, of a type that cannot be generalized: left out",
            named=True,
            accept_repeats=repeats,
        )
    if column.role == "identifier":
        return replace(column, reason=f"{reason}; {column.reason}", named=True)
    return ProposedColumn(column.name, "identifier", f"{reason}: left out", named=True, accept_repeats=repeats)


L = 2
MOST_QUASI = 12
"""Largest number of quasi columns in a proposal, without those that are the same in all rows.

With more, classes say next to nothing.
"""
MOST_SENSITIVE = 4
"""Sensitive columns of a proposal, at most: l is asked of each."""
_RARE = 0.01
"""Share of rows without the most frequent sensitive value from which distinct_l is proposed."""


def group_alike(profile: Sequence[ColumnProfileLike]) -> list[list[str]]:
    """Groups of columns that may determine each other: as many values, and as often."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for column in profile:
        if column.comparable and column.kind != "other" and column.distinct > 1:
            marks = (column.distinct, column.nulls, column.singles, column.top)
            groups.setdefault(marks, []).append(column.name)
    return [names for names in groups.values() if len(names) > 1]


def propose(
    profile: Sequence[ColumnProfileLike],
    labels: Mapping[str, Sequence[str]] | None = None,
    related: RelatedCounts = NOTHING,
) -> Proposal:
    """Roles, the column of the person, k and l for a table.

    Args:
        profile: columns of the table.
        labels: of the columns that have any, those of PostgreSQL Anonymizer, which decide first.
        related: counts over several columns together.

    Raises:
        PolicyError: the table has no columns.
    """
    if not profile:
        raise PolicyError("source: the table has no columns; a policy needs at least one")
    by_name = {column.name: column for column in profile}
    rows = max(column.rows for column in profile)
    person = person_of(profile, related)

    def roles() -> list[ProposedColumn]:
        return [
            _of_labels(
                role_of(
                    column,
                    count_owners(column, person, by_name, related),
                    related.alone.get(column.name, column.singles),
                ),
                column,
                (labels or {}).get(column.name, ()),
            )
            for column in profile
        ]

    roles_of = roles()
    if person is None:
        person = _find_counted_identifier(by_name, roles_of)
        roles_of = roles()
    columns = _with_person(profile, roles_of, person, related)
    columns = _without_twins(by_name, columns, related)
    columns = _without_too_many(profile, columns)
    l, distinct_l, why = _diversity(profile, columns, rows)  # noqa: E741 - the papers' symbol
    nulls = "one" if person and by_name[person].nulls else None
    return Proposal(
        tuple(columns),
        rows,
        K,
        l,
        distinct_l,
        why,
        "events" if person else "persons",
        person=(person,) if person else (),
        null_person=nulls,
        refused=_no_quasi(columns),
    )


def _find_counted_identifier(by_name: Mapping[str, ColumnProfileLike], columns: Sequence[ProposedColumn]) -> str | None:
    """An identifier that repeats, so that the repeats would count persons, where no other column identifies persons.

    None where another identifier differs in every row: then rows are persons, and the repeated one is a manager or a
    shop.
    """
    identifiers = [column for column in columns if column.role == "identifier" and column.named]
    if any(not repeats(by_name[column.name]) and by_name[column.name].comparable for column in identifiers):
        return None
    counting = [
        by_name[column.name] for column in identifiers if not column.accept_repeats and repeats(by_name[column.name])
    ]
    return min(counting, key=lambda column: column.distinct).name if counting else None


def _of_labels(proposed: ProposedColumn, column: ColumnProfileLike, labels: Sequence[str]) -> ProposedColumn:
    """The role of a column by the labels, if it has any, else by counts and name."""
    if not labels:
        return proposed
    able = column.kind != "other" and column.comparable
    return apply_labels(proposed, labels, able=able, repeats=not column.comparable or repeats(column))


def _with_person(
    profile: Sequence[ColumnProfileLike], columns: Sequence[ProposedColumn], person: str | None, related: RelatedCounts
) -> list[ProposedColumn]:
    """The person's column, and other numbers of the person, as identifiers; repeats of others count nobody."""
    same = next((group for group in related.same if person in group), ())
    proposals = []
    for counts, column in zip(profile, columns, strict=True):
        if column.name == person:
            reason = f"says whose row it is; {counts_of(counts)}"
            proposals.append(ProposedColumn(column.name, "identifier", reason, named=True))
        elif column.name in same and can_be_key(counts):
            reason = "another number of the person: it has one value for each of the person's column"
            proposals.append(ProposedColumn(column.name, "identifier", reason, named=True, accept_repeats=True))
        elif column.role == "identifier" and not column.accept_repeats and repeats(counts):
            proposals.append(replace(column, accept_repeats=True))
        else:
            proposals.append(column)
    return proposals


def _without_twins(
    by_name: Mapping[str, ColumnProfileLike], columns: Sequence[ProposedColumn], related: RelatedCounts
) -> list[ProposedColumn]:
    """Keep one of several columns that are the same thing, such as a code and its label.

    It is the first of those that a name explains.
    """
    dropped: dict[str, str] = {}
    column_of = {column.name: column for column in columns}
    for group in related.same:
        able = [name for name in group if column_of[name].role in ("quasi", "sensitive")]
        able.sort(key=lambda name: (column_of[name].role != "sensitive", not column_of[name].named))
        dropped |= {name: able[0] for name in able[1:]}  # noqa: C420 - able may be empty
    return [
        leave_out(
            by_name[column.name],
            f"the same as {dropped[column.name]}, written in another way: one of them is enough",
        )
        if column.name in dropped
        else column
        for column in columns
    ]


def _choose_quasi(profile: Sequence[ColumnProfileLike], columns: Sequence[ProposedColumn]) -> tuple[str, ...]:
    """The quasi columns that vary, the most wanted first, of those alike the ones of the fewest values."""
    quasi = [
        (column.rank, counts.distinct, column.name)
        for counts, column in zip(profile, columns, strict=True)
        if column.role == "quasi" and counts.distinct + (counts.nulls > 0) > 1
    ]
    return tuple(name for _, _, name in sorted(quasi, key=lambda ranked: ranked[:2]))


def _without_too_many(profile: Sequence[ColumnProfileLike], columns: list[ProposedColumn]) -> list[ProposedColumn]:
    """Leave out the quasi columns above `MOST_QUASI` and the sensitive ones above `MOST_SENSITIVE`."""
    quasi = set(_choose_quasi(profile, columns)[MOST_QUASI:])
    skewed = [
        (max(counts.top, counts.nulls) * L > counts.rows, place)
        for place, (counts, column) in enumerate(zip(profile, columns, strict=True))
        if column.role == "sensitive"
    ]
    sensitive = {columns[place].name for _, place in sorted(skewed)[MOST_SENSITIVE:]}
    proposals = []
    for counts, column in zip(profile, columns, strict=True):
        if column.name in quasi:
            reason = f"left out, as there are more than {MOST_QUASI} quasi columns; was: {column.reason}"
            proposals.append(leave_out(counts, reason))
        elif column.name in sensitive:
            reason = f"left out, as there are more than {MOST_SENSITIVE} sensitive columns; was: {column.reason}"
            proposals.append(leave_out(counts, reason))
        else:
            proposals.append(column)
    return proposals


def _no_quasi(columns: Sequence[ProposedColumn]) -> tuple[str, ...]:
    """The problem of a table without a possible quasi column: nothing is proposed rather than an identifying column."""
    if any(column.role == "quasi" for column in columns):
        return ()
    return (
        (
            "no column can be proposed as quasi: each identifies, or is sensitive; a release needs one that others may "
            "know, in groups or ranges (a view can make them)"
        ),
    )


def _diversity(
    profile: Sequence[ColumnProfileLike], columns: Sequence[ProposedColumn], rows: int
) -> tuple[int | None, int | None, str]:
    """l, else distinct_l, that the table can reach; and the comment on it."""
    sensitive = [counts for counts, column in zip(profile, columns, strict=True) if column.role == "sensitive"]
    if not sensitive:
        any_named = any(column.reason.startswith(SENSITIVE_BY_NAME) for column in columns)
        none = "the columns that look sensitive are left out" if any_named else "no column looks sensitive by its name"
        return None, None, f"{none}; give those that are the role, and add l"
    if rows < K:
        return None, None, ""
    worst = max(sensitive, key=lambda column: max(column.top, column.nulls))
    most = max(worst.top, worst.nulls)
    if most * L <= rows:
        return L, None, f"no sensitive value in more than 1/{L} of a class"
    skewed = f"l: {L} is not possible: one value of {worst.name!r} has {most} of {rows} rows"
    if rows - most >= max(1, _RARE * rows):
        return None, 2, f"{skewed}; different sensitive values in a class, at least"
    return None, None, f"{skewed}; nothing bounds how sure a guess of it is"
