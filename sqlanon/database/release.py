"""A release that was just made, and the ways to ask about it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.database.export import check_file, frame_of, write
from sqlanon.declared import FORMATS
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.views import sensitive_of, spell_table, view_of
from sqlanon.results import AuditReport, LossReport, RunReport
from sqlanon.results.figures import format_rows
from sqlanon.spec import ReleaseSpec
from sqlanon.workload_spec import WorkloadSpec

if TYPE_CHECKING:
    from sqlanon.database.readable import ReadableDatabase
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.answer import Answer


class Release:
    """A release that was just made: the report, and ways to ask about the release."""

    def __init__(self, database: ReadableDatabase, spec: ReleaseSpec, report: RunReport) -> None:
        self._database = database
        self.spec = spec
        self.report = report

    def __repr__(self) -> str:
        """Place, rows, classes and smallest class."""
        report = self.report
        return (
            f"<{type(self).__name__} {report.release} version {report.version}: {format_rows(report.rows)} in "
            f"{report.classes} class{'es' * (report.classes != 1)} of at least "
            f"{report.min_class}, format {self.spec.format.kind}, in {report.published}>"
        )

    def _repr_html_(self) -> str:
        """The report, for notebooks."""
        return self.report._repr_html_()

    def loss(self) -> LossReport:
        """Information loss, as measured when the release was made."""
        return self.report.loss

    def audit(self) -> AuditReport:
        """Audit the published view against the policy, now; it may be in another file."""
        engine = self._database.engine
        return self._database.audit(spell_table(view_of(engine, self.spec)), spec=self.spec)

    def evaluate(self, workload: str | os.PathLike[str] | WorkloadSpec | None = None) -> Evaluation:
        """Measure how well this release answers for the source; see `Database.evaluate`."""
        return self._database.evaluate(self.spec.name, workload)

    def query(self, sql: str, *, allow_linking: bool = False, interval: float | None = None) -> Answer:
        """Ask this release in SQL, whatever the query calls it; see `Database.query`.

        Raises:
            PolicyError: the release went to another file; connect to it and ask it there.
        """
        if self.spec.publish_file:
            raise PolicyError(f"the release is in {self.spec.publish_file}: sqlanon.connect to it and ask it there")
        view = spell_table(view_of(self._database.engine, self.spec))
        return self._database.query(sql, release=view, allow_linking=allow_linking, interval=interval)

    def to_arrow(self, *, sensitive: bool = False) -> Any:  # noqa: ANN401 - of a library that is not imported here
        """The published rows as a ``pyarrow.Table``: of the version that is published now.

        Args:
            sensitive: of format anatomy, the table of sensitive values in place of the rows.

        Raises:
            PolicyError: there is no such table, or such a frame cannot hold every value of a column.
            PrivacyViolation: the frame that was made differs from the published rows.
            UnsupportedError: pyarrow is not installed.
        """
        return self._frame("arrow", sensitive=sensitive)

    def to_pandas(self, *, sensitive: bool = False) -> Any:  # noqa: ANN401
        """The published rows as a ``pandas.DataFrame``; see `to_arrow`, and docs/frames.md for the types."""
        return self._frame("pandas", sensitive=sensitive)

    def to_polars(self, *, sensitive: bool = False) -> Any:  # noqa: ANN401
        """The published rows as a ``polars.DataFrame``; see `to_arrow`, and docs/frames.md for the types."""
        return self._frame("polars", sensitive=sensitive)

    def write(self, path: str | os.PathLike[str], *, escape_formulas: bool = False) -> tuple[str, ...]:
        """Write the published rows to a CSV or Parquet file.

        The file appears after it was read back and found equal to the rows; an older file is replaced.

        Facts that readers of the file must know are a Python warning.

        Args:
            path: the file.
            escape_formulas: of a CSV file: write a ' before each cell that a spreadsheet takes for a formula.

        Returns:
            The files: of format anatomy also that of the sensitive values, ``out_sensitive.csv`` beside ``out.csv``.

        Raises:
            PolicyError: the file has another ending, the folder is missing, or it cannot hold every value of a column.
            PrivacyViolation: the rows read back differ from the published rows.
            DatabaseError: the file cannot be written.
        """
        target = Path(path)
        check_file(target, escape_formulas=escape_formulas)
        view = view_of(self._database.engine, self.spec)
        files = {view: target}
        if self._paired:
            files[sensitive_of(view)] = target.with_name(f"{target.stem}_sensitive{target.suffix}")
        sensitive = [column.name for column in self.spec.with_role("sensitive")]
        for line in write(
            self._database.engine, files, self.spec.publish_file, sensitive=sensitive, escape_formulas=escape_formulas
        ):
            warnings.warn(line, stacklevel=2)
        return tuple(str(file) for file in files.values())

    @property
    def _paired(self) -> bool:
        return FORMATS[self.spec.format.kind].paired

    def _frame(self, kind: Literal["pandas", "polars", "arrow"], *, sensitive: bool = False) -> object:
        if sensitive and not self._paired:
            raise PolicyError("sensitive: format anatomy alone publishes a second table")
        view = view_of(self._database.engine, self.spec)
        return frame_of(self._database.engine, sensitive_of(view) if sensitive else view, kind, self.spec.publish_file)
