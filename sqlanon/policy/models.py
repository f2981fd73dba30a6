"""The policy file as pydantic models: its keys, types, defaults and the words that explain them.

Only the file boundary uses these. The descriptions are the one text about each key: editors show them through
``sqlanon schema``, and ``docs/policy.md`` is generated from them. A new key is one field here, one line in
`checks.build`, and, if it must fit with others, one check there.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sqlanon.declared import FORMATS, METHODS, REQUIREMENTS
from sqlanon.policy import fields
from sqlanon.policy.fields import amount, duration, flag, mapping, one_of, whole
from sqlanon.spec import (
    EXECUTIONS,
    MAX_PASSES,
    MAX_WEIGHT,
    MAX_WINDOW,
    MODES,
    ROLES,
    Execution,
    FormatKind,
    FormatSpec,
    Persons,
    RefineSpec,
    RefreshMode,
    RefreshSpec,
    Rest,
    Role,
    RowsAre,
)

Text = Annotated[str, BeforeValidator(fields.text)]
Table = Annotated[str, BeforeValidator(fields.table_name)]
Names = Annotated[list[str], BeforeValidator(fields.names, json_schema_input_type=str | list[str])]
Tables = Annotated[list[Table], BeforeValidator(fields.names, json_schema_input_type=str | list[str])]
Flag = Annotated[bool, BeforeValidator(flag)]
Ordered = Annotated[
    str | list[str], BeforeValidator(fields.order, json_schema_input_type=str | list[str | float])
]
RoleWord = Annotated[Role, one_of(*ROLES)]
FormatWord = Annotated[FormatKind, one_of(*FORMATS)]
Frequency = Annotated[Fraction, BeforeValidator(fields.fraction, json_schema_input_type=float | str)]


def _or(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"


_REFINE = RefineSpec()
_REFRESH = RefreshSpec()


class Part(BaseModel):
    """What all parts of a policy file share: unknown keys are errors, nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ColumnModel(Part):
    """One column of the source. Its role alone may be written as text: `age: quasi`."""

    role: RoleWord = Field(
        description="What the column is for. `identifier`: names a person, is never published. `quasi`: others may "
        "know it; it is generalized. `sensitive`: must not be learned about a person; published as it is, protected "
        "by l. `insensitive`: published as it is."
    )
    weight: Annotated[int, whole(1, MAX_WEIGHT)] = Field(
        1,
        description="How much the loss of this quasi column counts against the others. The weights of a release sum "
        f"to at most {MAX_WEIGHT}.",
    )
    hierarchy: Text | None = Field(
        None,
        description="Quasi columns: a CSV file in ARX's format, `leaf;parent;...;*`, relative to the policy file. "
        "Classes publish a node's label.",
    )
    ordered: Ordered | None = Field(
        None,
        description="Quasi columns of text or enum type, which otherwise have no order: `alphabetical` (by bytes), "
        "`declared` (the enum's own order), the list of values in order, or a file with one value per line, relative "
        "to the policy file. Not together with `hierarchy`.",
    )
    accept_unique: Flag = Field(
        False,
        description="Sensitive and insensitive columns: publish the column although many of its values occur once "
        "and could name a person.",
    )
    accept_repeats: Flag = Field(
        False,
        description="Identifiers: equal values are not the same person (names, free text), so that repeats, and several "
        "NULLs, do not stop the run and are not counted as persons.",
    )


class MaxLossModel(Part):
    """What every class may lose, at most."""

    per_class_ncp: Annotated[Fraction, amount(1)] = Field(
        description="The weighted NCP of a class, at most: a number from 0 to 1, taken exactly as it is written. 0 keeps "
        "every quasi value as it is."
    )


class AtLeastModel(Part):
    """The least privacy that is accepted with `maximize`. Where the bound on the loss allows less, nothing is published.

    The requirement that is maximized is needed here; the other one may be asked for as well.
    """

    k: Annotated[int, whole(1)] | None = Field(None, description="Rows in a class, at least.")
    l: Frequency | None = Field(  # noqa: E741 - the papers' symbol
        None,
        description="Frequency l-diversity, as `privacy.l`. 1 asks for nothing; 2 is the least that hides a value.",
    )


class PrivacyModel(Part):
    """What every class (the rows that look alike in all quasi columns) must meet.

    Either `k`, `l` and `distinct_l` are given and the loss becomes small, or `max_loss` or `max_extent` bounds what every
    class may lose and `maximize` makes k or l as large as that allows:
    `privacy: {max_loss: {per_class_ncp: 0.3}, maximize: l, at_least: {l: 2}}` or
    `privacy: {max_extent: {age: 10}, maximize: k, at_least: {k: 5}}`.
    """

    # Requirements that extensions add have no field here: `sqlanon.policy.privacy` reads their keys.

    k: Annotated[int | None, whole(1)] = Field(
        None,
        description=REQUIREMENTS["k"].about,
    )
    l: Frequency | None = Field(  # noqa: E741 - the papers' symbol
        None,
        description=REQUIREMENTS["l"].about,
    )
    distinct_l: Annotated[int, whole(1)] | None = Field(None, description=REQUIREMENTS["distinct_l"].about)
    joint: Flag = Field(
        False,
        description="With several sensitive columns: l and distinct_l also hold within every value of the others.",
    )
    maximize: Annotated[Literal["k", "l"], one_of("k", "l")] | None = Field(
        None,
        description="Make this as large as `max_loss` and `max_extent` allow, at least one of which it needs, and no "
        "smaller than `at_least`. Not together with `k`, `l`, `distinct_l` and `joint`.",
    )
    max_loss: Annotated[MaxLossModel | None, mapping("per_class_ncp: 0.3")] = Field(
        None, description="With `maximize`: what every class may lose, at most."
    )
    max_extent: Annotated[dict[str, Annotated[Fraction, amount()]] | None, mapping("age: 10")] = Field(
        None,
        description="With `maximize`: quasi columns and how far a class may reach there, at most, in the column's own "
        "units: numbers as they are, days for dates and timestamps, leaves of a hierarchy's node.",
    )
    at_least: Annotated[AtLeastModel | None, mapping("l: 2")] = Field(
        None, description="With `maximize`, required: the least that is accepted."
    )
    presence: Annotated[Literal["disclosed"], one_of("disclosed")] | None = Field(
        None,
        description="Format anatomy: `disclosed` accepts that exact quasi values meet no k and confirm who is in the "
        "table, so that k may be asked for nevertheless.",
    )


class MethodModel(Part):
    """The algorithm. Its name alone, or `name:option=value,option=value`, may be written as text.

    All further keys are options of the method, which the table of methods lists.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)
    __pydantic_extra__: dict[
        str, Annotated[str, BeforeValidator(fields.option, json_schema_input_type=str | float | bool)]
    ]

    name: Annotated[str, BeforeValidator(fields.word)] = Field(
        description=f"{_or(f'`{name}`' for name in METHODS)}. docs/onedim.md and docs/mondrian.md say which to take."
    )


class RefineModel(Part):
    """A local pass after the method: rows move to, or change places with rows of, classes near theirs while the loss falls.

    The result meets every requirement and is never worse. `refine: true` takes the defaults.
    """

    window: Annotated[int, whole(1, MAX_WINDOW)] = Field(
        _REFINE.window, description="Classes on either side that a row looks at."
    )
    passes: Annotated[int, whole(1, MAX_PASSES)] = Field(
        _REFINE.passes, description="Runs over all rows, at most; it ends earlier when nothing moves."
    )


class FormatModel(Part):
    """How a class is published. The kind alone may be written as text: `format: labels`."""

    kind: FormatWord = Field(
        FormatSpec().kind,
        description=" ".join(f"`{facts.name}`: {facts.about}" for facts in FORMATS.values()),
    )
    mean: Names = Field(
        [],
        description="Numeric quasi columns without hierarchy that also publish their class mean. Only with `ranges` "
        "and k of at least 5.",
    )


class RefreshModel(Part):
    """How a release is made again."""

    mode: Annotated[RefreshMode, one_of(*MODES)] = Field(
        _REFRESH.mode,
        description="`full`: every version is computed anew from the whole source. What versions tell together is measured "
        "(see `history`), not prevented.",
    )


class HistoryModel(Part):
    """What two versions in a row may tell together. Needs `key`."""

    max_failing: Annotated[int, whole(0)] | None = Field(
        None,
        description="Rows that may be left in groups below k (of events: k persons), l or distinct_l, at most, when a reader compares the new "
        "version with the published one; with more, `run` publishes nothing. Default: any number.",
    )


class ReleaseModel(Part):
    """One release of one source."""

    name: Text = Field(
        description="The release's name in the catalog and on the command line; unique in the file."
    )
    source: Table = Field(
        description="The table or view to release, `table` or `schema.table`; quote parts as in SQL."
    )
    publish: Table | None = Field(
        None,
        description="The view that readers get, `view` or `schema.view`; default: the release's name in the schema "
        "`release`. No two releases publish to the same view.",
    )
    publish_file: Text | None = Field(
        None,
        description="DuckDB: another database file that will hold just this release. A relative path starts where "
        "the command runs.",
    )
    columns: dict[
        str,
        Annotated[ColumnModel, BeforeValidator(fields.role_only, json_schema_input_type=Role | ColumnModel)],
    ] = Field(description="The role of each column. At least one is quasi.")
    rest: Annotated[Rest, one_of("error", "drop", "keep")] = Field(
        "error",
        description="What happens to columns of the source that are not listed: `error` stops, `drop` leaves them "
        "out, `keep` publishes them as they are.",
    )
    rows_are: Annotated[RowsAre, one_of("persons", "events")] = Field(
        "persons",
        description="`persons`: one row a person; an identifier that repeats stops the run. `events`: a person may "
        "have several rows, so k counts rows, not persons; run and audit then also count persons: each identifier without "
        "`accept_repeats` by itself, its NULLs as one value. Classes of fewer than k persons are a warning of run and fail an "
        "audit, unless `persons` says otherwise.",
    )
    persons: Annotated[Persons, one_of("ignored")] | None = Field(
        None,
        description="With `rows_are: events`: `ignored` accepts classes of fewer than k persons. They are counted and shown "
        "nevertheless.",
    )
    readers: Names = Field(
        [],
        description="Who reads the release. Roles of PostgreSQL are granted the views and lose them when they are no longer "
        "named; other names serve the warnings of plan.",
    )
    dimensions: Tables = Field(
        [],
        description="Tables that `query` may join to the release, `table` or `schema.table`: what they say of a value is no secret, "
        "and none holds rows of the release's persons. Any other table is refused without `--allow-linking`.",
    )
    key: Names = Field(
        [],
        description="Columns that tell which row is which from version to version: together unique, never NULL, never "
        "published (identifiers). With it the private schema keeps keyed hash -> class of every version, and `audit "
        "--history` can tell what versions reveal together.",
    )
    every: Annotated[int, BeforeValidator(duration, json_schema_input_type=str)] | None = Field(
        None,
        description="How often `run --due` looks at the release: 30m, 24h, 7d. Default: every time.",
    )
    keep: Annotated[int, whole(1)] = Field(
        _REFRESH.keep,
        description="Versions whose tables stay, the published one among them. `rollback` can return to those; with 1 to none.",
    )
    history: Annotated[HistoryModel | None, mapping("max_failing: 0")] = Field(
        None, description="With `key`: what two versions in a row may tell together."
    )
    refresh: Annotated[RefreshModel | None, mapping("mode: full")] = Field(
        None, description="How the release is made again."
    )
    privacy: PrivacyModel = Field(description="What every class must meet.")
    method: Annotated[
        MethodModel, BeforeValidator(fields.method, json_schema_input_type=str | MethodModel)
    ] = Field(
        default_factory=lambda: MethodModel(name="tree"),
        description="The algorithm and its options. Default: `tree`.",
    )
    refine: Annotated[
        RefineModel | None, BeforeValidator(fields.switch, json_schema_input_type=Flag | RefineModel)
    ] = Field(None, description="Improve the method's classes by a local pass: `true`, `false` or a mapping.")
    format: Annotated[
        FormatModel, BeforeValidator(fields.kind_only, json_schema_input_type=FormatWord | FormatModel)
    ] = Field(default_factory=FormatModel, description="How classes are published.")
    execution: Annotated[Execution, one_of(*EXECUTIONS)] = Field(
        "auto",
        description="Where the method runs: compiled `kernel`, SQL `pushdown`, or chosen by size. All give the same "
        "release.",
    )
    memory: Annotated[int, BeforeValidator(fields.size, json_schema_input_type=int | str)] | None = Field(
        None,
        description="What the kernels may use: bytes, or text such as 4GB or 512MiB. Default: chosen from the machine.",
    )
    seed: Annotated[int, whole(0)] | None = Field(
        None,
        description="For what draws random numbers: the methods `idistance`, `topdown` and `anatomy`, and the group numbers of format "
        "anatomy. Default: drawn from the operating system.",
    )


class PolicyModel(Part):
    """A whole policy file."""

    version: Annotated[int, whole(1, 1)] = Field(description="The version of this format: 1.")
    connection: Text | None = Field(
        None,
        repr=False,
        description="`duckdb:///path` or `postgresql://...`. Keep passwords out of the file: `${SQLANON_PASSWORD}` is "
        "read from the environment. A relative path starts where the command runs.",
    )
    releases: list[ReleaseModel] = Field(min_length=1, description="The releases, at least one.")
