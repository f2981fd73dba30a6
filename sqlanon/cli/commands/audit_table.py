"""Measures of one table for ``sqlanon audit``: choice of columns, the audit and the risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.cli.options import first_option
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.results import AuditReport, IdentifyingReport, KnownReport, RiskReport
    from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True)
class AskedColumns:
    """The options that choose the columns to look at."""

    quasi: tuple[str, ...] | None
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    about: dict[str, Any]
    sets: ColumnSets | None = None


@dataclass(frozen=True)
class ColumnSets:
    """The options that measure sets of columns in place of the table's classes."""

    find_qi: bool
    known: int | None

    def check(self, table: str | None, about: dict[str, Any]) -> None:
        """Refuse arguments that do not go with them."""
        name = "--find-qi" if self.find_qi else "--known"
        if self.find_qi and self.known is not None:
            raise PolicyError("--find-qi and --known each measure sets of columns; give one of them")
        if table is None:
            raise PolicyError(f"{name} goes with a TABLE or a file")
        if about:
            raise PolicyError(f"{name} measures columns alone; leave {first_option(about)} out")

    def measure(self, connected: Database, table: str, columns: AskedColumns) -> IdentifyingReport | KnownReport:
        """The sets of the columns of --qi, or of all but those of --sensitive and --identifier."""
        left_out = () if columns.quasi else (*columns.sensitive, *columns.identifiers)
        if self.known is not None:
            return connected.known(table, self.known, columns.quasi, left_out=left_out)
        return connected.find_quasi(table, columns.quasi, left_out=left_out)

    def show(self, screen: Screen, report: IdentifyingReport | KnownReport) -> int:
        """Print a report of `measure`."""
        screen.emit(report.to_dict())
        if not screen.silent:
            from sqlanon.cli.show.known_columns import known_report
            from sqlanon.cli.show.risk import identifying_report
            from sqlanon.results import IdentifyingReport

            if isinstance(report, IdentifyingReport):
                identifying_report(screen, report)
            else:
                known_report(screen, report)
        return 0


def audit_file(screen: Screen, path: str, columns: AskedColumns, read: dict[str, Any], policy: Path | None) -> int:
    """Audit a file, as a table of an in-memory database; returns the exit code."""
    from sqlanon.database import open_file

    if policy is not None:
        raise PolicyError(f"{path} is a file, and a policy is for tables of a database; leave -p out")
    about = dict(columns.about)
    with open_file(path, population=about.pop("population", None), progress=screen.progress(), **read) as file:
        connected, name, people = file.database, file.table, file.population
        screen.warn(file.notes)
        if columns.sets is not None:
            identifying = replace(columns.sets.measure(connected, name, columns), table=path)
            screen.close()
            return columns.sets.show(screen, identifying)
        columns = replace(columns, about=about | ({"population": people} if people else {}))
        report = replace(measure_table(connected, name, columns, None), table=path)
        risk = replace(assess_risk(connected, name, report, columns), table=path)
    screen.close()
    return show_reports(screen, report, risk)


def measure_table(connected: Database, table: str, columns: AskedColumns, spec: ReleaseSpec | None) -> AuditReport:
    """The audit of a table, or of the release that it is."""
    return connected.audit(
        table, quasi=columns.quasi, sensitive=columns.sensitive, identifiers=columns.identifiers, spec=spec
    )


def assess_risk(connected: Database, table: str, report: AuditReport, columns: AskedColumns) -> RiskReport:
    """The figures over the columns that the audit found."""
    sensitive = [column.column for column in report.sensitive]
    return connected.assess(
        table, quasi=report.quasi, sensitive=sensitive, identifiers=columns.identifiers, **columns.about
    )


def show_reports(screen: Screen, report: AuditReport, risk: RiskReport | None, warned: Sequence[str] = ()) -> int:
    """Print the audit and the risk; returns the exit code."""
    more = {"warnings": list(warned)} if warned else {}
    screen.emit(report.to_dict() | {"risk": risk.to_dict() if risk else None} | more)
    if not screen.silent:
        from sqlanon.cli.show.audit import audit_report
        from sqlanon.cli.show.risk import risk_report

        audit_report(screen, report)
        if risk:
            risk_report(screen, risk)
    return 0 if report.satisfied else 1
