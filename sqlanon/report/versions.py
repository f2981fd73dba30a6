"""The versions of a release, and the disclosure by two of them together."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.release.catalog.entry import Entry
from sqlanon.report.document import Block, Facts, Section, Text, make_table
from sqlanon.results import HistoryReport, RunReport
from sqlanon.results.figures import count, measure, share
from sqlanon.results.kept_attacks import KeptAttacks
from sqlanon.results.measured_risk import read_measured_risk


def report_versions(entries: Sequence[Entry], run: RunReport, attacks: Sequence[KeptAttacks] = ()) -> Section:
    """Versions in the catalog, reason of this version, and disclosure together with the version before.

    Args:
        entries: the release's, oldest first.
        run: the run that made the reported version.
        attacks: that were kept, oldest first.
    """
    rows = []
    for entry in entries:
        row = entry.row()
        exact = f"{row.gcp:.4f}"
        rows.append(
            (
                str(row.version),
                row.status,
                row.published_at[:16].replace("T", " "),
                row.published_by,
                count(row.rows),
                count(row.classes),
                row.requirements,
                exact,
                row.method,
            )
        )
    head = ">version | status | made (UTC) | by | >rows | >classes | asked | >GCP | method"
    blocks: list[Block] = [make_table("Versions", head, rows), *_trend(entries), *_attacks(attacks)]
    if run.why:
        blocks.append(Facts((("Why this version was made", "; ".join(run.why)),)))
    if run.data is not None:
        changed = "" if run.data.changed is None else f", {count(run.data.changed)} changed"
        text = (
            f"{count(run.data.before)} before, {count(run.data.after)} now: {count(run.data.added)} added, "
            f"{count(run.data.removed)} removed{changed}"
        )
        blocks.append(Facts((("Rows of the source since the version before", text),)))
    for comparison in run.history:
        blocks += _report_together(comparison)
    return Section(
        "versions",
        "Versions",
        "Every version that was published under this name. Who keeps an old version and gets a new one can compare "
        "them.",
        tuple(blocks),
        (
            ("k reached", "The smallest class of the version; the highest risk is 1 / the fewest rows or persons."),
            ("published, replaced, withdrawn", "What readers see now; what they saw before; what was taken back."),
            (
                "rows in groups below the policy",
                "Rows that two versions together set apart in groups that do not meet the policy.",
            ),
        ),
    )


def _trend(entries: Sequence[Entry]) -> list[Block]:
    """How the risk and the loss went over the versions; of one version there is no trend."""
    runs = [(entry.version, RunReport.from_dict(entry.report)) for entry in entries]
    if len(runs) < 2:
        return []
    rows = []
    for version, run in runs:
        risks = read_measured_risk(run)
        highest, every = risks.highest(), risks.highest("published")
        rows.append(
            (
                str(version),
                "-" if highest is None else count(run.min_class),
                "-" if highest is None else share(highest, 1),
                "-" if every is None else share(every, 1),
                "-" if risks.marketer is None else share(risks.marketer, 1),
                f"{run.gcp:.4f}",
                count(run.suppressed),
            )
        )
    head = ">version | >k reached | >highest risk | >with every published column | >mean risk | >GCP | >rows suppressed"
    return [make_table("Risk and loss over the versions", head, rows)]


def _attacks(attacks: Sequence[KeptAttacks]) -> list[Block]:
    """How attacks went over the versions; the last ones of each version."""
    rows = [
        (
            str(measured.version),
            measured.made_at[:10],
            count(measured.known),
            f"{count(measured.drawn)} of {count(measured.published)}",
            *("-" if risk is None else share(risk, 1) for risk in (measured.found, measured.found_highest)),
            *("-" if risk is None else share(risk, 1) for risk in (measured.learned, measured.learned_highest)),
            "yes" if measured.held else "NO",
        )
        for measured in sorted({attack.version: attack for attack in attacks}.values(), key=lambda entry: entry.version)
    ]
    head = (
        ">version | on | >columns known | >victims compared | >row found, mean | >highest | >value learned, mean | "
        ">highest | as promised"
    )
    failed = frozenset(index for index, row in enumerate(rows) if row[-1] == "NO")
    return [make_table("Attacks over the versions", head, rows, failed)] if rows else []


def _report_together(history: HistoryReport) -> list[Block]:
    if history.unknown:
        return [Text(f"Versions {history.old} and {history.new} cannot be compared: {history.unknown}", warning=True)]
    rows = [
        (
            name,
            count(sets.rows),
            count(sets.groups),
            "-" if sets.smallest is None else count(sets.smallest),
            "-" if sets.l is None else measure(sets.l),
            count(sets.failing),
        )
        for name, sets in (("arrived", history.arrived), ("left", history.left), ("are in both", history.common))
    ]
    where, least = (
        ("with fewer candidates than k", "fewest candidates")
        if history.candidates
        else ("in groups below the policy", "smallest")
    )
    title = f"Versions {history.old} and {history.new} together: {count(history.failing)} rows {where}"
    blocks: list[Block] = [
        make_table(title, f"rows that | >rows | >groups | >{least} | >least l | >below the policy", rows)
    ]
    if history.not_measured:
        blocks.append(Text(f"Not measured: {history.not_measured}", warning=True))
    return blocks
