"""The table of synthetic rows of a version of noisy statistics: written, verified, and described."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.engines.base import TableRef
from sqlanon.noisy.rows import compare_rows, draw_table, list_paid_tables, load_labels, measure_name
from sqlanon.noisy.shape import Shape
from sqlanon.noisy.split import Noise
from sqlanon.release.catalog.views import synthetic_of
from sqlanon.release.stages.work import Work
from sqlanon.results import RunReport, SyntheticReport


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """Synthetic rows of a version.

    Attributes:
        work: the release.
        shape: the measurements, with the pairs of columns that were chosen.
        noise: the noise of the release.
        drawn: the stored noisy numbers.
    """

    work: Work
    shape: Shape
    noise: Noise
    drawn: TableRef

    def write(self, place: TableRef) -> None:
        """Draw them of the stored numbers, into the second table of a place."""
        columns = self.work.state.source.columns
        draw_table(self.work.scratch, self.shape, self.drawn, columns, synthetic_of(place))

    def verify(self, place: TableRef, report: RunReport) -> RunReport:
        """Compare them with the noisy tables by SQL; the report says how far they are.

        Raises:
            PrivacyViolation: rows are in no declared group, or differ from a table by more than its noise.
        """
        scratch, of_rows = self.work.scratch.beside(), self.shape.spec.of_rows
        noisy_report, shown = report.noisy, self.work.target.shown_synthetic
        assert of_rows is not None
        assert noisy_report is not None
        assert shown is not None
        kinds = {column.name.lower(): column.kind for column in self.work.state.source.columns}
        with scratch:
            labels = load_labels(scratch, self.shape.groups, kinds, of_rows.bins)
            rows = compare_rows(
                scratch,
                measure_name(self.shape),
                list_paid_tables(self.shape, self.noise),
                (synthetic_of(place), self.drawn),
                labels,
            )
        synthetic = SyntheticReport(
            view=shown,
            rows=rows[0].rows,
            target=of_rows.target,
            pairs=of_rows.pairs,
            chosen=of_rows.chosen,
            apart=tuple(row.mean for row in rows),
            most=tuple(row.most for row in rows),
        )
        return replace(report, noisy=replace(noisy_report, synthetic=synthetic))
