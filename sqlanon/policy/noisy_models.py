"""The parts of a policy about differentially private statistics, as typed records; see `sqlanon.policy.models`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlanon.noisy_spec import BinsAs, NoiseLaw
from sqlanon.policy.models import HierarchyModel, PolicyPart
from sqlanon.spec import RowSecurity


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetModel(PolicyPart):
    """A budget of a kind of person.

    See [differential-privacy.md](differential-privacy.md#budgets).
    """

    name: str
    persons: Mapping[str, tuple[str, ...]]
    epsilon: Fraction
    delta: Fraction | int
    most_persons: int
    anchor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyTableModel(PolicyPart):
    """A table of noisy statistics."""

    name: str | None
    by: tuple[str, ...]
    totals: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyGroupsModel(PolicyPart):
    """The groups of a column. A list alone has its values, a text alone names the file of a hierarchy."""

    values: object
    bins: object
    hierarchy: HierarchyModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMeasureModel(PolicyPart):
    """A number that is published of each group: one of `count`, `sum`, `mean` and `quantiles`."""

    count: Literal["rows", "persons"] | None
    sum: str | None
    mean: str | None
    quantiles: object
    of: str | None
    steps: int
    range: object
    unit: Fraction | int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionsModel(PolicyPart):
    """How much of a person is counted, in each table. Required: more would be unbounded."""

    groups: int | None
    rows: int | None
    weight: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowModel(PolicyPart):
    """When the column `shown` is true."""

    persons: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningModel(PolicyPart):
    """Running counts of persons over nights. See [differential-privacy.md](differential-privacy.md#running-counts)."""

    nights: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsModel(PolicyPart):
    """Synthetic rows. A text alone names the target."""

    target: str
    pairs: object
    bins: BinsAs


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyModel(PolicyPart):
    """Differentially private statistics. See [differential-privacy.md](differential-privacy.md)."""

    budget: str
    epsilon: Fraction
    tables: object
    groups: Mapping[str, NoisyGroupsModel]
    measures: Mapping[str, NoisyMeasureModel]
    contributions: ContributionsModel
    noise: NoiseLaw
    show: ShowModel | None
    running: RunningModel | None
    kept: bool
    rows: RowsModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyReleaseModel(PolicyPart):
    """A release of differentially private statistics. See [differential-privacy.md](differential-privacy.md)."""

    name: str
    source: str
    publish: str | None
    publish_file: str | None
    row_security: RowSecurity | None
    readers: tuple[str, ...]
    every: int
    statistics: NoisyModel
