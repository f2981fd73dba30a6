"""Specification of a release, as frozen values: the one form that policy files, options and Python arguments become.

Nothing here reads files or databases, and nothing here knows SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from sqlanon.column_spec import ColumnSpec, Role
from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.noisy_spec import BudgetSpec, NoisySpec
from sqlanon.release_kind import ReleaseKind, kind_of
from sqlanon.statistics_spec import StatisticsSpec

Rest = Literal["error", "drop", "keep"]
FormatKind = Literal["ranges", "labels", "points", "suppressed", "anatomy"]
"""The formats of sqlanon itself, for type checkers; `sqlanon.declared.FORMATS` has those of extensions too."""
Execution = Literal["auto", "kernel", "pushdown"]
RowsAre = Literal["persons", "events"]
Persons = Literal["rows", "whole", "ignored"]
NullPerson = Literal["one", "distinct"]
RowSecurity = Literal["applied"]
RefreshMode = Literal["full", "frozen"]
SuppressedRows = Literal["starred", "left_out"]
ComparedWith = Literal["released", "source"]
Effort = Literal["fast", "normal", "high"]

EXECUTIONS: tuple[Execution, ...] = ("auto", "kernel", "pushdown")
MODES: tuple[RefreshMode, ...] = ("full", "frozen")
SUPPRESSED_ROWS: tuple[SuppressedRows, ...] = ("starred", "left_out")
EFFORTS: tuple[Effort, ...] = ("fast", "normal", "high")
MAX_WINDOW = 1000
MAX_PASSES = 100
MAX_SEARCH = 1000
"""Limits of refine; its time is rows x window x passes, and rows x search."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The dual problem's bound E: the loss of every class, at most, while ``maximize`` becomes as large as it allows.

    Attributes:
        maximize: the privacy to maximize.
        per_class_ncp: the weighted NCP of a class, at most, in 0 to 1; None: no such bound.
        extents: per quasi column a largest extent in its own units: numbers as they are, days for dates and timestamps,
            leaves of a hierarchy's node.
    """

    maximize: Literal["k", "l"]
    per_class_ncp: Fraction | None = None
    extents: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class PrivacySpec:
    """Requirements for every class of the release.

    With ``accuracy`` this is the least that is accepted (``at_least`` in a policy).

    Attributes:
        k: rows in a class, at least.
        l: frequency l-diversity: no value of a sensitive attribute is more than 1/l of a class; None: not asked.
        distinct_l: distinct values of each sensitive attribute in a class, at least; None: not asked.
        joint: the l-diversity of each sensitive attribute also holds within every value of the others.
        accuracy: the dual problem's bound; None: the direct problem.
        presence_disclosed: the owner accepts that exact quasi values (format anatomy) show who is in the table.
        own_boxes: every row has a box of its own that k rows fit, which is weaker than classes (docs/threat-model.md).
        of_persons: k and l also hold over persons, beside rows (`persons: rows` or `whole`): see
            `sqlanon.privacy.persons`.
        whole: all rows of a person are in one class (`persons: whole`); ``of_persons`` is then set, too.
        person_share: the part of a class's rows that one person may have, at most; None: any.
        compared_with: the rows that `t`, `beta` and `delta_disclosure` compare classes with: the published ones, or
            all rows of the source, those that are left out among them.
        more: values of further requirements by their keys; see `sqlanon.declared.requirements`.
    """

    k: int = 1
    l: Fraction | None = None  # noqa: E741 - the papers' symbol
    distinct_l: int | None = None
    joint: bool = False
    accuracy: Accuracy | None = None
    presence_disclosed: bool = False
    own_boxes: bool = False
    of_persons: bool = False
    whole: bool = False
    person_share: Fraction | None = None
    compared_with: ComparedWith = "released"
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any], **others: Any) -> PrivacySpec:
        """A spec of requirements by their keys; ``others`` are its further fields."""
        own_values = {key: value for key, value in values.items() if key in OWN}
        return cls(**own_values, **others, more={key: value for key, value in values.items() if key not in OWN})

    def value(self, key: str) -> Any:  # noqa: ANN401 - a requirement's own kind of value
        """Level of a requirement, by key; None: not asked."""
        return getattr(self, key) if key in OWN else self.more.get(key)


OWN = ("k", "l", "distinct_l")
"""Requirements with a field of their own in `PrivacySpec`."""


@dataclass(frozen=True, slots=True)
class SuppressionSpec:
    """Number of rows of the source that a release may suppress, and their treatment.

    Attributes:
        limit: the share of the source's rows, at most.
        rows: ``"starred"``: they are published with every quasi value hidden, as one class; ``"left_out"``: not
            published.
    """

    limit: Fraction = Fraction(0)
    rows: SuppressedRows = "starred"

    def most(self, rows: int) -> int:
        """Of so many rows.

        >>> SuppressionSpec(limit=Fraction(1, 20)).most(119)
        5
        """
        return int(self.limit * rows)


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A published algorithm of the registry and its options, as text; the method checks them."""

    name: str = "tree"
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefineSpec:
    """The local pass after a method.

    Attributes:
        window: classes on either side that a row looks at.
        passes: runs over all rows, at most.
        search: trials after them for every class that loses something; None: `sqlanon.declared.trials` chooses.
        least_gain: the trials end after two rounds that lower the loss by a smaller share together; 0: they do not end
            early.
        first: the first of these trials are a search of their own, as another effort makes it, so that no more is lost
            than by that one.
    """

    window: int = 40
    passes: int = 4
    search: int | None = 0
    least_gain: Fraction = Fraction(0)
    first: RefineSpec | None = None

    def list_searches(self) -> tuple[RefineSpec, ...]:
        """The searches that are made one after the other, each with its trials."""
        if not self.search:
            return ()
        if self.first is None or not self.first.search:
            return (self,)
        rest = replace(self, search=self.search - self.first.search, first=None)
        return (*self.first.list_searches(), *rest.list_searches())


@dataclass(frozen=True, slots=True)
class EffortSpec:
    """How a policy that names neither method nor refine has both chosen; see `sqlanon.declared.effort`.

    Attributes:
        word: how long the search may take.
        written: the policy has the word; False: it is the default.
        method: ``open``: a release that exists keeps the method that its catalog has; ``kept``: it does; ``new``: the
            method is chosen, whatever the catalog has.
    """

    word: Effort
    written: bool = False
    method: Literal["open", "kept", "new"] = "open"


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """How a class's box is published; ``mean`` names numeric quasi columns that also publish their class mean."""

    kind: str = "ranges"
    mean: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CohortSpec:
    """When the rows that wait are published together (`refresh: {mode: frozen}`).

    Attributes:
        rows: so many wait; None: `COHORT` times k.
        every: seconds that the one which has waited longest has waited, if at least k wait; None: any time.
    """

    rows: int | None = None
    every: int | None = None


COHORT = 50
"""Rows of a cohort, in multiples of k, where the policy says nothing."""


@dataclass(frozen=True, slots=True)
class RefreshSpec:
    """How a release is made again, night after night.

    Attributes:
        mode: ``full``: every version is computed anew from the whole source. ``frozen``: published rows stay as
            they are.
        every: seconds after which a release is due again; None: always.
        keep: versions whose tables stay: the published one and those a rollback may return to.
        max_failing: rows that may be in groups below the policy when two versions are read together; None: any number.
        cohort: when waiting rows are published; None: `CohortSpec` of nothing.
        max_stale, max_retained: shares of the published rows that the source has otherwise, or no more; None: any.
        max_waiting: share of the source's rows that are not published; None: any.
        max_age: seconds for which a row may wait that was never published; None: any time.
        needs_approval: a run stops unless somebody approved this policy.
        signers: lines of a file of allowed signers (ssh-keygen(1)), one of whom must have signed the approval; empty:
            it need not be signed.
        expire: versions that do not stay leave the history of a lake table as well.
    """

    mode: RefreshMode = "full"
    every: int | None = None
    keep: int = 2
    max_failing: int | None = None
    cohort: CohortSpec | None = None
    max_stale: Fraction | None = None
    max_retained: Fraction | None = None
    max_waiting: Fraction | None = None
    max_age: int | None = None
    needs_approval: bool = False
    signers: tuple[str, ...] = ()
    expire: bool = False

    @property
    def frozen(self) -> bool:
        """Whether published rows stay as they are."""
        return self.mode == "frozen"

    def cohort_rows(self, k: int) -> int:
        """How many waiting rows are published together, with the release's ``k``."""
        rows = self.cohort.rows if self.cohort else None
        return max(rows if rows is not None else COHORT * k, k, 1)


def person_name(columns: Iterable[str]) -> str:
    """Name in reports of persons that several columns identify together."""
    return ", ".join(columns)


@dataclass(frozen=True, slots=True)
class TablesSpec:
    """The tables that are published together in one transaction (`tables:` of a policy).

    Attributes:
        name: in the policy.
        tables: the names of their releases, in the policy's order.
        rotate: every version has new tokens, whose key is kept nowhere.
    """

    name: str
    tables: tuple[str, ...]
    rotate: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseSpec:
    """One release of one source.

    Attributes:
        name: the release's name in the catalog.
        source: table or view, ``table`` or ``schema.table`` (parts may be double-quoted).
        publish: view to publish, same syntax; None lets the caller choose (file exports).
        publish_file: DuckDB only: another database file that will hold just this release.
        publish_to: another database that gets the view and its rows; a URL with names of variables in place of secrets.
        publish_lake: a table of Delta or Iceberg that gets the view's rows, ``delta:PATH``.
        columns: roles, in any order; columns are published in the source's order.
        rest: treatment of columns without a role.
        rows_are: ``"events"``: a person may have several rows; each identifier without ``accept_repeats`` is counted.
        person: identifiers whose values together say whose row it is; none: nothing says it, or each identifier by
            itself.
        persons: ``"ignored"``: classes of fewer than k persons are accepted (``rows_are: events`` only); ``"rows"``,
            with ``person``: every class has rows of k persons; ``"whole"``: and all rows of each of them; None: a class
            of fewer stops the run and fails an audit.
        null_person: rows whose ``person`` is NULL are ``"one"`` person, or each is a ``"distinct"`` one; None: they are
            refused.
        row_security: ``"applied"``: rows that row-level security hides from the releasing role are left out; None:
            a run stops where it hides rows.
        readers: database roles (PostgreSQL), which are granted the release, or free names for warnings.
        dimensions: tables that queries over the release may join, same syntax as ``source``.
        key: columns that identify a row in every version: unique, not NULL, never published.
        metrics: further metrics of the loss that are measured; ``all``: every one.
        memory: bytes that the kernels may use; None: chosen from the machine.
        refine: improve the method's classes by a local pass; None: do not.
        effort: how method and refine were chosen; None: the policy names one of them, or effort ``fast``.
        suppression: rows that the method may suppress; None: none, or as its method declares.
        seed: None: drawn from the operating system.
        refresh: how and how often it is made again.
        together: the tables that it is published together with; None: it is published by itself.
        statistics: counts that are published in place of rows.
        noisy: differentially private statistics that are published in place of rows.
        context: the circumstances, in the owner's words.
        threshold: the risk that is accepted, at most; None: any.
        review: seconds after which a version is due for review.
    """

    name: str
    source: str
    columns: tuple[ColumnSpec, ...]
    privacy: PrivacySpec
    publish: str | None = None
    publish_file: str | None = None
    publish_lake: str | None = None
    publish_to: str | None = None
    rest: Rest = "error"
    rows_are: RowsAre = "persons"
    person: tuple[str, ...] = ()
    persons: Persons | None = None
    null_person: NullPerson | None = None
    row_security: RowSecurity | None = None
    readers: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    method: MethodSpec = field(default_factory=MethodSpec)
    refine: RefineSpec | None = None
    effort: EffortSpec | None = None
    suppression: SuppressionSpec | None = None
    format: FormatSpec = field(default_factory=FormatSpec)
    metrics: tuple[str, ...] = ()
    execution: Execution = "auto"
    memory: int | None = None
    seed: int | None = None
    refresh: RefreshSpec = field(default_factory=RefreshSpec)
    together: TablesSpec | None = None
    statistics: StatisticsSpec | None = None
    noisy: NoisySpec | None = None
    context: ContextSpec | None = None
    threshold: ThresholdSpec | None = None
    review: int | None = None

    def with_role(self, role: Role) -> tuple[ColumnSpec, ...]:
        """The columns of one role, in the policy's order."""
        return tuple(column for column in self.columns if column.role == role)

    @property
    def kind(self) -> ReleaseKind:
        """The kind of the release."""
        return kind_of(statistics=self.statistics, noisy=self.noisy)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """Of numbers in place of rows the name of each, and the source's column that it is of."""
        return tuple(pair for each in (self.statistics, self.noisy) if each for pair in each.numbers)

    @property
    def token(self) -> ColumnSpec | None:
        """The column of the person, if it is published as a pseudonym."""
        person_names = {name.lower() for name in self.person}
        return next((column for column in self.with_role("pseudonym") if column.name.lower() in person_names), None)

    @property
    def scope(self) -> str | None:
        """Releases of the same scope share tokens; None: this one has no pseudonyms."""
        return (self.token.scope or self.name) if self.token else None

    @property
    def rotates(self) -> bool:
        """Whether the tokens of every version are new ones."""
        return self.together is not None and self.together.rotate

    def list_counted(self) -> tuple[str, ...]:
        """Columns by which persons are counted: `person`, else each identifier that does not accept repeats."""
        if self.person:
            return (person_name(self.person),)
        return tuple(column.name for column in self.with_role("identifier") if not column.accept_repeats)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A whole policy file. ``connection`` may hold a password, so it is left out of ``repr``.

    Attributes:
        connection: the database's URL.
        releases: of the policy.
        budgets: of differentially private statistics.
        path: the file.
        written: the connection as the file has it, where variables of the environment are part of it.
        makes_file: the connection is ``state``, of lake tables; a missing file of DuckDB is made.
    """

    connection: str | None = field(repr=False)
    releases: tuple[ReleaseSpec, ...]
    path: str | None = None
    written: str | None = None
    budgets: tuple[BudgetSpec, ...] = ()
    makes_file: bool = False
