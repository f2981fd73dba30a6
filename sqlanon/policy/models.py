"""The parts of a policy file as typed records. Values and meaning of their keys are in `sqlanon.declared.keys`.

`sections` reads them. A new key is an entry in `sqlanon.declared.keys`, one field here, one line in `checks.build`, and
one check there if it must fit with others. The docstrings are descriptions in the JSON Schema and in docs/policy.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from sqlanon.column_spec import Role
from sqlanon.decision_spec import Attacker, Over
from sqlanon.spec import (
    ComparedWith,
    Effort,
    Execution,
    NullPerson,
    Persons,
    RefreshMode,
    Rest,
    RowsAre,
    RowSecurity,
    SuppressedRows,
)
from sqlanon.statistics_spec import Bounds, Insiders, Measured, Method, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPart:
    """A part of a policy file. ``given``: the keys that it has and that could be read."""

    given: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyModel(PolicyPart):
    """The nodes of a column.

    Exactly one of the keys, `from` with `steps`, and `other` with those that list values. See
    [hierarchies.md](hierarchies.md).
    """

    file: str | None
    steps: list[str] | None
    origin: str | None
    calendar: list[str] | None
    prefix: list[str] | None
    mask: Literal["right"] | None
    groups: Mapping[str, object] | None
    table: str | None
    hipaa: Literal["zip3"] | None
    other: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnModel(PolicyPart):
    """A column of the source. Its role alone may be written as text: `age: quasi`."""

    role: Role
    weight: int
    hierarchy: HierarchyModel | None
    ordered: str | list[str] | None
    bottom: str | None
    top: str | None
    round: str | None
    accept_unique: bool
    accept_repeats: bool
    scope: str | None
    secret: str | None
    because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxLossModel(PolicyPart):
    """The most that every class may lose."""

    per_class_ncp: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeastModel(PolicyPart):
    """The least privacy that is accepted with `maximize`.

    Where the bound on the loss allows less, nothing is published.

    The requirement that is maximized is needed here; the other may be asked for as well.
    """

    k: int | None = None
    l: Fraction | None = None  # noqa: E741 - the papers' symbol


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyModel(PolicyPart):
    """Requirements on every class (the rows that look alike in all quasi columns).

    Either `k`, `l` and `distinct_l` are given and the loss becomes small, or `max_loss` or `max_extent` bounds the
    loss of every class and `maximize` makes k or l as large as that allows: `privacy: {max_loss: {per_class_ncp: 0.3},
    maximize: l, at_least: {l: 2}}` or `privacy: {max_extent: {age: 10}, maximize: k, at_least: {k: 5}}`.
    """

    k: int | None
    l: Fraction | None  # noqa: E741 - the papers' symbol
    distinct_l: int | None
    joint: bool
    compared_with: ComparedWith
    maximize: Literal["k", "l"] | None
    max_loss: MaxLossModel | None
    max_extent: Mapping[str, Fraction] | None
    at_least: AtLeastModel | None
    presence: Literal["disclosed"] | None
    boxes: Literal["own"] | None
    more: Mapping[str, Any]
    """The other requirements, those of extensions among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodModel(PolicyPart):
    """The algorithm. Its name alone, or `name:option=value,option=value`, may be written as text.

    All further keys are options of the method, which the table of methods lists.
    """

    name: str
    more: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineModel(PolicyPart):
    """A local pass after the method.

    Rows move to, or change places with rows of, classes near theirs while the loss falls.

    Then, with `search`, the rows of a few near classes are divided anew in trials. The result meets every requirement
    and is never worse. `refine: true` takes the defaults, and as many trials as double the time of method `tree`.
    """

    window: int
    passes: int
    search: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionModel(PolicyPart):
    """The most rows that may be suppressed, and how they are published: `suppression: {limit: 0.05, rows: starred}`."""

    limit: Fraction
    rows: SuppressedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatModel(PolicyPart):
    """How a class is published. The kind alone may be written as text: `format: labels`."""

    kind: str
    mean: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortModel(PolicyPart):
    """When rows that wait are published together."""

    rows: int | None
    every: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshModel(PolicyPart):
    """How a release is made again."""

    mode: RefreshMode
    cohort: CohortModel | None
    max_stale: Fraction | None
    max_retained: Fraction | None
    max_waiting: Fraction | None
    max_age: int | None
    needs_approval: bool
    signers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryModel(PolicyPart):
    """Limits on the disclosure by two consecutive versions together. Needs `key`, or a pseudonym."""

    max_failing: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextModel(PolicyPart):
    """The circumstances of a release, in its owner's words. See [evidence.md](evidence.md)."""

    purpose: str | None
    recipients: str | None
    environment: str | None
    controls: str | None
    other_data: str | None
    legal_basis: str | None
    owner: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdModel(PolicyPart):
    """The risk that is accepted, at most: `threshold: {risk: 0.05, because: ".."}`, or `threshold: ema0070`."""

    preset: str | None
    risk: Fraction | None
    because: str | None
    attacker: Attacker
    over: Over


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseModel(PolicyPart):
    """A release of one source."""

    name: str
    source: str
    publish: str | None
    publish_file: str | None
    publish_to: str | None
    columns: Mapping[str, ColumnModel]
    rest: Rest
    rows_are: RowsAre
    person: tuple[str, ...]
    persons: Persons | None
    null_person: NullPerson | None
    person_share: Fraction | None
    row_security: RowSecurity | None
    readers: tuple[str, ...]
    dimensions: tuple[str, ...]
    key: tuple[str, ...]
    every: int | None
    keep: int
    expire: bool
    history: HistoryModel | None
    refresh: RefreshModel | None
    context: ContextModel | None
    threshold: ThresholdModel | None
    review: int | None
    privacy: PrivacyModel
    effort: Effort | None
    method: MethodModel | None
    refine: RefineModel | None
    suppression: SuppressionModel | None
    format: FormatModel
    metrics: tuple[str, ...]
    execution: Execution
    memory: int | None
    seed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesModel(PolicyPart):
    """Several tables of the same persons, published together in one transaction.

    See [pseudonyms.md](pseudonyms.md#several-tables).

    Every other key of a release may be there, too, and holds for all tables.
    """

    name: str
    tables: object
    rotate: Literal["version"] | None
    more: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedColumnModel(PolicyPart):
    """A column by which tables of counts count."""

    hierarchy: HierarchyModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTableModel(PolicyPart):
    """A table of counts."""

    name: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DominanceModel(PolicyPart):
    """When a cell's largest contributions are too much of its sum."""

    n: int
    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedMeasureModel(PolicyPart):
    """A number that is published of each cell: `count` or `sum`."""

    count: Measured | None
    sum: str | None
    range: object
    p_percent: Fraction | int | None
    dominance: DominanceModel | None
    absolute: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectModel(PolicyPart):
    """Conclusions that no reader of the counts may draw."""

    method: Method
    persons: int
    zeros: Literal["shown"]
    interval: Literal["full"]
    insiders: Insiders
    bounds: Bounds
    show: Sequence[object] | None
    deviation: int | None
    variance: Fraction | int | None
    no_result: int | None
    rule: Rule | None
    additive: bool | None
    base: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsCohortModel(PolicyPart):
    """When persons who are new are counted."""

    persons: int
    every: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsModel(PolicyPart):
    """Counts that are published in place of rows. See [statistics.md](statistics.md)."""

    columns: Mapping[str, CountedColumnModel]
    tables: object
    measures: Mapping[str, CountedMeasureModel]
    protect: ProtectModel


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRefreshModel(PolicyPart):
    """How counts are made again, and who approves them."""

    mode: Literal["frozen"] | None
    cohort: CountsCohortModel | None
    lineage: int | None
    needs_approval: bool
    signers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsReleaseModel(PolicyPart):
    """A release of counts. See [statistics.md](statistics.md)."""

    name: str
    source: str
    publish: str | None
    person: tuple[str, ...]
    null_person: NullPerson | None
    row_security: RowSecurity | None
    readers: tuple[str, ...]
    every: int | None
    together: tuple[str, ...]
    context: ContextModel | None
    threshold: ThresholdModel | None
    review: int | None
    refresh: CountedRefreshModel | None
    statistics: StatisticsModel


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyModel(PolicyPart):
    """A whole policy file."""

    version: int
    connection: str | None = field(repr=False)
    state: str | None = field(repr=False)
    budgets: object
    releases: object
