"""The keys of a policy, as data: their defaults, and what each means.

This is the one place where a key is described. What extensions declare is not asked for here, as this is done on import. `sqlanon.policy.models` adds types and checks, and makes the JSON Schema and
docs/policy.md of both; `arguments` says how keys are given from Python and on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.methods import METHODS
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import MAX_WEIGHT, FormatSpec, RefineSpec, RefreshSpec

REQUIRED: Final = object()
"""The default of a key that has none."""

_REFINE = RefineSpec()
_REFRESH = RefreshSpec()


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        default: its value where it is left out; None: nothing is asked.
        about: what it means, for people.
    """

    default: object
    about: str


POLICY = {
    "version": Key(REQUIRED, "The version of this format: 1."),
    "connection": Key(
        None,
        "`duckdb:///path`, `postgresql://...`, or of Spark `sc://host:port` or `spark+local:///DIR`. Keep passwords out of the file: `${SQLANON_PASSWORD}` is "
        "read from the environment. A relative path starts where the command runs.",
    ),
    "releases": Key(REQUIRED, "The releases, at least one."),
}
RELEASE = {
    "name": Key(REQUIRED, "The release's name in the catalog and on the command line; unique in the file."),
    "source": Key(
        REQUIRED, "The table or view to release, `table` or `schema.table`; quote parts as in SQL."
    ),
    "publish": Key(
        None,
        "The view that readers get, `view` or `schema.view`; default: the release's name in the schema "
        "`release`. No two releases publish to the same view.",
    ),
    "publish_file": Key(
        None,
        "DuckDB: another database file that will hold just this release. A relative path starts where the "
        "command runs.",
    ),
    "columns": Key(REQUIRED, "The role of each column. At least one is quasi."),
    "rest": Key(
        "error",
        "What happens to columns of the source that are not listed: `error` stops, `drop` leaves them out, "
        "`keep` publishes them as they are.",
    ),
    "rows_are": Key(
        "persons",
        "`persons`: one row a person; an identifier that repeats stops the run. `events`: a person may have "
        "several rows, so k counts rows, not persons; run and audit then also count persons: each identifier "
        "without `accept_repeats` by itself, its NULLs as one value. A class of fewer than k persons stops the run, "
        "and fails an audit, unless `persons` says otherwise; with `person` classes are made so that none has fewer.",
    ),
    "person": Key(
        (),
        "The column, or the columns together, that say whose row it is; their role is `identifier`, or of one column `pseudonym`. Implies `rows_are: events`. "
        "A run then publishes nothing unless k and l hold over persons as well; `persons` says how. Other "
        "identifiers are not counted. See [persons.md](persons.md).",
    ),
    "persons": Key(
        None,
        "With `person`: `whole` (the default there) or `rows`. `rows`: every class holds rows of at least k persons, and no sensitive value weighs more than 1/l where each "
        "person weighs one. This protects who is known by one event. `whole`: the same, and all rows of a person are in one class, "
        "which protects who is known by several or all events. Without `person`, with `rows_are: events`: `ignored` accepts classes of fewer than k persons. They are "
        "counted and shown nevertheless.",
    ),
    "null_person": Key(
        None,
        "With `person`: rows in which one of its columns is NULL belong to `one` person, or each to a `distinct` one. Default: they "
        "are refused.",
    ),
    "person_share": Key(
        None, "With `person`: the part of a class's rows that may be one person's, at most: 0.5, or \"1/3\"."
    ),
    "row_security": Key(
        None,
        "PostgreSQL: `applied` releases the rows that row-level security lets the releasing role see, and says so. Default: a run stops where it hides rows "
        "from this role, as a part would be released as if it were all.",
    ),
    "readers": Key(
        (),
        "Who reads the release. Roles of PostgreSQL are granted the views and lose them when they are no "
        "longer named; other names serve the warnings of plan.",
    ),
    "dimensions": Key(
        (),
        "Tables that `query` may join to the release, `table` or `schema.table`: what they contain about a value is "
        "no secret, and none holds rows of the release's persons. Any other table is refused without "
        "`--allow-linking`.",
    ),
    "key": Key(
        (),
        "Columns that identify a row in every version: together unique, never NULL, never "
        "published (identifiers). With it the private schema keeps keyed hash -> class of every version, and "
        "`audit --history` can measure what versions reveal together.",
    ),
    "every": Key(None, "How often `run --due` looks at the release: 30m, 24h, 7d. Default: every time."),
    "keep": Key(
        _REFRESH.keep,
        "Versions whose tables stay, the published one among them. `rollback` can return to those; with 1 to "
        "none.",
    ),
    "history": Key(None, "With `key`, or a pseudonym: what two consecutive versions may reveal together."),
    "refresh": Key(None, "How the release is made again."),
    "privacy": Key(REQUIRED, "What every class must meet."),
    "method": Key("tree", "The algorithm and its options."),
    "refine": Key(None, "Improve the method's classes by a local pass: `true`, `false` or a mapping."),
    "suppression": Key(
        None,
        "Rows that the method may suppress, at most, and what becomes of them; they are counted in every report, "
        "in the loss and in the bounds of queries. Default: none; only methods whose table says so take it.",
    ),
    "format": Key(FormatSpec().kind, "How classes are published."),
    "metrics": Key(
        (),
        "Further metrics of the loss that a run measures and reports; `all`: every one. docs/metrics.md has their formulas. They "
        "take time, and change nothing that is published.",
    ),
    "execution": Key(
        "auto",
        "Where the method runs: compiled `kernel`, SQL `pushdown`, or chosen by size. All give the same "
        "release.",
    ),
    "memory": Key(
        None,
        "What the kernels may use: bytes, or text such as 4GB or 512MiB. Default: chosen from the machine.",
    ),
    "seed": Key(
        None,
        "For what draws random numbers: the methods `idistance`, `topdown`, `anatomy` and `sequential`, the group numbers of format "
        "anatomy, and the search of `refine`. Default: drawn from the operating system; the search and `sequential` draw the same "
        "numbers in every run.",
    ),
}
COLUMN = {
    "role": Key(
        REQUIRED,
        "What the column is for. `identifier`: names a person, is never published. `pseudonym`: the person's column, or a number of each "
        "row, published as a token: a keyed hash by which tables can be joined ([pseudonyms.md](pseudonyms.md)). `quasi`: others may know "
        "it; it is generalized. `sensitive`: must not be learned about a person; published as it is, "
        "protected by l. `insensitive`: published as it is.",
    ),
    "weight": Key(
        1,
        "How much the loss of this quasi column counts against the others. The weights of a release sum to "
        f"at most {MAX_WEIGHT}.",
    ),
    "hierarchy": Key(
        None,
        "Classes publish the label of a node: a CSV file in ARX's format, `leaf;parent;...;*`, relative to the policy file, or a "
        "mapping that says how the nodes are built. As text: `steps:5,10,20`, `calendar:month,year`, `prefix:3,2,1`, `mask:right`, "
        "`table:schema.t`. Sensitive columns: a file, groups or a table, for `t` with `distance: hierarchical`.",
    ),
    "ordered": Key(
        None,
        "Quasi columns of text or enum type, which otherwise have no order: `alphabetical` (by bytes), "
        "`declared` (the enum's own order), the list of values in order, or a file with one value per line, "
        "relative to the policy file. Not together with `hierarchy`. Sensitive columns: for `t` with `distance: ordered`.",
    ),
    "bottom": Key(
        None,
        'Quasi columns of numbers, dates and timestamps: values below are published as this one, which then means "at most". One outlier '
        "otherwise makes every range look narrow beside the whole.",
    ),
    "top": Key(None, 'The same above: values above are published as this one, which then means "at least".'),
    "round": Key(
        None,
        "Quasi columns of numbers: values become the nearest multiple of this number, halves the greater one, before `bottom` and `top`.",
    ),
    "accept_unique": Key(
        False,
        "Sensitive and insensitive columns: publish the column although many of its values occur once, or are one person's alone, and "
        "could name a person. Quasi columns of text without a hierarchy: publish lists of values although more than half of the "
        "rows, or persons, have values of their own.",
    ),
    "accept_repeats": Key(
        False,
        "Identifiers: equal values are not the same person (names, free text), so that repeats, and several "
        "NULLs, do not stop the run and are not counted as persons.",
    ),
    "scope": Key(
        None,
        "The person's pseudonym: a name under which releases of this database share tokens, so that they can be joined. Each of them is "
        "checked together with all that are published in the scope. Default: the release's name.",
    ),
    "secret": Key(
        None,
        "The person's pseudonym: the environment variable that holds what tokens are keyed with, as `${NAME}`; its value is read by a run, "
        "and written nowhere. Default: a random secret that the private schema keeps for the scope.",
    ),
}
HIERARCHY = {
    "file": Key(None, "The CSV file, which may also be written alone in place of the mapping."),
    "steps": Key(
        None,
        "Numbers, dates and timestamps: widths of intervals, each a multiple of the one before it, in the column's units; days for "
        "dates. A node is `20..24` where values are whole, `20..<25` where they are not.",
    ),
    "from": Key(None, "With `steps`: where an interval begins. Default: 0, or 1970-01-01."),
    "calendar": Key(
        None,
        "Dates and timestamps: some of `day`, `week`, `month`, `quarter`, `year`, `decade`, each made of whole ones before it. Weeks "
        "begin on Monday and are part of no other unit. With time zone: in UTC.",
    ),
    "prefix": Key(
        None,
        "Text: how many first characters a node keeps, a smaller number at each level: `C50*`, `C5*`, `C*`.",
    ),
    "mask": Key(
        None,
        "Text: `right` hides the last character with `*`, at the next level the one before it as well: `1234*`, `123**`.",
    ),
    "groups": Key(
        None,
        "A name for each list of values: `{young: [18, 19, 20], old: [90, 91]}`. A group of groups is a mapping in place of the "
        "list. Every value of the column is in one of them.",
    ),
    "table": Key(
        None,
        "A table of the same database: a leaf in its first column, its parents in the next ones, the root in the last; it is read "
        "when the release is made.",
    ),
    "other": Key(
        None,
        "With `file`, `groups` or `table`, quasi columns: the value that those count as which are not listed, which otherwise stop a run. One that is "
        "listed, or a new one right below the root.",
    ),
}
PRIVACY = {
    **{one.name: Key(None, one.about) for one in REQUIREMENTS.own},
    "joint": Key(
        False, "With several sensitive columns: l and distinct_l also hold within every value of the others."
    ),
    "maximize": Key(
        None,
        "Make this as large as `max_loss` and `max_extent` allow, at least one of which it needs, and no "
        "smaller than `at_least`. Not together with `k`, `l`, `distinct_l` and `joint`.",
    ),
    "max_loss": Key(None, "With `maximize`: what every class may lose, at most."),
    "max_extent": Key(
        None,
        "With `maximize`: quasi columns and how far a class may reach there, at most, in the column's own "
        "units: numbers as they are, days for dates and timestamps, leaves of a hierarchy's node.",
    ),
    "at_least": Key(None, "With `maximize`, required: the least that is accepted."),
    "presence": Key(
        None,
        "Format anatomy: `disclosed` accepts that exact quasi values meet no k and confirm who is in the "
        "table, so that k may be asked for nevertheless.",
    ),
    "boxes": Key(
        None,
        "Method freeform: `own` accepts that every row has a box of its own, which k rows fit, in place of a class of k rows. "
        "That is weaker: docs/threat-model.md says how.",
    ),
}
MAX_LOSS = {
    "per_class_ncp": Key(
        REQUIRED,
        "The weighted NCP of a class, at most: a number from 0 to 1, taken exactly as it is written. 0 keeps "
        "every quasi value as it is.",
    ),
}
AT_LEAST = {
    "k": Key(None, "Rows in a class, at least."),
    "l": Key(
        None, "Frequency l-diversity, as `privacy.l`. 1 asks for nothing; 2 is the least that hides a value."
    ),
}
METHOD = {
    "name": Key(
        REQUIRED,
        f"{', '.join(f'`{one.name}`' for one in METHODS.own)}. docs/onedim.md says which to take.",
    ),
}
REFINE = {
    "window": Key(_REFINE.window, "Classes on either side that a row looks at."),
    "passes": Key(_REFINE.passes, "Runs over all rows, at most; it ends earlier when nothing moves."),
    "search": Key(
        _REFINE.search,
        "Trials after the passes, for every class that loses something: the rows of a few near classes are divided anew, "
        "and stay so where they lose less. `refine: true` takes the number from a table, which docs/onedim.md shows.",
    ),
}
SUPPRESSION = {
    "limit": Key(0, "The share of the source's rows, at most: 0.02 allows 2 of 100."),
    "rows": Key(
        "starred",
        "`starred`: published with `*` in every quasi column, as one class that meets every requirement; their other "
        "columns are shown. `left_out`: not published; only their number is.",
    ),
}
FORMAT = {
    "kind": Key(FormatSpec().kind, " ".join(f"`{facts.name}`: {facts.about}" for facts in FORMATS.own)),
    "mean": Key(
        (),
        "Numeric quasi columns without hierarchy that also publish their class mean. Only with `ranges` and "
        "k of at least 5.",
    ),
}
REFRESH = {
    "mode": Key(
        _REFRESH.mode,
        "`full`: every version is computed anew from the whole source. What versions reveal together is "
        "measured (see `history`), not prevented. `frozen`: a row is published in one class, once, and stays as it was published until its whole "
        "class has left the source; new rows wait and are published together. All versions together keep what each promises. Needs `key`. "
        "See [frozen.md](frozen.md).",
    ),
    "cohort": Key(
        None, "With `mode: frozen`: when the rows that wait are published together, as classes of their own."
    ),
    "max_stale": Key(
        None,
        "With `mode: frozen`: the share of the published rows that the source has with other values, at most; with more, `run` publishes nothing.",
    ),
    "max_retained": Key(
        None, "With `mode: frozen`: the share of the published rows that the source no longer has, at most."
    ),
    "max_waiting": Key(
        None,
        "With `mode: frozen`: the share of the source's rows that are not published, at most.",
    ),
    "max_age": Key(
        None, "With `mode: frozen`: how long a row that was never published may wait, at most: 24h, 7d."
    ),
}
COHORT = {
    "rows": Key(None, "Publish them when so many wait; at least k. Default: 50 times k."),
    "every": Key(
        None,
        "Publish them, if at least k wait, when one has waited so long: 24h, 7d. Default: only `rows` counts.",
    ),
}
HISTORY = {
    "max_failing": Key(
        None,
        "Rows that may be left in groups below k (of events: k persons), l or distinct_l, at most, when a reader compares "
        "the new version with the published one; of a release with pseudonyms also tokens among fewer than k; with more, `run` publishes nothing. Default: any number; with `boxes: own` it must "
        "be given for a version that changes candidates.",
    ),
}

TABLES = {
    "name": Key(REQUIRED, "What they are called together. The release of each table is called `name.table`."),
    "tables": Key(
        REQUIRED,
        "Of each table `source` and `columns`, and any other key of a release that differs from what is written for all of them. "
        "`name`: what it is called after the point, and the default of its view in the schema `release`; default: the source's last part. "
        "Classes are made in this order. Each table has the person's pseudonym; without a `scope` they share one of this release's name.",
    ),
    "rotate": Key(
        None,
        "`version`: the tokens of every version are new ones, and what they are keyed with is kept nowhere, so that they link tables and no versions. "
        "Only with `tables`, and without `scope` and `secret`.",
    ),
}

KEYS: Mapping[str, Mapping[str, Key]] = {
    "policy": POLICY,
    "release": RELEASE,
    "tables": TABLES,
    "column": COLUMN,
    "hierarchy": HIERARCHY,
    "privacy": PRIVACY,
    "max_loss": MAX_LOSS,
    "at_least": AT_LEAST,
    "method": METHOD,
    "refine": REFINE,
    "suppression": SUPPRESSION,
    "format": FORMAT,
    "refresh": REFRESH,
    "cohort": COHORT,
    "history": HISTORY,
}
"""Every key by the part of a policy that holds it."""
