"""Content of a version of noisy statistics: a stored noisy table to be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import LookupResult, Statement, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.noisy.metadata import metadata_rows
from sqlanon.noisy.published_values import view_columns
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged_versions import warn_of
from sqlanon.release.budget.events import Event
from sqlanon.release.budget.home import copy_here, name_drawn_table
from sqlanon.release.catalog.catalog import now
from sqlanon.release.catalog.collations import mark_collated
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.catalog.rights import reader_warnings
from sqlanon.release.publish.content import Content
from sqlanon.release.stages.work import Work
from sqlanon.release.versions.noisy_rows import SyntheticRows
from sqlanon.results import LossReport, NoisyReport, RunReport

NO_LOSS = LossReport(0, 0, 0, None, 0, 0, 0, 0, 0, 0, 0, {})
"""Statistics have no classes."""


def build_drawn_content(work: Work, reserved: Event, stored: Event) -> Content:
    """Content to publish of a stored noisy table.

    Args:
        work: the release.
        reserved: the event that charged it.
        stored: the event of the stored table, which has the noisy share of a person's rows that is counted (None if it
            was not measured), and the pairs of columns of synthetic rows.
    """
    spec, state, target, scratch = work.spec, work.state, work.target, work.scratch
    engine, noisy = state.engine, spec.noisy
    assert noisy is not None
    shape = shape_of(spec, stored.body.get("pairs"))
    noise = noise_of(shape_of(spec))
    columns = view_columns(shape)
    drawn_statistics = copy_here(scratch, name_drawn_table(engine, noisy.budget.name, reserved), "drawn")
    budget = Budget(engine, noisy.budget)
    budget.look()
    account = budget.account
    assert account is not None
    report = RunReport(
        release=spec.name,
        version=target.version,
        source=str(state.source.ref),
        published=target.shown,
        rows=0,
        suppressed=0,
        classes=0,
        min_class=0,
        max_class=0,
        requirements=(),
        loss=NO_LOSS,
        seconds={},
        verified=False,
        method=noise.law,
        execution="kernel",
        format="statistics",
        columns=tuple(columns),
        warnings=(*reader_warnings(engine, spec, state.source.ref), *warn_of(state)),
        why=work.decision.why,
        replaces=work.decision.replaced,
        noisy=NoisyReport(
            budget=noisy.budget.name,
            epsilon=float(noisy.epsilon),
            delta=float(noisy.budget.delta) if noise.law == "gaussian" else 0.0,
            law=noise.law,
            tables=len(shape.published),
            groups=sum(level.size for table in shape.published for level in table.levels),
            reservation=reserved.seq,
            spent=float(account.spent),
            allowed=float(budget.limits[0]),
            kept=stored.body.get("kept"),
            night=reserved.night,
            nights=noisy.nights,
        ),
    )
    of_rows = SyntheticRows(work, shape, noise, drawn_statistics) if shape.spec.of_rows is not None else None

    def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
        statement = scratch.sql(
            "noisy/view", physical=place, drawn=drawn_statistics, columns=columns, night=reserved.night
        )
        scratch.execute_all([statement, *beside])
        if of_rows is not None:
            of_rows.write(place)

    def verify(place: TableRef, _: LookupResult) -> RunReport:
        night = reserved.night
        if scratch.count("noisy/verify_view", physical=place, drawn=drawn_statistics, columns=columns, night=night):
            raise PrivacyViolation(f"{spec.name}: the written table is not the noisy table that was stored")
        verified = replace(report, verified=True, seconds=work.watch.total())
        return verified if of_rows is None else of_rows.verify(place, verified)

    return Content(
        write,
        verify,
        [],
        lambda: None,
        lambda report: metadata_rows(spec, shape, noise, report, mark_collated(scratch, state.source).columns),
        report,
        SourceState("", tuple((column.name, column.shown_type) for column in state.source.columns), now()),
        0,
        work.secret,
    )
