"""A victim in two versions, or in two releases of the same source.

The victim's candidates are those of both (Ganta et al. 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.kinds import choose_kind
from sqlanon.attack.material import Material, place
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.requirements import read_stored
from sqlanon.release.audit.together_certificates import count_together
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import history_table_of
from sqlanon.release.catalog.refresh import link_columns_of
from sqlanon.release.catalog.views import form_of
from sqlanon.release.history.candidate_sets import count_possible
from sqlanon.release.history.compare_pair import compare
from sqlanon.release.history.earlier_versions import SEEN, list_kept
from sqlanon.release.history.side import Side, counts_candidates, side_of
from sqlanon.results import CompositionAttack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.arrays import Longs
    from sqlanon.evaluate.subject import Subject
    from sqlanon.table.scratch import Scratch

MOST_VERSIONS = 10
"""Earlier versions that are compared, the newest ones."""
WHO = ("common", "arrived", "left")


def attack_with_versions(scratch: Scratch, on: Subject) -> tuple[list[CompositionAttack], list[str]]:
    """The published version with each earlier version that readers had; and versions that were not compared.

    Groups are those of `audit --history`: rows in both versions by their old and new class; per component of linked
    classes rows that only one version has.

    Cost: for every version joins of two histories by key.
    """
    entry = on.entry
    assert entry is not None
    entries = Catalog(scratch.engine).entries(entry.release)
    versions = [
        earlier_entry
        for earlier_entry in list_kept(entries, scratch.engine.exists)
        if earlier_entry.version != entry.version
    ]
    other_versions = [
        earlier_entry
        for earlier_entry in entries
        if earlier_entry.version != entry.version and earlier_entry.status in SEEN
    ]
    if not entry.policy.get("key") or not scratch.engine.exists(history_table_of(entry)):
        what = "versions: the policy has no key, so that rows of two versions cannot be matched"
        return [], [what] if other_versions else []
    attacks = []
    for earlier in versions[-MOST_VERSIONS:]:
        attacks += _version(scratch, earlier, entry)
    beyond = len(versions) - MOST_VERSIONS
    return attacks, [f"versions: the {beyond} oldest were not compared"] if beyond > 0 else []


def _version(scratch: Scratch, other: Entry, entry: Entry) -> list[CompositionAttack]:
    name, promise = f"{other.release}@{other.version}", _weaker_promise(entry, other)
    here, there = side_of(scratch, entry), side_of(scratch, other)
    if counts_candidates(here, there):
        return _by_candidates(scratch, here, there, name, promise)
    report = compare(scratch, there, here, read_stored(entry.policy["privacy"]), 1)
    if report.unknown:
        return [CompositionAttack("version", name, "common", 0, 0.0, 0.0, 0, promise, report.unknown)]
    return [
        CompositionAttack(
            "version",
            name,
            who,
            overlap.rows,
            overlap.groups / overlap.rows,
            1 / overlap.smallest,
            overlap.smallest,
            promise,
        )
        for who, overlap in zip(WHO, (report.common, report.arrived, report.left), strict=True)
        if overlap.smallest
    ]


def _by_candidates(
    scratch: Scratch, here: Side, there: Side, name: str, threshold: float | None
) -> list[CompositionAttack]:
    if here.key != there.key:
        why = "the key's columns or their types changed"
        return [CompositionAttack("version", name, "common", 0, 0.0, 0.0, 0, threshold, why)]
    sets = (
        count_possible(scratch, here, there, common=True),
        count_possible(scratch, here, there, common=False),
        count_possible(scratch, there, here, common=False),
    )
    return [
        _summarize_candidates("version", name, who, sizes, np.ones(len(sizes), np.int64), threshold)
        for who, sizes in zip(WHO, sets, strict=True)
        if len(sizes)
    ]


def attack_with_siblings(scratch: Scratch, on: Subject, material: Material) -> list[CompositionAttack]:
    """The other published releases of the same source, as `audit --together` counts them.

    Cost: for every release a join of the private table with the source.
    """
    entry = on.entry
    assert entry is not None
    here = [column.name for column in on.roles.relation.columns]
    attacks = []
    for sibling in Catalog(scratch.engine).entries(statuses=("published",), source=entry.source):
        if sibling.release == entry.release or not sibling.kind.has_rows:  # of statistics `run` warns
            continue
        name, promise = f"{sibling.release}@{sibling.version}", _weaker_promise(entry, sibling)
        why = _explain_unlike_columns(scratch, entry, sibling, here)
        if why:
            attacks.append(CompositionAttack("release", name, "common", 0, 0.0, 0.0, 0, promise, why))
        elif counts_candidates(entry, sibling):
            sizes, _ = count_together(scratch, entry, sibling, material.stage)
            attacks.append(
                _summarize_candidates("release", name, "common", sizes, np.ones(len(sizes), np.int64), promise)
            )
        else:
            beside, _ = place(scratch, sibling, material.stage, "placed_beside")
            rows = scratch.fetch("attack/common", first=material.placed, second=beside)
            scratch.drop(beside)
            sizes = np.array([read_integer(n) for n, _ in rows], np.int64)
            groups = np.array([read_integer(groups) for _, groups in rows], np.int64)
            attacks.append(_summarize_candidates("release", name, "common", sizes, groups * sizes, promise))
    return attacks


def _explain_unlike_columns(scratch: Scratch, entry: Entry, other: Entry, here: Sequence[str]) -> str:
    """Why rows of two releases cannot be matched; empty: they can."""
    if any(form_of(side).facts.paired for side in (entry, other)):
        return "sensitive values of one belong to groups, not to rows"
    if link_columns_of(entry, here) != link_columns_of(other, here):
        return "they name different identifiers"
    not_matched = choose_kind(entry).not_matched or choose_kind(other).not_matched
    if not_matched:
        return not_matched
    tables = [table for side in (entry, other) for table in side.tied]
    if not all(scratch.engine.exists(table) for table in tables):
        return "the private table of one is gone"
    return ""


def _weaker_promise(*entries: Entry) -> float | None:
    k = min(int(entry.policy["privacy"].get("k") or 1) for entry in entries)
    return 1 / k if k > 1 else None


def _summarize_candidates(
    kind: str, other: str, who: str, sizes: Longs, rows: Longs, k: float | None
) -> CompositionAttack:
    """Of so many rows each with so many candidates."""
    total = int(rows.sum())
    if not total:
        return CompositionAttack(kind, other, who, 0, 0.0, 0.0, 0, k, "they have no row in common")
    fewest = int(sizes.min())
    return CompositionAttack(kind, other, who, total, float((rows / sizes).sum()) / total, 1 / fewest, fewest, k)
