"""The owner's report: the catalog, the release and the source side by side.

It is confidential, since it shows the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlanon.attack import attack as run_attack
from sqlanon.engines.base import Engine
from sqlanon.errors import LockedError, PolicyError
from sqlanon.evaluate.run import evaluate
from sqlanon.progress import Progress, SilentProgress
from sqlanon.query.find import is_replaced
from sqlanon.query.release import ReaderRelease, read_release
from sqlanon.release.audit import audit as auditing
from sqlanon.release.catalog.approvals import Approvals
from sqlanon.release.catalog.attacks import list_attacks
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry, refuse_counts
from sqlanon.release.catalog.views import spell_table
from sqlanon.release.verify.exposure import count_exposure
from sqlanon.release.verify.stored_rows import columns_in
from sqlanon.release_kind import COUNTS, NOISY, ROWS, ReleaseKind
from sqlanon.report.accuracy import report_accuracy
from sqlanon.report.attacks import report_attacks
from sqlanon.report.compare import choose_columns, compare_release
from sqlanon.report.counts import counts_for_owner
from sqlanon.report.decision import report_decision
from sqlanon.report.distributions import report_distributions
from sqlanon.report.document import Page, Section
from sqlanon.report.loss import report_loss
from sqlanon.report.noisy import noisy_report
from sqlanon.report.requirement_levels import report_asked
from sqlanon.report.risk import TableFigures, risk_section
from sqlanon.report.settings import report_settings
from sqlanon.report.sizes import class_sizes_section
from sqlanon.report.variables import report_variables
from sqlanon.report.versions import report_versions
from sqlanon.results import Exposure, RunReport
from sqlanon.results.figures import count, join_names, measure, share
from sqlanon.risk import AssessedColumns, assess
from sqlanon.risk.sizes import class_sizes
from sqlanon.workload_spec import WorkloadSpec

ELSEWHERE = (
    "The release was published into another file, away from its source: what needs both side by side is not in this "
    "report."
)
OF_CLASSES = "this report describes classes of rows, and it has none; audit checks what it promises"
OWN_BOXES = (
    "Every row has a box of its own, which other rows fit as well: rows do not make classes, and figures of classes "
    "are not measured. What was asked and reached is by the private certificate."
)
TOGETHER = (
    "A person is known by several columns together, which the source's figures do not count: they are of rows. Those "
    "of the release count persons."
)
PAIRED = (
    "The release is two tables: rows with exact values of the columns that could identify somebody, and counts of "
    "sensitive values by group. Who knows a person finds the row; the figures of the groups are those that protect."
)


def owner_report(
    engine: Engine,
    release: str,
    workload: WorkloadSpec | None = None,
    progress: Progress | None = None,
    *,
    attack: bool = False,
) -> Page:
    """Make the report of the published version of a release.

    Args:
        engine: the database of the source, with the rights of the owner.
        release: the release's name or its view.
        workload: queries whose accuracy is measured as well.
        progress: gets the parts.
        attack: run the attacks of `sqlanon.attack` as well.

    Raises:
        PolicyError: no such release is published, or one that cannot be attacked.
        DatabaseError: the database refused.

    Cost: a few groupings of the release and of the source; attacks compare every row of the source with every box.
    """
    entry = _find_any(engine, release)
    return REPORTS[entry.kind](engine, entry, Request(workload, progress or SilentProgress(), attack))


@dataclass(frozen=True, slots=True)
class Request:
    """A report that is asked for: see `owner_report`."""

    workload: WorkloadSpec | None
    reporter: Progress
    attack: bool


def _report_noisy(engine: Engine, entry: Entry, request: Request) -> Page:
    if request.attack:
        raise PolicyError(f"{entry.release}: attacks compare rows, and noisy statistics have none; leave out --attack")
    return noisy_report(engine, entry, request.workload, request.reporter)


def _report_counts(engine: Engine, entry: Entry, request: Request) -> Page:
    if request.workload is not None:
        raise PolicyError(f"{entry.release} has counts: a workload is of queries over rows; leave it out")
    return counts_for_owner(engine, entry, request.reporter, attack=request.attack)


def _report_rows(engine: Engine, entry: Entry, request: Request) -> Page:
    workload, reporter, attack = request.workload, request.reporter, request.attack
    run = RunReport.from_dict(entry.report)
    reporter.stage(entry.release, "risk")
    approvals = Approvals(engine).list(entry.release)
    sections: list[Section] = [report_asked(run), report_decision(entry, run, approvals)]
    exposed = run.exposed
    if entry.view is None:
        if attack:
            raise PolicyError(
                f"{entry.release} was published into another file, away from its source: it cannot be attacked; leave "
                "out --attack"
            )
        sections.append(risk_section(None, None, (ELSEWHERE,)))
        if run.shape.grouped:
            sections.append(class_sizes_section(None, ELSEWHERE))
        sections.append(report_variables(engine, entry.policy, run, None))
    else:
        released = read_release(engine, engine.relation(spell_table(entry.view)))
        exposed = _count_exposure(engine, run, released)
        sections += [*_measure(engine, entry, run, released), report_variables(engine, entry.policy, run, released)]
        sections.append(report_loss(run))
        if attack:
            sections.insert(3, report_attacks(run_attack(engine, entry.release, progress=reporter)))
        reporter.stage(entry.release, "distributions")
        sections.append(_compare(engine, entry, run))
        check_unchanged(engine, released)
    if entry.view is None:
        sections.append(report_loss(run))
    if workload is not None and entry.view is not None:
        sections.append(report_accuracy(evaluate(engine, entry.release, workload, reporter)))
    sections.append(report_versions(Catalog(engine).entries(entry.release), run, list_attacks(engine, entry.release)))
    sections.append(report_settings(entry.policy, entry.policy_hash))
    reporter.finish(entry.release)
    return Page(
        release=entry.release,
        version=entry.version,
        confidential=True,
        summary=(*_risk(run, exposed), *_summary(entry, run)),
        sound=all(requirement.satisfied for requirement in run.requirements),
        sections=tuple(sections),
        warning=(exposed.warning(_read_k(entry)) or "") if exposed else "",
    )


REPORTS: Mapping[ReleaseKind, Callable[[Engine, Entry, Request], Page]] = {
    ROWS: _report_rows,
    COUNTS: _report_counts,
    NOISY: _report_noisy,
}
"""The owner's report of each kind of releases."""


def _count_exposure(engine: Engine, run: RunReport, released: ReaderRelease) -> Exposure | None:
    """The risk with every published column, counted now.

    None if no column is published as it is, or rows do not make classes.
    """
    if not run.shape.grouped or released.group is not None:
        return None
    exact = [
        (field.name, field.name)
        for field in released.fields
        if field.role == "insensitive" and field.name in {column.name for column in released.view.columns}
    ]
    return count_exposure(engine, released.view.ref, list(released.group_columns), exact)


def _read_k(entry: Entry) -> int:
    return int(entry.policy["privacy"].get("k") or 1)


def _risk(run: RunReport, exposed: Exposure | None) -> tuple[tuple[str, str], ...]:
    """The highest risk first: with every published column."""
    if not run.shape.grouped or not run.min_class:
        return ()
    highest = share(1, run.min_class)
    if exposed is None or not exposed.columns:
        return (("highest risk of being found", highest),)
    return (
        ("highest risk of being found, with every published column", share(1, max(exposed.k, 1))),
        (f"without what is published as it is ({join_names(exposed.columns)})", highest),
    )


def check_unchanged(engine: Engine, released: ReaderRelease) -> None:
    """All that was read is of one version.

    Raises:
        LockedError: another one was published meanwhile.
    """
    if is_replaced(engine, released, unreadable=True):
        raise LockedError(
            f"{released.view.ref}: another version was published while the report was made; make it again"
        )


def find_described(engine: Engine, release: str) -> Entry:
    """The published version of the name or the view, of a release of rows or of counts.

    Raises:
        PolicyError: there is none.
        UnsupportedError: it has noisy statistics.
    """
    entry = _find_any(engine, release)
    if entry.kind.charged:
        refuse_counts(entry, OF_CLASSES)
    return entry


def _find_any(engine: Engine, release: str) -> Entry:
    catalog = Catalog(engine)
    entry = catalog.find_published(release)
    if entry is None:
        raise PolicyError(
            f"{release} is neither a published release nor the view of one; there are: {catalog.list_published_names()}"
        )
    return entry


def _summary(entry: Entry, run: RunReport) -> tuple[tuple[str, str], ...]:
    numbers = {"classes": count(run.classes), "least": count(run.min_class), "most": count(run.max_class)}
    return (
        ("published as", run.published),
        ("made of", entry.source),
        ("published", f"{entry.published_at} by {entry.published_by}, sqlanon {entry.sqlanon}"),
        (
            "rows of the source" if run.facts else "rows",
            count(run.rows) + (f", {count(run.left_out)} of them left out" if run.left_out else ""),
        ),
        *run.facts.items(),
        *((title, text.format(**numbers)) for title, text in run.shape.facts),
        ("loss (GCP)", measure(float(f"{run.gcp:.4g}")) if run.loss.rce is None else "columns are exact"),
        ("method, format", f"{run.method}, {run.format}"),
    )


def _measure(engine: Engine, entry: Entry, run: RunReport, released: ReaderRelease) -> list[Section]:
    """Risk and sizes of classes."""
    view = spell_table(released.view.ref)
    quasi = [field.name for field in released.fields if field.role == "quasi"]
    sensitive = [field.name for field in released.fields if field.role == "sensitive"]
    persons, notes = _persons(entry)
    before = TableFigures(assess(engine, entry.source, AssessedColumns(quasi, sensitive, persons)))
    if not run.shape.grouped:
        return [risk_section(before, None, (OWN_BOXES,))]
    groups = list(released.group_columns)
    if released.group is not None:
        exact = [name for field in released.fields if field.role == "quasi" for name in field.published]
        after = TableFigures(assess(engine, view, AssessedColumns(exact)))
        return [
            risk_section(before, after, (PAIRED,)),
            class_sizes_section(class_sizes(engine, released.view.ref, groups)),
        ]
    shown = [column.name for column in released.view.columns if column.name in sensitive]
    after = TableFigures(assess(engine, view, AssessedColumns(groups, shown)), auditing.audit(engine, view))
    return [risk_section(before, after, notes), class_sizes_section(class_sizes(engine, released.view.ref, groups))]


def _compare(engine: Engine, entry: Entry, run: RunReport) -> Section:
    try:
        losses = {name: float(lost.get("ncp", 0.0)) for name, lost in run.loss.columns.items()}
        columns = choose_columns(engine, entry.release, losses)
        unshown = sum(column["role"] == "quasi" for column in entry.policy["columns"]) - len(columns)
        return report_distributions(*compare_release(engine, entry.release, columns), others=unshown)
    except PolicyError as error:
        return report_distributions((), (), str(error))


def _persons(entry: Entry) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the source that identify persons, each alone, and a note where only several together do."""
    persons = columns_in(entry.policy).values()
    if any(len(columns) > 1 for columns in persons):
        return (), (TOGETHER,)
    return tuple(columns[0] for columns in persons), ()
