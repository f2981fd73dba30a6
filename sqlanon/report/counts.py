"""The reports of a release of counts: cells, readers' findings about hidden cells, and for the owner the proofs."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING

from sqlanon.progress import Progress, SilentProgress
from sqlanon.query.counts.disclosure import audit_tables
from sqlanon.query.counts.published_tables import CountsSpelling
from sqlanon.release.audit import audit as auditing
from sqlanon.release.audit.audit_pair import facts_beside
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.document import Block, Facts, Page, Section, Table, make_table
from sqlanon.report.settings import report_settings
from sqlanon.results.figures import count, measure, share

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine, Relation
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.results.counts import CountsAttackReport
    from sqlanon.results.disclosure import DisclosureReport, FoundCell

SECONDS = 120
"""For the intervals of hidden cells; after them some are wider, and the report says of how many."""
CHECKED = {
    "suppress": "Checked now, by sums of the written tables: for each small cell there are tables that agree with all "
    "shown cells, in which it has its least number, and the number of persons that is asked.",
    "round": "Checked now, by sums of the written tables: numbers are multiples of the base and add up, and for each "
    "small cell there are tables that agree with all, in which it has its least number, and one less than asked.",
    "cell_key": "Checked now, by sums of the written tables: each number has the noise of its persons by the chances "
    "of the policy. Nothing is promised of small cells.",
}
"""What an audit checks, by the method."""
READERS = {
    "naive": "readers, if small cells alone were hidden",
    "outsider": "readers of the view",
    "versions": "readers of all versions, of newcomers",
    "rows": "readers of the rows as well",
    "insider": "persons who are alone in a cell",
    "averaging": "readers who fit numbers that add up, and round them",
}
SUM_READERS = {
    "naive": "readers, if sensitive cells alone were hidden",
    "outsider": "readers of the view",
    "rows": "readers of the rows as well",
    "contributor": "contributors, who look for persons that dominate",
}
"""Names of the kinds of readers."""
FOUND = ("found", "The least is the greatest: the number follows from the published cells.")
READING = {
    "hidden": (
        (
            "hidden",
            "A cell without a number: it is small, or it would give a small one away. Readers do not see which.",
        ),
        (
            "interval",
            "The least and the greatest number of a hidden cell, over all tables that agree with the shown ones.",
        ),
        FOUND,
    ),
    "rounded": (
        ("rounded", "A cell with a multiple of the base, less than the base away from its number."),
        ("interval", "The least and the greatest number of a cell, over all tables that are so near to all multiples."),
        FOUND,
    ),
    "perturbed": (
        ("perturbed", "A cell whose number has noise, or is rounded by a published rule."),
        ("interval", "The least and the greatest number of a cell, over all tables within the bounds of all numbers."),
        FOUND,
    ),
}
"""Words of the reports, by the status of cells."""


def counts_for_readers(engine: Engine, view: Relation) -> Page:
    """The report of a release of counts, from tables that its readers may read.

    Args:
        engine: any connection that may read the view and its metadata.
        view: the view.

    Cost: two linear programs for each hidden cell, at most.
    """
    facts = facts_beside(engine, view.ref)
    disclosure = _disclose(engine, view)
    return Page(
        release=str(facts.get("release", "")),
        version=int(facts.get("version", 0)),
        confidential=False,
        summary=(("view", str(view.ref)), *_summary(disclosure)),
        sound=disclosure.satisfied,
        sections=(_describe_policy(facts["statistics"]), _by_columns(disclosure), _intervals(disclosure)),
    )


def counts_for_owner(engine: Engine, entry: Entry, progress: Progress | None = None, *, attack: bool = False) -> Page:
    """The report of the published version of a release of counts.

    Args:
        engine: the database of the source, with the rights of the owner.
        entry: the version.
        progress: gets the parts.
        attack: look for small cells as `sqlanon.attack.counts` does as well.

    Raises:
        PrivacyViolation: the certificate fails.
        DatabaseError: the database refused.
    """
    assert entry.view is not None
    reporter = progress or SilentProgress()
    view = engine.relation(spell_table(entry.view))
    reporter.stage(entry.release, "certificate")
    audited = auditing.audit(engine, spell_table(entry.view))
    reporter.stage(entry.release, "intervals")
    disclosure = _disclose(engine, view)
    proved = [
        (requirement.name, measure(requirement.asked), measure(requirement.reached), "met")
        for requirement in audited.requirements
    ]
    sections = [
        Section(
            "asked",
            "What was asked, and what was reached",
            CHECKED[entry.report["method"]],
            (make_table("Requirements", "requirement | >asked | >reached | result", proved),),
        ),
        _by_columns(disclosure),
        _intervals(disclosure),
    ]
    if attack:
        from sqlanon.attack import attack_counts

        sections.append(_attacks(attack_counts(engine, entry, progress=reporter)))
    sections.append(report_settings(entry.policy, entry.policy_hash))
    reporter.finish(entry.release)
    return Page(
        release=entry.release,
        version=entry.version,
        confidential=True,
        summary=(
            ("published as", str(entry.view)),
            ("made of", entry.source),
            ("published", f"{entry.published_at} by {entry.published_by}, sqlanon {entry.sqlanon}"),
            *_summary(disclosure),
        ),
        sound=audited.satisfied and not disclosure.contradictions,
        sections=tuple(sections),
    )


def _disclose(engine: Engine, view: Relation) -> DisclosureReport:
    until = time.monotonic() + SECONDS
    return audit_tables(
        engine, {str(view.ref): spell_table(view.ref)}, CountsSpelling(), None, lambda: until - time.monotonic()
    )


def _summary(report: DisclosureReport) -> tuple[tuple[str, str], ...]:
    cells = sum(table.cells for table in report.tables)
    return (
        ("cells", count(cells)),
        (report.status, f"{count(report.hidden)} different cells"),
        ("of them found by readers", count(report.exact)),
    )


def _describe_policy(policy: object) -> Section:
    rows = [(key, str(value)) for key, value in sorted(_flat("", policy))]
    table = make_table("Rules", "rule | value", rows)
    return Section("asked", "The rules", "As the metadata of the view have them.", (table,))


def _flat(path: str, value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _flat(f"{path}.{key}".lstrip("."), item)]
    return [(path, json.dumps(value) if isinstance(value, list) else value)]


def _by_columns(report: DisclosureReport) -> Section:
    status, hidden = report.status, Counter(" x ".join(cell.values) or "the grand total" for cell in report.found)
    tables = [
        (table.table, count(table.cells), count(table.hidden), share(table.hidden, table.cells))
        for table in report.tables
    ]
    margins = [(name, count(hidden[name])) for name in sorted(hidden, key=lambda name: (name.count(" x "), name))]
    return Section(
        "cells",
        "Cells",
        f"How many cells each table has, and which are {status}.",
        (
            make_table("Cells of the tables", f"table | >cells | >{status} | >share", tables),
            make_table(f"{status.capitalize()} cells by their columns", f"columns | >{status}", margins),
        ),
        READING[status][:1],
    )


def _intervals(report: DisclosureReport) -> Section:
    widths = Counter(_width(cell) for cell in report.found)
    rows = [(name, count(widths[name])) for name in WIDTHS if widths[name]]
    blocks: list[Block] = [
        make_table("Widths of the intervals", f"numbers that a cell can have | >{report.status} cells", rows)
    ]
    if report.undecided:
        blocks.append(Facts((("intervals that may be narrower", count(report.undecided)),)))
    return Section(
        "intervals",
        "What readers find",
        "Computed from the view alone, by linear programs that integers check.",
        tuple(blocks),
        READING[report.status][1:],
    )


WIDTHS = ("one: it is found", "2 to 5", "6 to 20", "21 to 100", "more than 100", "any: nothing bounds it")


def _width(cell: FoundCell) -> str:
    if cell.high is None:
        return WIDTHS[5]
    many = cell.high - cell.low + 1
    return WIDTHS[sum(many > most for most in (1, 5, 20, 100))]


def _sums(report: CountsAttackReport) -> list[Table]:
    """What readers find of sums."""
    if not report.sums:
        return []
    rows = [
        (
            attack.measure,
            SUM_READERS[attack.name],
            count(attack.sought),
            count(attack.exact),
            count(attack.near),
            ("held" if attack.held else "FOUND") if attack.promised else "",
        )
        for attack in report.sums
    ]
    failed = frozenset(index for index, attack in enumerate(report.sums) if not attack.held)
    head = "sum | reader | >cells or persons | >found | >bounded too closely | verdict"
    return [make_table("What they find of sums", head, rows, failed)]


def _attacks(report: CountsAttackReport) -> Section:
    rows = [
        (
            READERS[attack.name],
            count(attack.readers),
            count(attack.cells),
            count(attack.exact),
            count(attack.below),
            share(attack.guess, 1),
            ("held" if attack.held else "FOUND") if attack.promised else "",
        )
        for attack in report.attacks
    ]
    failed = frozenset(index for index, attack in enumerate(report.attacks) if not attack.held)
    head = "reader | >tried | >small cells | >found | >found to be small | >guessed | verdict"
    return Section(
        "attacks",
        "Attacks",
        f"Readers who look for the {count(report.small)} cells of fewer than {count(report.persons)} persons"
        + (f", new in one of {count(report.versions)} versions." if report.versions else "."),
        (make_table("What they find", head, rows, failed), *_sums(report)),
        (
            ("guessed", "The expected share of right guesses, where each number of an interval is as likely."),
            ("persons who are alone in a cell", "They know its number, and look for the cells next to it."),
        ),
    )
