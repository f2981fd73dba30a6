"""Returns readers to an earlier version in one transaction, and compares versions of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from copy import deepcopy
from functools import partial
from typing import Any

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError, GuardError, PolicyError
from sqlanon.release.catalog.approvals import require_approval
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import hold_return
from sqlanon.release.catalog.policy_diff import SETTINGS, list_differences, list_weakenings
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.reader import in_ranges
from sqlanon.release.catalog.refresh import describe_shown
from sqlanon.release.catalog.state import find_last_shown
from sqlanon.release.catalog.target import check_free
from sqlanon.release.catalog.views import second_of
from sqlanon.release.publish.deliveries import DELIVERIES, delivery_of
from sqlanon.release.publish.killed_counts import reconcile_beside
from sqlanon.release.publish.reconcile import reconcile
from sqlanon.release.publish.retention import shows_erased
from sqlanon.release.verify.recheck_certificate import refuse_altered
from sqlanon.release.verify.stored_rows import find_stored_rows
from sqlanon.release.verify.tokens import hold_scope, refuse_together, scope_of
from sqlanon.results import DiffReport, RollbackReport, VersionReport

_DIGITS = 10
"""No version has a number of so many digits."""


def rollback(engine: Engine, release: str, to: int | None = None, *, allow_weaker: bool = False) -> RollbackReport:
    """Publish an earlier version of a release again. The current version is withdrawn and stays until `keep` drops it.

    After `unpublish`, publishes the withdrawn version, or ``to``.

    Args:
        engine: the source's database.
        release: the release.
        to: the version; None for the newest replaced version that is kept.
        allow_weaker: confirm a policy that promises less than the policy of the published version.

    Raises:
        PolicyError: no such release or version, or the table was dropped.
        GuardError: the policy is weaker, and that was not confirmed.
        PrivacyViolation: the version has a certificate, and certificate or table changed since verification.
        LockedError: another session runs this release now, or readers held the view for too long.
    """
    with engine.lock(f"release {release}"), ExitStack() as holding:
        catalog = Catalog(engine)
        catalog.guard()
        reconcile(engine, release)
        entries = catalog.live(None, release)
        current = find_last_shown(entries)
        if current is None:
            nothing = f"{release}: nothing is published that could be rolled back"
            example = "the version is an option, such as: sqlanon rollback patients --to 1"
            raise PolicyError(nothing if entries else f"{nothing}: {catalog.unknown_name(release)}; {example}")
        entry = _find_version(engine, release, entries, current, to)
        for version in (current, entry):
            if together := version.policy.get("together"):
                raise PolicyError(
                    f"{release} is published together with the other tables of {together['name']}, in versions that "
                    "are made and checked together: no earlier one returns by itself; run the release with the policy "
                    "or the sources of that version instead"
                )
        settle = partial(reconcile_beside, engine, release)
        holding.enter_context(hold_return(engine, entry, current, settle, confirmed=allow_weaker))
        # Who reads, how often and how many versions stay belong to no version: a rollback leaves them as they are.
        policy = dict(entry.policy) | {key: current.policy[key] for key in SETTINGS if key in current.policy}
        weaker = list_weakenings(list_differences(current.policy, policy))
        if weaker and not allow_weaker:
            raise GuardError(
                f"{release}: version {entry.version} was made by a weaker policy than version {current.version}, which "
                f"{describe_shown(current)}: {'; '.join(weaker)}. If that is meant, confirm it with --allow-weaker (in "
                "Python allow_weaker=True)"
            )
        refresh = policy["refresh"]
        signers = refresh.get("signers") or ()
        ends = require_approval(engine, release, policy, signers) if refresh.get("needs_approval") else ()
        view = TableRef(entry.view_schema, str(entry.view_name), entry.database)
        warnings = (*_warnings(engine, entry, weaker), *ends)
        holding.enter_context(hold_scope(engine, scope_of(entry)))
        refuse_together(engine, entry)
        refuse_altered(engine, entry)
        if not entry.file:
            place = Publication(view, entry.version, entry.physical, second_of(entry))
            occupants = catalog.entries(statuses=("published",), views=[view])
            check_free(release, place, occupants, engine.exists)
        _return_version(engine, entry, policy, current)
        return RollbackReport(
            release,
            current.version if current.status == "published" else None,
            entry.version,
            entry.report.get("published", ""),
            warnings,
        )


def _return_version(engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
    """Let the place's readers have a version again, with each step recorded in the catalog."""
    # A version without a place outside does not return where the current one is outside.
    delivery = delivery_of(current if delivery_of(entry) is DELIVERIES["view"] else entry)
    try:
        delivery.return_version(engine, entry, policy, current)
    except BaseException:
        if delivery.in_steps(engine):
            with suppress(DatabaseError):  # the caller must hear of the first error
                reconcile(engine, entry.release)
        raise


def _find_version(engine: Engine, release: str, entries: list[Entry], current: Entry, to: int | None) -> Entry:
    spare = [
        entry
        for entry in entries
        if entry.status in ("replaced", "withdrawn")
        and entry.file == current.file
        and not shows_erased(entry, entries)
        and engine.exists(entry.table)
    ]
    kept_versions = ", ".join(str(entry.version) for entry in spare) or "none (keep in the policy says how many stay)"
    if to is None and current.status != "published" and current in spare:
        return current
    if to is None:
        replaced = [entry for entry in spare if entry.status == "replaced"]
        if not replaced:
            raise PolicyError(f"{release}: no earlier version is kept; versions to return to: {kept_versions}")
        had = [entry for entry in replaced if entry.version == current.report.get("replaces")]
        return (had or replaced)[-1]
    if to == current.version and current.status == "published":
        raise PolicyError(f"{release}: version {to} is published already; versions to return to: {kept_versions}")
    entry = next((entry for entry in spare if entry.version == to), None)
    if entry is None:
        raise PolicyError(f"{release}: version {to} is not kept; versions to return to: {kept_versions}")
    return entry


def _warnings(engine: Engine, entry: Entry, weaker: tuple[str, ...]) -> tuple[str, ...]:
    warnings = [f"weaker than before: {line}" for line in weaker]
    if not entry.kind.has_rows:
        return tuple(warnings)
    removed = find_stored_rows(engine, entry).count_deleted()
    if removed is None:
        warnings.append(
            "whether rows were deleted from the source since then is unknown: its columns changed, or it is gone"
        )
    elif removed:
        warnings.append(
            f"{removed} rows of version {entry.version} are no longer in the source, or not as they were; readers see "
            "them again. If they were deleted for a reason, run again instead"
        )
    return tuple(warnings)


def report_version(engine: Engine, name: str) -> VersionReport:
    """Everything the catalog knows of ``NAME@VERSION``; without a version, of the published version.

    Raises:
        PolicyError: there is no such version.
    """
    return _report(find_version(engine, name))


def diff(engine: Engine, first: str, second: str) -> DiffReport:
    """Two versions side by side: rows, classes, loss, requirements, policy.

    Raises:
        PolicyError: a version is not in the catalog.
    """
    old, new = find_version(engine, first), find_version(engine, second)
    differences = list_differences(old.policy, new.policy)
    return DiffReport(
        _report(old), _report(new), tuple(str(item) for item in differences), list_weakenings(differences)
    )


def find_version(engine: Engine, name: str) -> Entry:
    """Catalog row of ``NAME@VERSION``; without a version, of the published version.

    Raises:
        PolicyError: there is no such version.
    """
    release, separator, number = name.rpartition("@")
    if not separator or not number.isdigit():
        release, number = name, ""
    catalog = Catalog(engine)
    if not number:
        entries = catalog.entries(release, statuses=("published",))
    else:
        entries = catalog.entries(release, versions=[int(number)]) if len(number) < _DIGITS else []
    if entries:
        return entries[-1]
    versions = catalog.versions(release)
    if not versions:
        raise PolicyError(f"{catalog.unknown_name(release)}; name a version as NAME@VERSION, such as patients@2")
    what = f"version {number}" if number else "published version"
    raise PolicyError(f"{release} has no {what}; versions: {in_ranges(versions)}; name one as {release}@{versions[-1]}")


def _report(entry: Entry) -> VersionReport:
    return VersionReport(
        release=entry.release,
        version=entry.version,
        status=entry.status,
        source=entry.source,
        source_columns=entry.source_columns or (),
        fingerprint=entry.fingerprint,
        policy=deepcopy(dict(entry.policy)),
        policy_hash=entry.policy_hash,
        report=deepcopy(dict(entry.report)),
        published_at=entry.published_at,
        published_by=entry.published_by,
        checked_at=entry.checked_at,
        sqlanon=entry.sqlanon,
    )
