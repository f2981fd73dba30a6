"""The part of a connected database that measures tables and releases: privacy, risk, disclosure, accuracy."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.database.connection import ConnectedDatabase, read_workload, to_sequence
from sqlanon.database.hierarchy_tables import with_tables
from sqlanon.errors import PolicyError
from sqlanon.release.audit.audit import audit
from sqlanon.release.audit.place import find_table, is_release, open_place
from sqlanon.release.audit.two_releases import audit_together
from sqlanon.release.catalog.entry import refuse_counts
from sqlanon.release.history.history import audit_history
from sqlanon.release.verify.persons import open_counted_rows
from sqlanon.results import (
    AttackReport,
    AuditReport,
    CandidatesReport,
    ControlReport,
    HistoryReport,
    IdentifyingReport,
    KnownReport,
    RiskReport,
    TogetherReport,
)
from sqlanon.risk import (
    THRESHOLD,
    VALUE,
    AssessedColumns,
    Population,
    assess,
    class_sizes,
    identify,
    measure_known,
    of_persons,
)
from sqlanon.spec import ReleaseSpec
from sqlanon.workload_spec import WorkloadSpec

if TYPE_CHECKING:
    from sqlanon.evaluate.levels import Levels
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.counts.published_tables import CountsSpelling
    from sqlanon.results.counts import CountsAttackReport
    from sqlanon.results.disclosure import DisclosureReport


class MeasurableDatabase(ConnectedDatabase):
    """A connected database with tables and releases to audit, attack and evaluate."""

    def audit(
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        spec: ReleaseSpec | None = None,
    ) -> AuditReport:
        """Measure k, l and risk of any table, or of a release by name; see `sqlanon.release.audit.audit.audit`."""
        return audit(
            self.engine,
            find_table(self.engine, table),
            quasi=to_sequence(quasi),
            sensitive=to_sequence(sensitive) or (),
            identifiers=to_sequence(identifiers) or (),
            spec=None if spec is None else with_tables(self.engine, spec),
        )

    def assess(  # noqa: PLR0913 - keywords of the public interface
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        household: Sequence[str] = (),
        weight: str | None = None,
        population: str | None = None,
        population_size: int | None = None,
        threshold: float = THRESHOLD,
        null_is: str = VALUE,
    ) -> RiskReport:
        """Measure every privacy model and the risk of any table, without a policy; see `sqlanon.risk.assess.assess`.

        ``weight``, ``population`` and ``population_size`` describe the population: `sqlanon.risk.assess.Population`.
        ``null_is="wildcard"`` is refused for a release of this database: the values that NULL and ``*`` cover there are
        known. Of a release that may have several rows of a person the prosecutor counts persons, by the private tables,
        unless ``identifiers`` name others.
        """
        if null_is != VALUE and is_release(self.engine, table):
            raise PolicyError(
                f"audit {table}: {null_is} is for tables of others; this is a release, in which * is a value of its own"
            )
        with open_place(self.engine, table, None) as place:
            if place.entry is not None:
                purpose = "audit checks its certificate, and it has no rows whose risk could be measured"
                refuse_counts(place.entry, purpose)
        known_population = Population(population, population_size, weight)
        risk = assess(
            self.engine,
            table,
            AssessedColumns(
                to_sequence(quasi),
                to_sequence(sensitive) or (),
                to_sequence(identifiers) or (),
                to_sequence(household) or (),
            ),
            population=known_population,
            threshold=threshold,
            null_is=null_is,
        )
        if identifiers or risk.prosecutor is None:
            return risk
        with (
            open_place(self.engine, table, None) as place,
            open_counted_rows(self.engine, place.entry) as counted_tables,
        ):
            if counted_tables is None:
                return risk
            if known_population.known:
                raise PolicyError(
                    f"audit {table}: a population is compared with rows that are persons, and a person may have "
                    "several rows of this release; leave the population out"
                )
            if household:
                raise PolicyError(
                    f"audit {table}: a person may have several rows of this release, and no column says which; the "
                    "risk of households is measured of its source, with identifiers"
                )
            rows, persons = counted_tables
            return of_persons(risk, class_sizes(self.engine, rows, ("class",), persons))

    def find_quasi(
        self, table: str, columns: Sequence[str] | None = None, *, left_out: Sequence[str] = ()
    ) -> IdentifyingReport:
        """How well sets of columns of any table distinguish rows; see `sqlanon.risk.identifying_columns.identify`."""
        return identify(self.engine, table, to_sequence(columns), to_sequence(left_out) or ())

    def known(
        self, table: str, most: int, columns: Sequence[str] | None = None, *, left_out: Sequence[str] = ()
    ) -> KnownReport:
        """Disclosures of any table by up to ``most`` known columns; see `sqlanon.risk.known_columns.measure_known`."""
        return measure_known(self.engine, table, most, to_sequence(columns), to_sequence(left_out) or ())

    def together(self, first: str, second: str) -> TogetherReport:
        """Measure the k and l that remain when a reader holds two releases of one source."""
        return audit_together(self.engine, first, second)

    def audit_statistics(
        self,
        tables: Sequence[str] | Mapping[str, str],
        spelling: CountsSpelling | None = None,
        *,
        persons: int | None = None,
        seconds: int = 300,
    ) -> DisclosureReport:
        """Disclosures of hidden cells to readers of published tables of counts; see `audit_tables`.

        Args:
            tables: names of tables, or of releases of counts; a mapping gives the name of each in the report.
            spelling: spelling of counts in tables of others.
            persons: numbers below it are small.
            seconds: after them intervals are wider, and count as undecided.
        """
        from sqlanon.query.counts.disclosure import audit_tables
        from sqlanon.query.counts.published_tables import CountsSpelling

        until = time.monotonic() + seconds
        table_of_name = tables if isinstance(tables, Mapping) else {table: table for table in tables}
        names = {name: find_table(self.engine, table) for name, table in table_of_name.items()}
        return audit_tables(self.engine, names, spelling or CountsSpelling(), persons, lambda: until - time.monotonic())

    def history(self, release: str) -> tuple[HistoryReport, ...]:
        """Joint disclosures of every version of a release and the version before; needs a key in the policy."""
        return audit_history(self.engine, release)

    def evaluate(
        self, release: str | None = None, workload: str | os.PathLike[str] | WorkloadSpec | None = None
    ) -> Evaluation:
        """Measure how well a release answers for the source; see `sqlanon.evaluate.run.evaluate`.

        Args:
            release: name or view of the release; None: the only release.
            workload: a workload file or a `WorkloadSpec`; None: generators that fit any release.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.evaluate.run import evaluate

        spec = read_workload(workload)
        return evaluate(self.engine, release, spec, self._progress)

    def hierarchy(self, release: str, column: str) -> Levels:
        """The levels of a quasi column's hierarchy, with the source's rows in every node.

        The result is for the owner: nodes are values.

        Args:
            release: name or view of the release.
            column: the column's name in the source.

        Raises:
            PolicyError: no such release, or the column has no hierarchy.
        """
        from sqlanon.evaluate.levels import read_levels

        return read_levels(self.engine, release, column)

    def attack(
        self, release: str | None = None, *, known: Sequence[str] | None = None, victims: int | None = None
    ) -> AttackReport | CountsAttackReport:
        """Results of attacks on a release with values of the source; see `sqlanon.attack.attack.attack`.

        Of a release of counts: findings about small cells; see `sqlanon.attack.counts.attack_counts`.

        Args:
            release: name or view of the release; None: the only release.
            known: quasi columns of which an attacker may know any set, at most 10; None: all.
            victims: published victims that are compared at most, drawn at random; None: all, or as many as take some 20
                seconds. Of counts: insiders who are tried.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.attack import attack, attack_counts, find_counts

        entry = find_counts(self.engine, release)
        if entry is not None:
            if known:
                raise PolicyError("attack: --known is of columns of rows; a release of counts has none")
            return attack_counts(self.engine, entry, insiders=victims, progress=self._progress)

        return attack(self.engine, release, known=to_sequence(known), victims=victims, progress=self._progress)

    def compare(
        self,
        specs: Sequence[ReleaseSpec],
        *,
        control: float = 0.2,
        seed: int | None = None,
        target: str | None = None,
        workload: str | os.PathLike[str] | WorkloadSpec | None = None,
    ) -> CandidatesReport:
        """Candidate releases of one source side by side; see `sqlanon.attack.candidates.compare_candidates`.

        Publishes nothing.
        """
        from sqlanon.attack.candidates import ComparisonSettings, compare_candidates

        releases = [with_tables(self.engine, spec) for spec in specs]
        options = ComparisonSettings(control, seed, target, read_workload(workload))
        return compare_candidates(self.engine, releases, self._machine, options, self._progress)

    def attack_with_control(
        self,
        spec: ReleaseSpec,
        share: float = 0.2,
        *,
        sets: Sequence[Sequence[str]] | None = None,
        seed: int | None = None,
    ) -> ControlReport:
        """Try a release in scratch on a part of the persons, and attack them and the others.

        See `sqlanon.attack.control.run.attack_with_control`. Publishes nothing.
        """
        from sqlanon.attack.control.run import attack_with_control

        spec = with_tables(self.engine, spec)
        return attack_with_control(
            self.engine, spec, self._machine, share, sets=sets, seed=seed, progress=self._progress
        )
