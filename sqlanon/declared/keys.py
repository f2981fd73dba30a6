"""The keys of a policy, as one table.

It has the meaning of each, the default, and the form in Python and on the command line.

This is the only place where a key is described. The keyword arguments of `Database.anonymize`, the options of `sqlanon
anonymize`, the checks of files, the JSON Schema and docs/policy.md are made of it; `sqlanon.policy.models` groups keys.
Declarations of extensions are not read here, as this is done on import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from sqlanon.declared.column_keys import COLUMN_KEYS
from sqlanon.declared.decision_keys import DECISION_KEYS
from sqlanon.declared.formats import FORMATS
from sqlanon.declared.key import Form, Key
from sqlanon.declared.kinds import A_PLACE, A_SOURCE, A_TABLE, DURATION, FLAG, SIZE, TEXT
from sqlanon.declared.method_keys import METHOD_KEYS
from sqlanon.declared.metrics import MetricNames
from sqlanon.declared.noisy_keys import NOISY_KEYS
from sqlanon.declared.place_keys import PLACE_KEYS
from sqlanon.declared.privacy_keys import PRIVACY_KEYS
from sqlanon.declared.records import Names
from sqlanon.declared.refresh_keys import REFRESH_KEYS
from sqlanon.declared.statistics_keys import STATISTICS_KEYS
from sqlanon.declared.values import REQUIRED, SHARE, Integer, OneOf
from sqlanon.spec import (
    EFFORTS,
    EXECUTIONS,
    FormatSpec,
    NullPerson,
    Persons,
    RefreshSpec,
    Rest,
    RowsAre,
    RowSecurity,
)

_REFRESH = RefreshSpec()

TABLE: Final[tuple[Key, ...]] = (
    Key("policy:version", Integer(1, 1), REQUIRED, "The version of this format: 1."),
    Key(
        "policy:connection",
        TEXT,
        None,
        "`duckdb:///path`, `postgresql://...`, or of Spark `sc://host:port` or `spark+local:///DIR`. Keep passwords "
        "out of the file: `${SQLANON_PASSWORD}` is read from the environment. A relative path starts where the "
        "command runs.",
    ),
    Key(
        "policy:state",
        TEXT,
        None,
        "Of Spark, which has no transactions: a database that has, `duckdb:///path` or `postgresql://...`, for the "
        "ledgers of budgets and the noisy tables that they paid. Without `connection`, for releases of lake tables: "
        "the database of their catalog, private tables and views ([lake.md](lake.md#state)). Variables and relative "
        "paths are as in `connection`; a missing file is made.",
    ),
    Key("policy:releases", None, REQUIRED, "The releases, at least one."),
    Key(
        "name",
        TEXT,
        REQUIRED,
        "The release's name in the catalog and on the command line; unique in the file.",
        "str",
        "--name",
        "The release's name.",
    ),
    Key(
        "source",
        A_SOURCE,
        REQUIRED,
        "The table or view to release, `table` or `schema.table`; quote parts as in SQL. On DuckDB and "
        "PostgreSQL also a lake table: `delta:PATH`, `iceberg:CATALOG/namespace.table`, `parquet:GLOB` "
        "([lake.md](lake.md)).",
    ),
    Key(
        "publish",
        A_PLACE,
        None,
        "The view that readers get, `view` or `schema.view`; default: the release's name in the schema "
        "`release`. No two releases publish to the same view. Also `delta:PATH` or "
        "`iceberg:CATALOG/namespace.table`, a table that gets the rows of this default view ([lake.md](lake.md)).",
        "str",
        "--to",
        "A file; with --db a view (schema.name), or a file next to the view release.TABLE.",
        value="OUT",
    ),
    *PLACE_KEYS,
    Key("columns", None, REQUIRED, "The role of each column. At least one is quasi."),
    Key(
        "rest",
        OneOf(get_args(Rest)),
        "error",
        "What happens to columns of the source that are not listed: `error` stops, `drop` leaves them out, "
        "`keep` publishes them as they are.",
        "Rest",
        "--rest",
        "What happens to columns without a role.",
    ),
    Key(
        "rows_are",
        OneOf(get_args(RowsAre)),
        "persons",
        "`persons`: one row a person; an identifier that repeats stops the run. `events`: a person may have "
        "several rows, so k counts rows, not persons; run and audit then also count persons: each identifier "
        "without `accept_repeats` by itself, its NULLs as one value. A class of fewer than k persons stops the run, "
        "and fails an audit, unless `persons` says otherwise; with `person` classes are made so that none has fewer.",
        "RowsAre",
        "--rows-are",
        "events accepts identifiers that repeat.",
    ),
    Key(
        "person",
        Names(),
        (),
        "The column, or the columns together, that say whose row it is; their role is `identifier`, or of one column "
        "`pseudonym`. Implies `rows_are: events`. A run then publishes nothing unless k and l hold over persons as "
        "well; `persons` says how. Other identifiers are not counted. See [persons.md](persons.md).",
        "Names",
        "--person",
        "Identifiers that say together whose row it is.",
    ),
    Key(
        "persons",
        OneOf(get_args(Persons)),
        None,
        "With `person`: `whole` (the default there) or `rows`. `rows`: every class holds rows of at least k persons, "
        "and no sensitive value weighs more than 1/l where each person weighs one. This protects who is known by one "
        "event. `whole`: the same, and all rows of a person are in one class, which protects who is known by several "
        "or all events. Without `person`, with `rows_are: events`: `ignored` accepts classes of fewer than k persons. "
        "They are counted and shown nevertheless.",
        "Persons",
        "--persons",
        "rows: k and l also hold over persons. whole: and all rows of a person are in one class. ignored: accept fewer "
        "than k.",
    ),
    Key(
        "null_person",
        OneOf(get_args(NullPerson)),
        None,
        "With `person`: rows in which one of its columns is NULL belong to `one` person, or each to a `distinct` one. "
        "Default: they are refused.",
        "NullPerson",
        "--null-person",
        "Rows without a person are one, or distinct ones.",
    ),
    Key(
        "person_share",
        SHARE,
        None,
        "With `person`: the part of a class's rows that may be one person's, at most: 0.5, or \"1/3\".",
        "Number",
        "--person-share",
        "The part of a class's rows that one person may have.",
        value="SHARE",
    ),
    Key(
        "row_security",
        OneOf(get_args(RowSecurity)),
        None,
        "PostgreSQL: `applied` releases the rows that row-level security lets the releasing role see, and says so. "
        "Default: a run stops where it hides rows from this role, as a part would be released as if it were all.",
        "RowSecurity",
        "--row-security",
        "applied: release the rows that row-level security shows to this role.",
    ),
    Key(
        "readers",
        Names(),
        (),
        "Who reads the release. Roles of PostgreSQL are granted the views and lose them when they are no "
        "longer named; other names serve the warnings of plan.",
        "Names",
    ),
    Key(
        "dimensions",
        Names(A_TABLE),
        (),
        "Tables that `query` may join to the release, `table` or `schema.table`: what they contain about a value is "
        "no secret, and none holds rows of the release's persons. Any other table is refused without "
        "`--allow-linking`.",
        "Names",
    ),
    Key(
        "key",
        Names(),
        (),
        "Columns that identify a row in every version: together unique, never NULL, never "
        "published (identifiers). With it the private schema keeps keyed hash -> class of every version, and "
        "`audit --history` can measure what versions reveal together.",
        "Names",
    ),
    Key(
        "every",
        DURATION,
        None,
        "How often `run --due` looks at the release: 30m, 24h, 7d. Default: every time.",
        "str",
    ),
    Key(
        "keep",
        Integer(1),
        _REFRESH.keep,
        "Versions whose tables stay, the published one among them. `rollback` can return to those; with 1 to none.",
        "int",
    ),
    Key(
        "expire",
        FLAG,
        _REFRESH.expire,
        "With `publish: delta:..` or `iceberg:..`: versions beyond `keep` leave the history of the lake table as well, "
        "with their files, so that readers cannot go back to them. Queries that read them fail then.",
        "bool",
    ),
    Key("history", None, None, "With `key`, or a pseudonym: what two consecutive versions may reveal together."),
    Key("refresh", None, None, "How the release is made again."),
    Key(
        "privacy",
        None,
        REQUIRED,
        "What every class must meet.",
        "Mapping[str, object]",
        "--require",
        "A requirement by its name, such as one that an extension adds.",
        named="requirements",
        written=Form.REQUIREMENT_PAIRS,
        value="NAME=VALUE",
    ),
    Key(
        "effort",
        OneOf(EFFORTS),
        None,
        "How long to search for classes that lose little, where neither `method` nor `refine` is named. `fast`: method "
        "`tree` alone. `normal`, the default: the methods that fit the policy, and trials of `refine` on the better "
        "classes, about 10 s for 100,000 rows and 30 s for 1,000,000 on two cores; `high`: four times as long. `plan` "
        "states the seconds. A release that exists keeps its method until the policy changes, or a run has "
        "`--new-classes`. See [onedim.md](onedim.md#effort).",
        "Effort",
        "--effort",
        "How long to search for classes that lose little.",
    ),
    Key(
        "method",
        None,
        None,
        "The algorithm and its options. Default: chosen by `effort`; with `refine` alone it is `tree`.",
        "str | Mapping[str, object]",
        "--method",
        "NAME[:option=value,...]",
    ),
    Key(
        "refine",
        None,
        None,
        "Improve the method's classes by a local pass: `true`, `false` or a mapping.",
        "bool | Mapping[str, int]",
        "--refine",
        "Improve the classes by a local pass, and by N trials for each.",
        written=Form.SWITCH,
        value="[search=N]",
    ),
    Key(
        "suppression",
        None,
        None,
        "Rows that the method may suppress, at most, and what becomes of them; they are counted in every report, "
        "in the loss and in the bounds of queries. Default: none; only methods whose table says so take it.",
        "Mapping[str, Number]",
        "--suppression",
        "Rows that may be suppressed, at most.",
        written=Form.SETTINGS,
        value="limit=SHARE,rows=[starred|left_out]",
    ),
    Key(
        "format",
        None,
        FormatSpec().kind,
        "How classes are published.",
        "FormatKind | Mapping[str, object]",
        "--format",
        "How classes are published.",
        written=Form.WORD,
        words=FORMATS,
    ),
    Key(
        "metrics",
        Names(OneOf(MetricNames())),
        (),
        "Further metrics of the loss that a run measures and reports; `all`: every one. docs/metrics.md has their "
        "formulas. They take time, and change nothing that is published.",
        "Names",
        "--metrics",
        "Further metrics of the loss, or all.",
        value="METRICS",
    ),
    Key(
        "execution",
        OneOf(EXECUTIONS),
        "auto",
        "Where the method runs: compiled `kernel`, SQL `pushdown`, or chosen by size. All give the same release.",
        "Execution",
        "--execution",
        "Where the method runs.",
    ),
    Key(
        "memory",
        SIZE,
        None,
        "What the kernels may use: bytes, or text such as 4GB or 512MiB. Default: chosen from the machine.",
        "int | str",
        "--memory",
        "Memory for the method, such as 4GB.",
        value="SIZE",
    ),
    Key(
        "seed",
        Integer(0),
        None,
        "For what draws random numbers: the methods `idistance`, `topdown`, `anatomy`, `sequential` and "
        "`microaggregation`, the group numbers of format anatomy, and the search of `refine`. Default: drawn from the "
        "operating system; the search, `sequential` and `microaggregation` draw the same numbers in every run.",
        "int",
        "--seed",
        "Fix what is drawn at random.",
    ),
    *COLUMN_KEYS,
    *PRIVACY_KEYS,
    *METHOD_KEYS,
    Key(
        "format.kind",
        OneOf(FORMATS),
        FormatSpec().kind,
        " ".join(f"`{facts.name}`: {facts.about}" for facts in FORMATS.own),
    ),
    Key(
        "format.mean",
        Names(),
        (),
        "Numeric quasi columns without hierarchy that also publish their class mean. Only with `ranges` and "
        "k of at least 5.",
        "Names",
        "--mean",
        "Numeric columns that also publish class means.",
    ),
    *REFRESH_KEYS,
    *DECISION_KEYS,
    Key(
        "tables:name",
        TEXT,
        REQUIRED,
        "What they are called together. The release of each table is called `name.table`.",
    ),
    Key(
        "tables:tables",
        None,
        REQUIRED,
        "Of each table `source` and `columns`, and any other key of a release that differs from what is written for "
        "all of them. `name`: what it is called after the point, and the default of its view in the schema `release`; "
        "default: the source's last part. Classes are made in this order. Each table has the person's pseudonym; "
        "without a `scope` they share one of this release's name.",
    ),
    Key(
        "tables:rotate",
        OneOf(("version",)),
        None,
        "`version`: the tokens of every version are new ones, and what they are keyed with is kept nowhere, so that "
        "they link tables and no versions. Only with `tables`, and without `scope` and `secret`.",
    ),
    *STATISTICS_KEYS,
    *NOISY_KEYS,
)
"""Every key, in the order of the reference."""

KEYS: Final[Mapping[str, Key]] = {key.path: key for key in TABLE if not key.is_role}
"""The keys of policy files by their paths."""

FIRST: Final = "Options to begin with"
PUBLISHED: Final = "What is published"
PANELS: Final[Mapping[str, str]] = {
    FIRST: "publish quasi sensitive identifiers rest k l person hierarchies",
    "Further requirements": "distinct_l entropy_l recursive_cl alpha t beta delta_disclosure k_map delta_presence "
    "requirements compared_with joint presence boxes",
    "As private as a bound on the loss allows": "maximize at_least max_loss max_extent",
    "Columns": "pseudonyms insensitive scopes secrets ordered bottom top round weights accept_unique accept_repeats",
    "Several rows of a person": "rows_are persons null_person person_share",
    "Method": "effort method refine suppression execution memory seed",
    PUBLISHED: "format mean metrics publish_file publish_to row_security name",
    "What people decided": "context threshold review",
    "Releases that are made again": "readers dimensions key every keep expire max_failing",
}
"""The panels of ``--help``, each with the arguments; those of the last panel have no option."""

_NAMED = {key.name: key for key in TABLE if key.type}

ARGUMENTS: Final[tuple[Key, ...]] = tuple(_NAMED[name] for names in PANELS.values() for name in names.split())
"""The keys that are keyword arguments, in the order of ``--help``."""
