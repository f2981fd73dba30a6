"""The keys of a policy, as one table.

It has the meaning of each, the default, and the form in Python and on the command line.

This is the only place where a key is described. The keyword arguments of `Database.anonymize`, the options of `sqlanon
anonymize`, the checks of files, the JSON Schema and docs/policy.md are made of it; `sqlanon.policy.models` groups keys.
Declarations of extensions are not read here, as this is done on import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlanon.declared.column_keys import COLUMN_KEYS
from sqlanon.declared.decision_keys import DECISION_KEYS
from sqlanon.declared.formats import FORMATS
from sqlanon.declared.key import Key
from sqlanon.declared.kinds import A_PLACE, A_SOURCE, TEXT
from sqlanon.declared.method_keys import METHOD_KEYS
from sqlanon.declared.noisy_keys import NOISY_KEYS
from sqlanon.declared.place_keys import PLACE_KEYS
from sqlanon.declared.privacy_keys import PRIVACY_KEYS
from sqlanon.declared.records import Names
from sqlanon.declared.refresh_keys import REFRESH_KEYS
from sqlanon.declared.release_keys import RELEASE_KEYS
from sqlanon.declared.statistics_keys import STATISTICS_KEYS
from sqlanon.declared.values import REQUIRED, Integer, OneOf
from sqlanon.spec import (
    FormatSpec,
)

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
        "The table or view to release, `table` or `schema.table`; quote parts as in SQL. Also a lake table: "
        "`delta:PATH`, `iceberg:CATALOG/namespace.table`, `parquet:GLOB` ([lake.md](lake.md)); on Spark a small "
        "one.",
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
    *RELEASE_KEYS,
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
