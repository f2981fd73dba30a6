"""The policy file as pydantic models: the types of its keys. Defaults and descriptions are in `sqlanon.declared.keys`.

Only the file boundary uses these: editors get them through ``sqlanon schema``, and ``docs/policy.md`` is generated from
them. A new key is an entry in `sqlanon.declared.keys`, one field here, one line in `checks.build`, and, if it must fit
with others, one check there.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sqlanon.declared import ALL, FORMATS, METRICS
from sqlanon.declared.key import REQUIRED
from sqlanon.declared.keys import KEYS
from sqlanon.policy import fields, quantities
from sqlanon.policy.fields import declared_in, flag, mapping, one_of
from sqlanon.policy.quantities import amount, duration, whole
from sqlanon.spec import (
    EXECUTIONS,
    MAX_PASSES,
    MAX_SEARCH,
    MAX_WEIGHT,
    MAX_WINDOW,
    MODES,
    ROLES,
    SUPPRESSED_ROWS,
    Execution,
    NullPerson,
    Persons,
    RefreshMode,
    Rest,
    Role,
    RowsAre,
    RowSecurity,
    SuppressedRows,
)

Text = Annotated[str, BeforeValidator(fields.text)]
Table = Annotated[str, BeforeValidator(fields.table_name)]
Names = Annotated[list[str], BeforeValidator(fields.names, json_schema_input_type=str | list[str])]
Tables = Annotated[list[Table], BeforeValidator(fields.names, json_schema_input_type=str | list[str])]
Word = Annotated[str, BeforeValidator(fields.one_word, json_schema_input_type=str | float)]
Words = Annotated[list[str], BeforeValidator(fields.words, json_schema_input_type=str | float | list[str | float])]
Flag = Annotated[bool, BeforeValidator(flag)]
Ordered = Annotated[str | list[str], BeforeValidator(fields.order, json_schema_input_type=str | list[str | float])]
RoleWord = Annotated[Role, one_of(*ROLES)]
FormatWord = Annotated[str, declared_in(FORMATS)]
MetricWord = Annotated[str, declared_in(METRICS, ALL, which=lambda one: one.asked)]
Metrics = Annotated[
    list[MetricWord], BeforeValidator(fields.names, json_schema_input_type=MetricWord | list[MetricWord])
]
Frequency = Annotated[Fraction, BeforeValidator(quantities.fraction, json_schema_input_type=float | str)]


def described(path: str, **more: Any) -> Any:  # noqa: ANN401 - as pydantic's own Field
    """A field with the default and the description of its key."""
    key = KEYS[path]
    if key.default is REQUIRED:
        return Field(description=key.text, **more)
    default = list(key.default) if isinstance(key.default, tuple) else key.default
    return Field(default, description=key.text, **more)


class Part(BaseModel):
    """What all parts of a policy file share: unknown keys are errors, nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class HierarchyModel(Part):
    """What the nodes of a column are.

    Exactly one of the keys, `from` with `steps`, and `other` with those that list values. See
    [hierarchies.md](hierarchies.md).
    """

    file: Text | None = described("columns.*.hierarchy.file")
    steps: Words | None = described("columns.*.hierarchy.steps")
    origin: Word | None = described("columns.*.hierarchy.from", alias="from")
    calendar: Words | None = described("columns.*.hierarchy.calendar")
    prefix: Words | None = described("columns.*.hierarchy.prefix")
    mask: Annotated[Literal["right"], one_of("right")] | None = described("columns.*.hierarchy.mask")
    groups: Annotated[dict[str, Any] | None, mapping("young: [18, 19]")] = described("columns.*.hierarchy.groups")
    table: Table | None = described("columns.*.hierarchy.table")
    other: Word | None = described("columns.*.hierarchy.other")


class ColumnModel(Part):
    """One column of the source. Its role alone may be written as text: `age: quasi`."""

    role: RoleWord = described("columns.*.role")
    weight: Annotated[int, whole(1, MAX_WEIGHT)] = described("columns.*.weight")
    hierarchy: Annotated[
        HierarchyModel | None,
        BeforeValidator(fields.hierarchy, json_schema_input_type=str | HierarchyModel | None),
    ] = described("columns.*.hierarchy")
    ordered: Ordered | None = described("columns.*.ordered")
    bottom: Word | None = described("columns.*.bottom")
    top: Word | None = described("columns.*.top")
    round: Word | None = described("columns.*.round")
    accept_unique: Flag = described("columns.*.accept_unique")
    accept_repeats: Flag = described("columns.*.accept_repeats")
    scope: Text | None = described("columns.*.scope")
    secret: Annotated[str, BeforeValidator(fields.variable, json_schema_input_type=str)] | None = described(
        "columns.*.secret"
    )


class MaxLossModel(Part):
    """What every class may lose, at most."""

    per_class_ncp: Annotated[Fraction, amount(1)] = described("privacy.max_loss.per_class_ncp")


class AtLeastModel(Part):
    """The least privacy that is accepted with `maximize`.

    Where the bound on the loss allows less, nothing is published.

    The requirement that is maximized is needed here; the other one may be asked for as well.
    """

    k: Annotated[int, whole(1)] | None = described("privacy.at_least.k")
    l: Frequency | None = described("privacy.at_least.l")  # noqa: E741 - the papers' symbol


class PrivacyModel(Part):
    """What every class (the rows that look alike in all quasi columns) must meet.

    Either `k`, `l` and `distinct_l` are given and the loss becomes small, or `max_loss` or `max_extent` bounds what
    every class may lose and `maximize` makes k or l as large as that allows: `privacy: {max_loss: {per_class_ncp: 0.3},
    maximize: l, at_least: {l: 2}}` or `privacy: {max_extent: {age: 10}, maximize: k, at_least: {k: 5}}`.
    """

    # Other requirements, those of extensions among them, have no field here: `sqlanon.policy.privacy` reads their keys.

    k: Annotated[int | None, whole(1)] = described("privacy.k")
    l: Frequency | None = described("privacy.l")  # noqa: E741 - the papers' symbol
    distinct_l: Annotated[int, whole(1)] | None = described("privacy.distinct_l")
    joint: Flag = described("privacy.joint")
    maximize: Annotated[Literal["k", "l"], one_of("k", "l")] | None = described("privacy.maximize")
    max_loss: Annotated[MaxLossModel | None, mapping("per_class_ncp: 0.3")] = described("privacy.max_loss")
    max_extent: Annotated[dict[str, Annotated[Fraction, amount()]] | None, mapping("age: 10")] = described(
        "privacy.max_extent"
    )
    at_least: Annotated[AtLeastModel | None, mapping("l: 2")] = described("privacy.at_least")
    presence: Annotated[Literal["disclosed"], one_of("disclosed")] | None = described("privacy.presence")
    boxes: Annotated[Literal["own"], one_of("own")] | None = described("privacy.boxes")


class MethodModel(Part):
    """The algorithm. Its name alone, or `name:option=value,option=value`, may be written as text.

    All further keys are options of the method, which the table of methods lists.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)
    __pydantic_extra__: dict[
        str, Annotated[str, BeforeValidator(fields.option, json_schema_input_type=str | float | bool)]
    ]

    name: Annotated[str, BeforeValidator(fields.word)] = described("method.name")


class RefineModel(Part):
    """A local pass after the method.

    Rows move to, or change places with rows of, classes near theirs while the loss falls.

    Then, with `search`, the rows of a few near classes are divided anew in trials. The result meets every requirement
    and is never worse. `refine: true` takes the defaults, and as many trials as double the time of method `tree`.
    """

    window: Annotated[int, whole(1, MAX_WINDOW)] = described("refine.window")
    passes: Annotated[int, whole(1, MAX_PASSES)] = described("refine.passes")
    search: Annotated[int, whole(0, MAX_SEARCH)] = described("refine.search")

    @classmethod
    def read(cls, value: object) -> object:
        """``true`` as the defaults with trials that are chosen later; a mapping as it is."""
        given = fields.switch(value)
        later: dict[str, Any] = {"search": None}
        return given if given is None or given is value else cls.model_construct(**later)


class SuppressionModel(Part):
    """Rows that may be suppressed, at most, and what becomes of them: `suppression: {limit: 0.05, rows: starred}`."""

    limit: Annotated[Fraction, amount(1)] = described("suppression.limit")
    rows: Annotated[SuppressedRows, one_of(*SUPPRESSED_ROWS)] = described("suppression.rows")


class FormatModel(Part):
    """How a class is published. The kind alone may be written as text: `format: labels`."""

    kind: FormatWord = described("format.kind")
    mean: Names = described("format.mean")


class CohortModel(Part):
    """When rows that wait are published together."""

    rows: Annotated[int, whole(1)] | None = described("refresh.cohort.rows")
    every: Annotated[int, BeforeValidator(duration, json_schema_input_type=str)] | None = described(
        "refresh.cohort.every"
    )


class RefreshModel(Part):
    """How a release is made again."""

    mode: Annotated[RefreshMode, one_of(*MODES)] = described("refresh.mode")
    cohort: Annotated[CohortModel | None, mapping("rows: 500")] = described("refresh.cohort")
    max_stale: Annotated[Fraction, amount(1)] | None = described("refresh.max_stale")
    max_retained: Annotated[Fraction, amount(1)] | None = described("refresh.max_retained")
    max_waiting: Annotated[Fraction, amount(1)] | None = described("refresh.max_waiting")
    max_age: Annotated[int, BeforeValidator(duration, json_schema_input_type=str)] | None = described("refresh.max_age")


class HistoryModel(Part):
    """What two consecutive versions may reveal together. Needs `key`, or a pseudonym."""

    max_failing: Annotated[int, whole(0)] | None = described("history.max_failing")


class ReleaseModel(Part):
    """One release of one source."""

    name: Text = described("name")
    source: Table = described("source")
    publish: Table | None = described("publish")
    publish_file: Text | None = described("publish_file")
    columns: dict[
        str,
        Annotated[ColumnModel, BeforeValidator(fields.role_only, json_schema_input_type=Role | ColumnModel)],
    ] = described("columns")
    rest: Annotated[Rest, one_of("error", "drop", "keep")] = described("rest")
    rows_are: Annotated[RowsAre, one_of("persons", "events")] = described("rows_are")
    person: Names = described("person")
    persons: Annotated[Persons, one_of("rows", "whole", "ignored")] | None = described("persons")
    null_person: Annotated[NullPerson, one_of("one", "distinct")] | None = described("null_person")
    person_share: Annotated[Fraction, amount(1)] | None = described("person_share")
    row_security: Annotated[RowSecurity, one_of("applied")] | None = described("row_security")
    readers: Names = described("readers")
    dimensions: Tables = described("dimensions")
    key: Names = described("key")
    every: Annotated[int, BeforeValidator(duration, json_schema_input_type=str)] | None = described("every")
    keep: Annotated[int, whole(1)] = described("keep")
    history: Annotated[HistoryModel | None, mapping("max_failing: 0")] = described("history")
    refresh: Annotated[RefreshModel | None, mapping("mode: frozen")] = described("refresh")
    privacy: PrivacyModel = described("privacy")
    method: Annotated[MethodModel, BeforeValidator(fields.method, json_schema_input_type=str | MethodModel)] = (
        described("method", validate_default=True)
    )
    refine: Annotated[
        RefineModel | None, BeforeValidator(RefineModel.read, json_schema_input_type=Flag | RefineModel)
    ] = described("refine")
    suppression: Annotated[SuppressionModel | None, mapping("limit: 0.05")] = described("suppression")
    format: Annotated[
        FormatModel, BeforeValidator(fields.kind_only, json_schema_input_type=FormatWord | FormatModel)
    ] = described("format", validate_default=True)
    metrics: Metrics = described("metrics")
    execution: Annotated[Execution, one_of(*EXECUTIONS)] = described("execution")
    memory: Annotated[int, BeforeValidator(quantities.size, json_schema_input_type=int | str)] | None = described(
        "memory"
    )
    seed: Annotated[int, whole(0)] | None = described("seed")


class TablesModel(Part):
    """Several tables of the same persons, published together in one transaction.

    See [pseudonyms.md](pseudonyms.md#several-tables).

    Every other key of a release may be there, too, and holds for all tables.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    name: Text = described("tables:name")
    tables: Annotated[list[dict[str, Any]], Field(min_length=2)] = described("tables:tables")
    rotate: Annotated[Literal["version"], one_of("version")] | None = described("tables:rotate")


class PolicyModel(Part):
    """A whole policy file."""

    version: Annotated[int, whole(1, 1)] = described("policy:version")
    connection: Text | None = described("policy:connection", repr=False)
    releases: list[ReleaseModel | TablesModel] = described("policy:releases", min_length=1)
