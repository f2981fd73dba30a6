"""Lineage of the next version, and changes of a policy that need a new lineage."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import TableRef
from sqlanon.engines.lacks import require
from sqlanon.engines.rows import count, read_integer
from sqlanon.errors import GuardError, PolicyError
from sqlanon.release.catalog.catalog import Catalog, now
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import (
    Lineage,
    find_current,
    lineages_of,
    next_number,
    number_in,
    number_of,
    of_other_secret,
)
from sqlanon.release.catalog.refresh import Decision, policy_changes
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.divide.division import Division
from sqlanon.release.frozen.erased_keys import check_listed
from sqlanon.release.frozen.row_counts import Census, is_due, too_long
from sqlanon.sqltext import statement

_SAME = re.compile(
    r"(method|refine|suppression|metrics|execution|memory|readers|dimensions|publish|threshold)\b.*|column .*: "
    r"(weight|accept_unique)"
)
"""Allowed changes within a lineage: search of a cohort's classes, and the risk that all classes must keep."""


def lineage_of_run(
    state: ReleaseState, division: Division, *, anew: bool, listing: bool = False
) -> tuple[Lineage, bool] | None:
    """Lineage of the version that a run would make, and whether the version is the lineage's first.

    None if the policy asks for no lineage.

    Args:
        state: the release.
        division: division of the rows.
        anew: a new lineage is requested.
        listing: erased keys are listed now, so that the list may be gone.

    Raises:
        PolicyError: a new lineage is requested for versions without lineages.
        GuardError: the lineage, its secret or the list of erased keys is gone, the clock went backwards, or the
            policy's changes need a new lineage.
    """
    spec = state.spec
    if not spec.refresh.frozen:
        if anew:
            raise PolicyError(f"{spec.name}: --new-lineage is for releases with refresh: {{mode: frozen}}")
        return None
    require(state.engine, "refresh: {mode: frozen}", spec.name)
    if not listing:
        check_listed(state)
    lineage = None if anew else find_current(state)
    if lineage is None:
        return Lineage.of(state.engine, spec.name, next_number(state.every_version())), True
    _check_clock(state, lineage.number)
    broken, weaker = _find_breaks(
        find_newest(state, lineage.number), state, (*spec.key, *division.list_recognized(spec))
    )
    if broken:
        raise GuardError(
            f"{spec.name}: what was published stays as it is (refresh: {{mode: frozen}}), and this cannot hold for it: "
            f"{'; '.join(broken)}. run --new-lineage begins anew, and reports what old and new versions reveal together"
        ).with_advice("--new-lineage", *(["--allow-weaker"] if weaker else []))
    if of_other_secret(find_newest(state, lineage.number), state.secret):
        raise GuardError(
            f"{spec.name}: the secret of this release in _sqlanon.secrets is not the one that {lineage.rows} was made "
            "with: which rows were published in which classes is not known any more, so that no version can be made "
            "that is safe together with those before; put the secret back, or run --new-lineage begins anew, and "
            "reports that old and new versions cannot be compared"
        ).with_advice("--new-lineage")
    return lineage, False


def find_newest(state: ReleaseState, number: int) -> Entry:
    """The newest version of a lineage that readers had."""
    return [entry for entry in state.versions if entry.status in SHOWN and number_of(entry) == number][-1]


def own_histories(state: ReleaseState) -> list[TableRef]:
    """Histories of versions that were computed anew from the whole source.

    The histories of a lineage's versions are in the lineage.
    """
    return [entry.history for entry in state.versions if number_of(entry) is None and state.exists(entry.history)]


def _check_clock(state: ReleaseState, number: int) -> None:
    """Check that no run of the lineage looked at the release later than now.

    Raises:
        GuardError: a run did.
    """
    looked = Catalog(state.engine).list_looks(state.spec.name, after=now())
    times = [_parse_time(time) for time, report in looked if number_in(report) == number]
    last = max(times, default=None)
    if last is not None and _parse_time(now()) < last:
        raise GuardError(
            f"{state.spec.name}: a run looked at this release at {last.isoformat()}, and the clock says {now()}: a "
            "clock that goes backwards would publish cohorts at the wrong time; set it right and run again, or, where "
            "it was wrong then, run --new-lineage"
        )


def shows_erased_keys(state: ReleaseState) -> bool:
    """Whether readers still have a class with an erased key.

    That happens if an erasure was stopped before the erasing version replaced the readers' version.
    """
    entry = state.published
    return entry is not None and any(
        _shows_erased(state, entry, lineage) for lineage in lineages_of(state.engine, [entry])
    )


def _shows_erased(state: ReleaseState, entry: Entry, lineage: Lineage) -> bool:
    if not (state.exists(lineage.rows) and state.exists(lineage.erased)):
        return False
    rows, erased, dialect = lineage.rows, lineage.erased, state.engine.dialect
    query = statement("frozen/erased_since", dialect, rows=rows, erased=erased, at=entry.version)
    return count(state.engine, query) > 0


def due_again(state: ReleaseState, decision: Decision, lineage: Lineage, begins: bool) -> Decision:
    """The decision, changed if an unchanged source needs a new version nevertheless.

    It does if rows are due by the time alone, erased keys are shown, or a lineage begins.
    """
    if begins and decision.previous is not None:
        state_now = decision.state if decision.same_as is None else "made anew"
        return replace(decision, state=state_now, why=(*decision.why, "a new lineage begins"), same_as=None)
    if decision.same_as is None:
        return decision
    if shows_erased_keys(state):
        why = (*decision.why, "keys are erased that are still published")
        return replace(decision, state="made anew", why=why, same_as=None)
    row = state.engine.fetch(statement("frozen/waiting", state.engine.dialect, rows=lineage.rows))[0]
    refused = find_newest(state, lineage.number).report["lineage"].get("refused_since")
    waits = Census(0, read_integer(row[0]), waits_since=None if row[1] is None else str(row[1]), refused_since=refused)
    if (waits.waiting and is_due(state.spec, waits, now())) or too_long(state.spec, waits, now()):
        return replace(decision, state="data changed", why=(*decision.why, "rows wait that are due"), same_as=None)
    return decision


def _parse_time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _find_breaks(last: Entry, state: ReleaseState, recognized: Sequence[str]) -> tuple[list[str], bool]:
    """Differences of policy and source columns from the lineage's last version that end its classes.

    Rows are found again by the columns ``recognized``. The second value says whether the policy is weaker.
    """
    spec = state.spec
    changed = [difference for difference in policy_changes(last, spec) if not difference.setting]
    breaks = [str(difference) for difference in changed if difference.weaker or not _SAME.fullmatch(difference.what)]
    before = dict(last.source_columns or ())
    read_columns = {column.name.lower() for column in spec.columns if column.role != "identifier"} | {
        name.lower() for name in recognized
    }
    # The lineage's columns, and the order in which the key is hashed, follow the spelling, which engines may ignore.
    there = {column.name for column in state.source.columns}
    spelled = {name.lower(): name for name in before if name not in there}
    for column in state.source.columns:
        name = column.name
        if name.lower() not in read_columns:
            continue
        if name not in before and name.lower() in spelled:
            breaks.append(f"column {spelled[name.lower()]}: now {name} (or name it as before)")
        elif before.get(name, column.shown_type) != column.shown_type:
            breaks.append(f"column {name}: type {before[name]} -> {column.shown_type}")
    return breaks, any(difference.weaker for difference in changed)
