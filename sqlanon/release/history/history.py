"""History: joint disclosures of two versions of one release, by the classes that share a row.

A reader of both versions who finds a component of linked classes knows the contents of its old and new classes. So he
can distinguish three kinds of groups: the rows that arrived in it, those that left it, and those common to an old and a
new class. Each should be as large and as diverse as a class, and of events hold as many persons. A changed row has both
left and arrived.

The private schema keeps a keyed hash of the key, the class (with boxes of their own: all that the row fits), and keyed
hashes of the values and of the persons' numbers for every version ever published. Nothing here prevents anything: it
measures, and `refresh.max_failing` stops a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.formats import RowGroups
from sqlanon.privacy.requirements import read_stored
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry, refuse_counts
from sqlanon.release.catalog.lineage import history_table_of, of_other_secret, of_two_secrets
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.history.compare_pair import compare
from sqlanon.release.history.earlier_versions import SEEN, list_kept
from sqlanon.release.history.side import Side, side_of
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.verify.proof import Proof
from sqlanon.results import HistoryReport, HistorySets
from sqlanon.results.figures import format_rows
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import CountedIdentifier, Roles, hashes_of
from sqlanon.table.scratch import Scratch

KEYED_APART = "the lineage of version {} was made with another secret"
"""Why a version is compared with none of a later lineage."""


def rows_of(
    scratch: Scratch,
    roles: Roles,
    classed: TableRef,
    groups: RowGroups,
    secret: str,
    counted: Sequence[CountedIdentifier] = (),
    omitted: TableRef | None = None,
) -> TableRef:
    """The history of the version that is being made, as a scratch table.

    Args:
        scratch: the run.
        roles: the source's columns by role.
        classed: staged rows with their class.
        groups: which class is in which group of the release.
        secret: key of the hashes of keys and values.
        counted: the persons that are counted.
        omitted: scratch table of the rows that the version leaves out; None without such rows.
    """
    history = scratch.table("history")
    scratch.execute(
        "history/rows",
        {"secret": secret},
        history=history,
        classed=classed,
        groups=groups,
        omitted=omitted,
        marked=[reading.alias for reading in roles.quasi + roles.sensitive],
        sensitive=[reading.alias for reading in roles.sensitive],
        persons=[person.alias for person in counted],
    )
    return history


def value_columns(roles: Roles, counted: Sequence[CountedIdentifier]) -> list[str]:
    """Columns of a history besides key and class: of the sensitive values, and of the persons."""
    return [f"s{i}" for i in range(1, len(roles.sensitive) + 1)] + [person.alias for person in counted]


def table_of(engine: Engine, physical: str) -> TableRef:
    """Where the history of a new version goes."""
    return private_table(engine, f"{physical}_history")


def compare_new(
    scratch: Scratch,
    spec: ReleaseSpec,
    entries: Sequence[Entry],
    history: TableRef,
    version: int,
    ready: PreparedSource,
    proof: Proof,
) -> tuple[HistoryReport, ...]:
    """Joint disclosures of a new version and earlier versions: one report for each of ``entries``.

    Args:
        scratch: the run.
        spec: the policy of the new version.
        entries: the earlier versions to compare with.
        history: the new version's history, as `rows_of` makes it.
        version: number of the new version.
        ready: the source.
        proof: proof of the new version's boxes.
    """
    persons_of = hashes_of(spec.list_counted()) if spec.rows_are == "events" else {}
    columns = [{"name": column.name, "role": column.role} for column in spec.columns]
    policy = {"columns": columns, "key": spec.key, "rows_are": spec.rows_are}
    new = Side(version, history, policy, ready.source.columns, persons_of, proof.boxes)
    least_k = spec.privacy.k if spec.persons != "ignored" else 1
    return tuple(compare(scratch, side_of(scratch, entry), new, spec.privacy, least_k) for entry in entries)


def hold(spec: ReleaseSpec, reports: Sequence[HistoryReport]) -> None:
    """Stop a version that reveals too much together with an earlier version.

    Raises:
        PrivacyViolation: more rows fail the policy than ``history.max_failing`` allows.
    """
    most = spec.refresh.max_failing
    for report in reports:
        if most is not None and report.failing > most:
            group_text = "with fewer candidates than k" if report.candidates else "in groups below the policy"
            raise PrivacyViolation(
                f"{spec.name}: together with version {report.old} this version would leave "
                f"{format_rows(report.failing)} {group_text}, and history.max_failing allows {most} "
                f"({format_figures(report)}); nothing was published"
            )


def format_figures(report: HistoryReport) -> str:
    """The figures of a comparison in a line."""
    if report.unknown:
        return f"they cannot be compared: {report.unknown}"
    parts = []
    for kind, sets in (("arrived", report.arrived), ("left", report.left), ("common", report.common)):
        if sets.smallest is not None:
            diverse = f", l {sets.l:.3g}" if sets.l is not None else ""
            persons_text = f", fewest persons {sets.persons}" if sets.persons is not None else ""
            group = "fewest candidates" if report.candidates else "smallest group"
            parts.append(
                f"{kind}: {sets.rows} rows, {group} {sets.smallest}{persons_text}{diverse}, failing {sets.failing}"
            )
    return "; ".join(parts)


def report_incomparable(old: int, new: int, rows: int, why: str) -> HistoryReport:
    """Report that two versions cannot be compared: all rows of the new version fail."""
    nothing = HistorySets(0, 0, None, None, 0)
    return HistoryReport(old, new, False, 0, nothing, nothing, nothing, rows, why)


def is_gone(entry: Entry) -> str:
    """Reason why a version is compared with none: the lineage was dropped."""
    return f"the lineage of version {entry.version} is gone"


def report_lost(state: ReleaseState, previous: Entry, new: int, rows: int) -> HistoryReport:
    """That a new version cannot be compared with that of a lineage which is gone, or was made with another secret."""
    other_secret = of_other_secret(previous, state.secret) and state.exists(history_table_of(previous))
    why = KEYED_APART.format(previous.version) if other_secret else is_gone(previous)
    return report_incomparable(previous.version, new, rows, why)


def audit_history(engine: Engine, release: str) -> tuple[HistoryReport, ...]:
    """Every version against the version before, and against the version that it replaced where that is another.

    Raises:
        PolicyError: no such release, or no two versions of it have a history.
    """
    catalog = Catalog(engine)
    catalog.guard()
    versions = catalog.entries(release)
    for entry in versions:
        refuse_counts(entry, "its versions have no rows that could be matched")
    table_names = {name.casefold() for name in engine.look_up([], schema=catalog.table).tables}
    entries = list_kept(versions, lambda table: table.name.casefold() in table_names and engine.exists(table))
    missing = [entry for entry in versions if entry.status in SEEN and entry.frozen and entry not in entries]
    if len(entries) + len(missing) < 2:
        if not versions:
            raise catalog.unknown_name(release)
        raise PolicyError(
            f"{release}: {len(entries)} of its versions have a history, and two are needed: name key: [columns] in the "
            "policy (unique, never NULL, never published) and run again; without it the rows of two versions cannot "
            "be matched"
        )
    all_entries = sorted([*entries, *missing], key=lambda entry: entry.version)
    by_version = {entry.version: entry for entry in all_entries}
    reports = []
    with Scratch(engine) as scratch:
        for earlier, entry in pairwise(all_entries):
            pairs = {earlier.version, entry.report.get("replaces") or earlier.version}
            for version in sorted(pairs & by_version.keys()):
                without = next(
                    (version_entry for version_entry in (by_version[version], entry) if version_entry in missing), None
                )
                if without is not None:
                    why = is_gone(without)
                elif of_two_secrets(by_version[version], entry):
                    why = KEYED_APART.format(version)
                else:
                    why = ""
                if why:
                    reports.append(report_incomparable(version, entry.version, entry.row().rows, why))
                    continue
                old, new = side_of(scratch, by_version[version]), side_of(scratch, entry)
                privacy = read_stored(entry.policy["privacy"])
                fewest = privacy.k if entry.policy.get("persons") != "ignored" else 1
                reports.append(compare(scratch, old, new, privacy, fewest))
    return tuple(reports)
