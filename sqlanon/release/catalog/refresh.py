"""Refresh: decision of a run and the reasons, from the catalog and the source. Publishes nothing itself."""

from __future__ import annotations

import datetime
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlanon._version import __version__
from sqlanon.engines.base import Column, Relation, TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.errors import GuardError, SchemaChangedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry, SourceState
from sqlanon.release.catalog.places import place_of
from sqlanon.release.catalog.policy_diff import Difference, list_differences, list_weakenings
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.catalog.views import views_of
from sqlanon.results import DataChange
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch

State = Literal[
    "first release",
    "unchanged",
    "data changed",
    "policy changed",
    "schema changed",
    "sqlanon changed",
    "made anew",
]

EARLY = 20
"""A release is due a twentieth of the period early: the scheduler's clock is never exact to the second."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a run.

    Attributes:
        state: the weightiest reason.
        why: every reason, for people.
        weaker: weakenings that must be confirmed.
        previous: the published version, or the last version of readers; None if they never had a version.
        same_as: the source's fingerprint that leaves nothing to do; None if a new version is made in any case.
        instead: for a first release, the last version of another release that was published in the same place from the
            same source.
    """

    state: State
    why: tuple[str, ...]
    weaker: tuple[str, ...]
    previous: Entry | None
    same_as: str | None
    instead: Entry | None = None

    @property
    def replaced(self) -> int | None:
        """Number of the published version."""
        return self.previous.version if self.previous and self.previous.status == "published" else None

    def require_confirmation(self, release: str, *, allow_weaker: bool) -> None:
        """Stop a weakening that was not confirmed.

        Raises:
            GuardError: the policy promises less than the policy of the published version.
        """
        before = self.previous or self.instead
        if self.weaker and before and not allow_weaker:
            name = "" if before is self.previous else f" of {before.release}"
            raise GuardError(
                f"{release}: the policy is weaker than that of version {before.version}{name}, which "
                f"{describe_shown(before)}: {'; '.join(self.weaker)}. If that is meant, confirm it once with "
                "--allow-weaker (in Python allow_weaker=True)"
            )

    @property
    def snapshot(self) -> str:
        """Version of the source as the version before recorded it; empty if the source has no versions."""
        return str(self.previous.report.get("snapshot", "")) if self.previous else ""

    def decide_again(self, source: SourceState) -> Decision:
        """The decision after a look at the source."""
        fingerprint, before = source.fingerprint, self.snapshot
        if self.same_as is not None and fingerprint == self.same_as:
            same = (
                f"the source is at {source.snapshot}, as before"
                if source.snapshot and source.snapshot == before
                else ""
            )
            return replace(self, why=(*filter(None, [same]), "source, policy and sqlanon are as before", *self.why))
        earlier = self.previous.fingerprint if self.previous else None
        if earlier is None or earlier == fingerprint:
            return self
        state: State = "data changed" if self.same_as is not None else self.state
        moved = f": {before} -> {source.snapshot}" if before and source.snapshot else ""
        return replace(self, state=state, why=(*self.why, f"the source's rows changed{moved}"))


def decide(state: ReleaseState, *, full: bool = False) -> Decision:
    """Compare the policy and the source's columns with the published version; no row is read.

    Args:
        state: state of the release.
        full: make a new version in any case.

    Raises:
        SchemaChangedError: the source has a column that the policy's ``rest: keep`` would now publish.
    """
    spec, entry = state.spec, state.last_shown
    if entry is None:
        return decide_first(state)
    schema = schema_changes(spec, entry, state.source)
    differences = policy_changes(entry, spec)
    changes = tuple(str(item) for item in differences)
    policy = any(not item.setting for item in differences)
    why, states = [*schema, *changes], []
    if schema:
        states.append("schema changed")
    if policy:
        states.append("policy changed")
    if entry.sqlanon != __version__:
        states.append("sqlanon changed")
        why.append(f"sqlanon {entry.sqlanon} -> {__version__}")
    if entry.status != "published":
        states.append("made anew")
        why.append(f"version {entry.version} was withdrawn, and nothing is published")
    elif missing := _explain_missing(state, entry):
        states.append("made anew")
        why.append(missing)
    elif entry.fingerprint is None:
        states.append("made anew")
        why.append("the published version has no fingerprint of the source's rows")
    if full:
        states.append("made anew")
        why.append("asked for with --full")
    weightiest: State = states[0] if states else "unchanged"  # type: ignore[assignment]
    return Decision(weightiest, tuple(why), list_weakenings(differences), entry, None if states else entry.fingerprint)


def decide_first(state: ReleaseState) -> Decision:
    """Decision of the first run of a release.

    If another release was withdrawn from the same place, readers look there: the new release is compared with it.
    """
    spec, view = state.spec, state.view
    place = (str(view.schema).lower(), view.name.lower(), spec.publish_file)
    there = [
        entry
        for entry in Catalog(state.engine).instead(str(state.source.ref))
        if entry.status in SHOWN
        and entry.source == str(state.source.ref)
        and (str(entry.view_schema).lower(), str(entry.view_name).lower(), entry.file) == place
    ]
    instead = max(there, key=lambda entry: entry.published_at, default=None)
    weaker = list_weakenings(policy_changes(instead, spec)) if instead else ()
    return Decision("first release", ("nothing is published yet",), weaker, None, None, instead)


def policy_changes(entry: Entry, spec: ReleaseSpec) -> tuple[Difference, ...]:
    """The differences of a policy from the policy of a version."""
    return list_differences(entry.policy, json.loads(json.dumps(redact(spec))))


def schema_changes(spec: ReleaseSpec, entry: Entry, relation: Relation) -> list[str]:
    """Changes of the source's columns since the published version was made.

    A policy that names a missing column, and a new column without a role, stop the release when roles are assigned.

    Raises:
        SchemaChangedError: the source has a column that ``rest: keep`` would now publish.
    """
    if entry.source_columns is None:
        return []
    before = dict(entry.source_columns)
    after = {column.name: column.shown_type for column in relation.columns}
    roles = {column.name.lower() for column in spec.columns}
    new = [name for name in after if name not in before]
    loose = [name for name in new if name.lower() not in roles]
    if loose and spec.rest != "drop":
        hint = "rest: keep was set before the source had it; " if spec.rest == "keep" else ""
        raise SchemaChangedError(
            f"{spec.name}: {relation.ref} has {', '.join(loose)} since version {entry.version} was made, and the "
            f"policy gives it no role; {hint}name one (identifier, pseudonym, quasi, sensitive, insensitive)"
        )
    changes = [f"column {name}: new{', not published (rest: drop)' if name in loose else ''}" for name in new]
    changes += [f"column {name}: gone" for name in before if name not in after]
    return changes + [
        f"column {name}: type {before[name]} -> {kind}"
        for name, kind in after.items()
        if name in before and before[name] != kind
    ]


def _explain_missing(state: ReleaseState, entry: Entry) -> str | None:
    """Reason why readers lack the published version, as a text for messages; None if they have it."""
    lost = [] if entry.file else [str(view) for view in views_of(entry) if not state.exists(view)]
    reasons = [f"{', '.join(lost)} is gone"] if lost else []
    reason = place_of(entry).explain_missing(state.engine, entry)
    return "; ".join([*reasons, reason] if reason else reasons) or None


def read_fingerprint(
    scratch: Scratch, roles: Roles, key: Sequence[str], secret: str
) -> tuple[int, str, dict[str, int]]:
    """Number of rows, fingerprint of the source, and lengths of texts by staged column.

    The fingerprint is the number of rows with a keyed hash of the sum of their hashes over every column with a role.

    Read it inside the snapshot that the run reads. It may change with the engine's version, which costs a further
    release. The engines' row hashes are quick and can be inverted; the catalog holds HMAC-SHA256 of their sum, so that
    two fingerprints of sources that differ in a row do not reveal that row's hash.

    Cost: a scan of the source.
    """
    texts = [
        reading.name
        for reading in (*roles.quasi, *roles.kept)
        if reading.column.kind == "text" and reading not in roles.pseudonyms
    ]
    columns = [
        {
            "name": column.name,
            "as_text": column.kind in ("text", "decimal", "other"),
            "listed": column.kind == "enum",
            "kind": column.kind,
        }
        for column in list_hashed(roles, key)
    ]
    rows, mark, *lengths = scratch.fetch(
        "refresh/fingerprint", {"secret": secret}, source=roles.relation.ref, columns=columns, texts=texts
    )[0]
    text_lengths = {name: read_integer(length) for name, length in zip(texts, lengths, strict=True)}
    return read_integer(rows), seal(read_integer(rows), str(mark), secret), text_lengths


def list_hashed(roles: Roles, key: Sequence[str]) -> list[Column]:
    """The columns of the source that a fingerprint covers, in the source's order."""
    names = {*(reading.name for reading in (*roles.quasi, *roles.kept)), *key}
    names |= {column.name for column in roles.identifiers}
    return [column for column in roles.relation.columns if column.name in names]


def seal(rows: int, mark: str, secret: str) -> str:
    """The fingerprint of a number of rows and the sum of their hashes."""
    mac = hmac.new(secret.encode(), f"{rows}:{mark}".encode(), "sha256")
    return f"{rows}:{mac.hexdigest()[:32]}"


def link_columns_of(entry: Entry, here: Sequence[str]) -> list[str]:
    """Link columns as `prepare.link_columns` chose them for this version."""
    identifiers = {
        column["name"]: column.get("accept_repeats", False)
        for column in entry.policy["columns"]
        if column["role"] == "identifier"
    }
    unique = entry.policy.get("rows_are", "persons") == "persons" and not all(identifiers.values())
    return [name for name in here if name in identifiers] if unique else list(here)


def data_change(
    scratch: Scratch,
    entry: Entry,
    stage: TableRef,
    links: Sequence[str],
    columns: Sequence[str],
    rows: int,
    made_of: Sequence[tuple[str, bool]] = (),
) -> DataChange | None:
    """Rows that came and went since a version was made, by the hashes that link published rows to source rows.

    Args:
        scratch: the run.
        entry: the version, whose link table is there.
        stage: the source now, with its links.
        links: the hashed columns.
        columns: the source's columns, in order.
        rows: number of rows of the source.
        made_of: see `sqlanon.table.reading.Roles.link`.
    """
    if link_columns_of(entry, columns) != list(links):
        return None
    row = scratch.fetch("refresh/rows", stage=stage, linked=entry.link, link=made_of)[0]
    earlier, added, removed = read_integers(row)
    return DataChange(earlier, rows, added, removed)


def data_change_by_key(scratch: Scratch, old: TableRef, new: TableRef, rows: int) -> DataChange:
    """The same by key, from the histories of two versions."""
    row = scratch.fetch("refresh/rows_with_key", old=old, new=new)[0]
    earlier, added, removed, changed = read_integers(row)
    return DataChange(earlier, rows, added, removed, changed)


def describe_shown(entry: Entry) -> str:
    """Words in messages for the current or last version of readers."""
    return "is published" if entry.status == "published" else "was published last"


def is_due(spec: ReleaseSpec, entry: Entry | None, now: datetime.datetime) -> bool:
    """Whether ``every`` has passed since the last run on the release; without ``every`` a release is always due.

    A last run that is as far in the future was noted by a clock that was wrong.
    """
    every = spec.refresh.every
    if every is None or entry is None:
        return True
    last = datetime.datetime.fromisoformat(entry.checked_at or entry.published_at)
    return abs((now - last).total_seconds()) >= every - every / EARLY
