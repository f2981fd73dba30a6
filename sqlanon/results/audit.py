"""Reports on a table, or on two releases together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlanon.results import notebook
from sqlanon.results.base import Report, RequirementResult, requirements_html
from sqlanon.results.figures import count, measure, share


@dataclass(frozen=True, slots=True)
class SensitiveAudit:
    """l of a sensitive column over the classes: smallest distinct count, smallest rows / most frequent."""

    column: str
    distinct_l: int
    frequency_l: float


@dataclass(frozen=True, slots=True)
class LoweringColumn:
    """A column that is no part of the classes, and the smallest class if it were a further part."""

    column: str
    k: int


@dataclass(frozen=True, slots=True)
class GroupAudit:
    """The groups of format anatomy: rows that share the sensitive values that ``table`` counts.

    ``disagreeing``: groups of which the two tables do not hold the same number of rows.
    """

    table: str
    groups: int
    smallest: int
    largest: int
    disagreeing: int


@dataclass(frozen=True, slots=True)
class AuditReport(Report):
    """Figures of a table grouped by the quasi columns. Risks are prosecutor risks, 1 / the fewest persons of a class.

    Where no identifier is counted every row is a person; of several identifiers the one with the fewest values in a
    class counts.

    Attributes:
        quasi: the columns that made the classes; ``left_out`` the others that are not sensitive.
        k: the smallest class; ``k_all`` the same over every column but the sensitive ones.
        lowering: the left-out columns that alone make k lower, each with k over the quasi columns and it.
        lowering_together: where none does alone: left-out columns that do together, of which none can be spared.
        unique_rows: rows alone in their class.
        highest_risk: 1 / the fewest persons of any class.
        average_risk: the mean over rows of 1 / the fewest persons of the row's class; classes / rows where rows are
            persons.
        min_identifiers: per identifier column named, and per identifier that a release of events counts, the fewest
            distinct values in any class; NULL counts as a value.
        not_measured: promises of the policy that this audit could not count, each with the reason; the audit then
            fails.
        suppressed: rows of the source that lose all their quasi values by the release's metadata; ``missing`` of them
            are left out: ``rows`` and all measures are of those in the table.
        candidates: every row has a box of its own: ``classes`` are boxes, ``k`` the rows that fit one, by the
            certificate.
        groups: format anatomy: the basis of ``sensitive`` and ``requirements``; k, classes and risks are those
            of the exact quasi columns.
        hidden_cells: of a release of counts: number of cells without their true number; ``rows`` are all cells, of
            the columns ``quasi``, and figures about classes are 0.
        cell_status: their status: hidden, rounded or perturbed.
        noisy: of differentially private statistics: ``rows`` are the groups, and figures about classes are 0.
    """

    table: str
    rows: int
    quasi: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    classes: int = 0
    k: int = 0
    max_class: int = 0
    k_all: int = 0
    unique_rows: int = 0
    highest_risk: float = 0.0
    average_risk: float = 0.0
    sensitive: tuple[SensitiveAudit, ...] = ()
    requirements: tuple[RequirementResult, ...] = ()
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    groups: GroupAudit | None = None
    lowering: tuple[LoweringColumn, ...] = ()
    lowering_together: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()
    suppressed: int = 0
    missing: int = 0
    candidates: bool = False
    hidden_cells: int | None = None
    cell_status: str = "hidden"
    noisy: bool = False

    @property
    def satisfied(self) -> bool:
        """Whether all that a policy asks for was measured and holds."""
        return not self.not_measured and all(requirement.satisfied for requirement in self.requirements)

    def _repr_html_(self) -> str:
        """HTML for notebooks: sizes and risks, requirements, and missing measures."""
        sensitive = [
            (column.column, count(column.distinct_l), measure(column.frequency_l)) for column in self.sensitive
        ]
        return notebook.block(
            f"audit of {self.table}",
            notebook.facts([("rows", count(self.rows)), *self._sizes()]),
            notebook.table(("sensitive", ">distinct l", ">frequency l"), sensitive),
            requirements_html(self.requirements),
            *notebook.warnings(f"not measured: {missing}" for missing in self.not_measured),
        )

    def _sizes(self) -> list[tuple[str, str]]:
        if self.candidates:
            candidates = count(self.k) if self.k else "not measured"
            return [("boxes", count(self.classes)), ("candidates of each row", candidates)]
        alone = f"{count(self.unique_rows)} ({share(self.unique_rows, self.rows)})"
        return [
            ("classes", count(self.classes)),
            ("k, the smallest class", count(self.k)),
            ("rows alone in their class", alone),
            ("highest risk", share(self.highest_risk, 1)),
            ("average risk", share(self.average_risk, 1)),
            *(
                (f"fewest distinct {column} in a class", count(number))
                for column, number in self.min_identifiers.items()
            ),
        ]


@dataclass(frozen=True, slots=True)
class TogetherReport(Report):
    """Protection that two releases of the same source leave against a reader of both: classes are the intersections.

    Attributes:
        first: the first release, ``second`` the second.
        matched: rows of the source found in both releases.
        unmatched: rows of the source that at least one release does not hold (it changed since, or the release leaves
            them out).
        k: the smallest intersection; ``k_first`` and ``k_second`` are each release's own.
        rows_below: rows in intersections smaller than the smaller of the two k.
        min_identifiers: releases of events: per identifier that a release counts, the fewest distinct values in any
            intersection, NULL counts as a value.
        requirements: persons, where a policy promises them, and with boxes of their own candidates: the promised least
            k, and the measured one.
        not_measured: promises that could not be counted, each with the reason.
        candidates: a release has boxes of their own: every row is a class, and ``k`` the fewest rows that the records
            of one may be of.
    """

    first: str
    second: str
    source: str
    matched: int
    unmatched: int
    classes: int
    k: int
    k_first: int
    k_second: int
    rows_below: int
    unique_rows: int
    sensitive: tuple[SensitiveAudit, ...]
    requirements: tuple[RequirementResult, ...] = ()
    min_identifiers: Mapping[str, int] = field(default_factory=dict)
    not_measured: tuple[str, ...] = ()
    candidates: bool = False

    @property
    def satisfied(self) -> bool:
        """Whether every row keeps the persons, and with boxes of their own the candidates, that the policies promise.

        It is False if they were not counted.
        """
        return not self.not_measured and all(requirement.satisfied for requirement in self.requirements)
