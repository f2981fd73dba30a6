"""A look at a release before a run takes its lock: mostly nothing has changed, and there is nothing to do.

Where an engine has no transactions a lock is several statements, and a note that a run looked is a row of the catalog.
A run there reads the catalog and the rows of the source first, in one statement. It goes on without a lock, and writes
nothing, only if the published version is that of this policy and of these rows, and nothing is left to tidy up.
"""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.places import VIEWS, list_reader_warnings, place_of
from sqlanon.release.catalog.redacted_policy import hash_policy, redact
from sqlanon.release.catalog.refresh import decide, list_hashed, seal
from sqlanon.release.catalog.state import ReleaseState, glance_at_state, look_up_release
from sqlanon.release.prepare.key import key_columns
from sqlanon.release.publish.keep_published import refuse_few, report_published
from sqlanon.release.publish.kept_scratch import list_table
from sqlanon.release.stages.options import RunOptions
from sqlanon.release_kind import ROWS
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.roles import assign_roles

TIDY = ("published", "replaced", "withdrawn", "dropped")
"""States of versions that no run has to change."""


def glance(engine: Engine, spec: ReleaseSpec, options: RunOptions, watch: Stopwatch) -> RunReport | None:
    """The report of a release with nothing to do; None: the run goes on.

    The run reads the rows again under the lock: they may have changed since.

    Args:
        engine: the source's database.
        spec: the release.
        options: of the run.
        watch: measures the stages.

    Raises:
        PrivacyViolation: a class of the published version has fewer persons than the policy asks.

    Cost: one statement, with a scan of the source if the release has a secret. Nothing on engines with transactions.
    """
    if engine.transactions or not _is_plain(spec, options):
        return None
    try:
        with watch.stage("state"):
            lookup = look_up_release(engine, spec)
            if lookup is None or lookup.named[spec.source].snapshot or engine.exists(list_table(engine)):
                return None
            roles = assign_roles(spec, lookup.named[spec.source])
            hashed = [column.name for column in list_hashed(roles, key_columns(spec, roles))]
        with watch.stage("snapshot"):
            entries, content = Catalog(engine).list_with_content(lookup, spec.name, roles.relation.ref, hashed)
        if content is None:
            return None
        secret, rows, mark = content
        state = glance_at_state(engine, spec, lookup, entries, secret)
        if not _is_tidy(state):
            return None
        decision = decide(state)
    except SqlanonError:
        return None  # the run says so, under the lock
    if decision.same_as is None or seal(rows, mark, secret) != decision.same_as:
        return None
    entry = decision.previous
    assert entry is not None
    refuse_few(state.spec, entry)
    why = ("source, policy and sqlanon are as before", *decision.why)
    report = report_published(state.spec, entry, "unchanged", why, watch)
    return replace(report, warnings=(*report.warnings, *list_reader_warnings(state)))


def _is_plain(spec: ReleaseSpec, options: RunOptions) -> bool:
    """Whether a run of this policy notes nothing of a release that it leaves alone, and needs nothing but its rows."""
    return (
        replace(options, allow_weaker=False) == RunOptions()
        and spec.kind == ROWS
        and spec.together is None
        and spec.scope is None
        and spec.refresh.mode == "full"
        and spec.refresh.every is None
        and not spec.refresh.needs_approval
    )


def _is_tidy(state: ReleaseState) -> bool:
    """Whether the published version is of this policy, and no run has to finish, drop or confirm anything first."""
    entry, spec = state.published, state.spec
    if entry is None:
        return False
    spare = [version for version in state.versions if version.status in ("replaced", "withdrawn")]
    return (
        entry.policy_hash == hash_policy(redact(spec))[1]
        and not entry.policy["refresh"].get("needs_approval")
        and place_of(entry) is VIEWS
        and all(version.status in TIDY for version in (*state.versions, *state.beside))
        and len(spare) < spec.refresh.keep
    )
