"""The keys of a policy, as one table: what each means, its default, and how it is given from Python and on the command line.

This is the one place where a key is described. The keyword arguments of `Database.anonymize`, the options of `sqlanon anonymize`, the
JSON Schema and docs/policy.md are made of it; `sqlanon.policy.models` adds what files are checked by. What extensions declare is not
asked for here, as this is done on import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.key import REQUIRED, Form, Key
from sqlanon.declared.methods import METHODS
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import MAX_WEIGHT, FormatSpec, RefineSpec, RefreshSpec

_REFINE = RefineSpec()
_REFRESH = RefreshSpec()
_ABOUT = {one.name: one.about for one in REQUIREMENTS.own}

TABLE: Final[tuple[Key, ...]] = (
    Key("policy:version", REQUIRED, "The version of this format: 1."),
    Key(
        "policy:connection", None,
        "`duckdb:///path`, `postgresql://...`, or of Spark `sc://host:port` or `spark+local:///DIR`. Keep passwords out of the file: `${SQLANON_PASSWORD}` is "
        "read from the environment. A relative path starts where the command runs.",
    ),
    Key("policy:releases", REQUIRED, "The releases, at least one."),
    Key(
        "name", REQUIRED, "The release's name in the catalog and on the command line; unique in the file.",
        "str", "--name", "The release's name.",
    ),
    Key("source", REQUIRED, "The table or view to release, `table` or `schema.table`; quote parts as in SQL."),
    Key(
        "publish", None,
        "The view that readers get, `view` or `schema.view`; default: the release's name in the schema "
        "`release`. No two releases publish to the same view.",
        "str", "--to", "A file; with --db a view (schema.name), or a file next to the view release.TABLE.", value="OUT",
    ),
    Key(
        "publish_file", None,
        "DuckDB: another database file that will hold just this release. A relative path starts where the "
        "command runs.",
        "FileName", "--publish-file", "DuckDB: publish into this other file.", value="FILE",
    ),
    Key("columns", REQUIRED, "The role of each column. At least one is quasi."),
    Key(
        "rest", "error",
        "What happens to columns of the source that are not listed: `error` stops, `drop` leaves them out, "
        "`keep` publishes them as they are.",
        "Rest", "--rest", "What happens to columns without a role.",
    ),
    Key(
        "rows_are", "persons",
        "`persons`: one row a person; an identifier that repeats stops the run. `events`: a person may have "
        "several rows, so k counts rows, not persons; run and audit then also count persons: each identifier "
        "without `accept_repeats` by itself, its NULLs as one value. A class of fewer than k persons stops the run, "
        "and fails an audit, unless `persons` says otherwise; with `person` classes are made so that none has fewer.",
        "RowsAre", "--rows-are", "events accepts identifiers that repeat.",
    ),
    Key(
        "person", (),
        "The column, or the columns together, that say whose row it is; their role is `identifier`, or of one column `pseudonym`. Implies `rows_are: events`. "
        "A run then publishes nothing unless k and l hold over persons as well; `persons` says how. Other "
        "identifiers are not counted. See [persons.md](persons.md).",
        "Names", "--person", "Identifiers that say together whose row it is.",
    ),
    Key(
        "persons", None,
        "With `person`: `whole` (the default there) or `rows`. `rows`: every class holds rows of at least k persons, and no sensitive value weighs more than 1/l where each "
        "person weighs one. This protects who is known by one event. `whole`: the same, and all rows of a person are in one class, "
        "which protects who is known by several or all events. Without `person`, with `rows_are: events`: `ignored` accepts classes of fewer than k persons. They are "
        "counted and shown nevertheless.",
        "Persons", "--persons", "rows: k and l also hold over persons. whole: and all rows of a person are in one class. ignored: accept fewer than k.",
    ),
    Key(
        "null_person", None,
        "With `person`: rows in which one of its columns is NULL belong to `one` person, or each to a `distinct` one. Default: they "
        "are refused.",
        "NullPerson", "--null-person", "Rows without a person are one, or distinct ones.",
    ),
    Key(
        "person_share", None,
        "With `person`: the part of a class's rows that may be one person's, at most: 0.5, or \"1/3\".",
        "Number", "--person-share", "The part of a class's rows that one person may have.", value="SHARE",
    ),
    Key(
        "row_security", None,
        "PostgreSQL: `applied` releases the rows that row-level security lets the releasing role see, and says so. Default: a run stops where it hides rows "
        "from this role, as a part would be released as if it were all.",
        "RowSecurity", "--row-security", "applied: release the rows that row-level security shows to this role.",
    ),
    Key(
        "readers", (),
        "Who reads the release. Roles of PostgreSQL are granted the views and lose them when they are no "
        "longer named; other names serve the warnings of plan.",
        "Names",
    ),
    Key(
        "dimensions", (),
        "Tables that `query` may join to the release, `table` or `schema.table`: what they contain about a value is "
        "no secret, and none holds rows of the release's persons. Any other table is refused without "
        "`--allow-linking`.",
        "Names",
    ),
    Key(
        "key", (),
        "Columns that identify a row in every version: together unique, never NULL, never "
        "published (identifiers). With it the private schema keeps keyed hash -> class of every version, and "
        "`audit --history` can measure what versions reveal together.",
        "Names",
    ),
    Key(
        "every", None, "How often `run --due` looks at the release: 30m, 24h, 7d. Default: every time.",
        "str",
    ),
    Key(
        "keep", _REFRESH.keep,
        "Versions whose tables stay, the published one among them. `rollback` can return to those; with 1 to "
        "none.",
        "int",
    ),
    Key("history", None, "With `key`, or a pseudonym: what two consecutive versions may reveal together."),
    Key("refresh", None, "How the release is made again."),
    Key(
        "privacy", REQUIRED, "What every class must meet.",
        "Mapping[str, object]", "--require", "A requirement by its name, such as one that an extension adds.",
        named="requirements", written=Form.REQUIREMENT_PAIRS, value="NAME=VALUE",
    ),
    Key(
        "method", "tree", "The algorithm and its options.",
        "str | Mapping[str, object]", "--method", "NAME[:option=value,...]",
    ),
    Key(
        "refine", None, "Improve the method's classes by a local pass: `true`, `false` or a mapping.",
        "bool | Mapping[str, int]", "--refine", "Improve the classes by a local pass, and by N trials for each.",
        written=Form.SWITCH, value="[search=N]",
    ),
    Key(
        "suppression", None,
        "Rows that the method may suppress, at most, and what becomes of them; they are counted in every report, "
        "in the loss and in the bounds of queries. Default: none; only methods whose table says so take it.",
        "Mapping[str, Number]", "--suppression", "Rows that may be suppressed, at most.",
        written=Form.SETTINGS, value="limit=SHARE,rows=[starred|left_out]",
    ),
    Key(
        "format", FormatSpec().kind, "How classes are published.",
        "FormatKind | Mapping[str, object]", "--format", "How classes are published.", written=Form.WORD, words=FORMATS,
    ),
    Key(
        "metrics", (),
        "Further metrics of the loss that a run measures and reports; `all`: every one. docs/metrics.md has their formulas. They "
        "take time, and change nothing that is published.",
        "Names", "--metrics", "Further metrics of the loss, or all.", value="METRICS",
    ),
    Key(
        "execution", "auto",
        "Where the method runs: compiled `kernel`, SQL `pushdown`, or chosen by size. All give the same "
        "release.",
        "Execution", "--execution", "Where the method runs.",
    ),
    Key(
        "memory", None,
        "What the kernels may use: bytes, or text such as 4GB or 512MiB. Default: chosen from the machine.",
        "int | str", "--memory", "Memory for the method, such as 4GB.", value="SIZE",
    ),
    Key(
        "seed", None,
        "For what draws random numbers: the methods `idistance`, `topdown`, `anatomy` and `sequential`, the group numbers of format "
        "anatomy, and the search of `refine`. Default: drawn from the operating system; the search and `sequential` draw the same "
        "numbers in every run.",
        "int", "--seed", "Fix what is drawn at random.",
    ),
    Key(
        "columns.*.role", REQUIRED,
        "What the column is for. `identifier`: names a person, is never published. `pseudonym`: the person's column, or a number of each "
        "row, published as a token: a keyed hash by which tables can be joined ([pseudonyms.md](pseudonyms.md)). `quasi`: others may know "
        "it; it is generalized. `sensitive`: must not be learned about a person; published as it is, "
        "protected by l. `insensitive`: published as it is.",
    ),
    Key("columns.*.role.quasi", REQUIRED, "", "Names", "--qi", "Quasi-identifiers: a comma list, names quoted as in CSV."),
    Key("columns.*.role.sensitive", REQUIRED, "", "Names", "--sensitive", "Sensitive attributes."),
    Key("columns.*.role.identifier", REQUIRED, "", "Names", "--identifier", "Identifiers: never published.", named="identifiers"),
    Key("columns.*.role.pseudonym", REQUIRED, "", "Names", "--pseudonym", "Published as keyed tokens.", named="pseudonyms"),
    Key("columns.*.role.insensitive", REQUIRED, "", "Names", "--insensitive", "Columns published as they are."),
    Key(
        "columns.*.weight", 1,
        "How much the loss of this quasi column counts against the others. The weights of a release sum to "
        f"at most {MAX_WEIGHT}.",
        "Mapping[str, int]", "--weight", "Weight of a column in the loss.",
        named="weights", written=Form.WHOLE_PAIRS, value="COL=N",
    ),
    Key(
        "columns.*.hierarchy", None,
        "Classes publish the label of a node: a CSV file in ARX's format, `leaf;parent;...;*`, relative to the policy file, or a "
        "mapping that says how the nodes are built. As text: `steps:5,10,20`, `calendar:month,year`, `prefix:3,2,1`, `mask:right`, "
        "`table:schema.t`. Sensitive columns: a file, groups or a table, for `t` with `distance: hierarchical`.",
        "Mapping[str, FileName | Mapping[str, object]]", "--hierarchy", "Taxonomy of a column: a file in ARX format, or steps:5,10, calendar:month,year, prefix:3,2,1, mask:right, table:schema.t.",
        named="hierarchies", value="COL=HOW",
    ),
    Key(
        "columns.*.ordered", None,
        "Quasi columns of text or enum type, which otherwise have no order: `alphabetical` (by bytes), "
        "`declared` (the enum's own order), the list of values in order, or a file with one value per line, "
        "relative to the policy file. Not together with `hierarchy`. Sensitive columns: for `t` with `distance: ordered`.",
        "Mapping[str, FileName | Sequence[str]]", "--ordered", "alphabetical, declared, or a file of the values in order.",
        value="COL=HOW",
    ),
    Key(
        "columns.*.bottom", None,
        'Quasi columns of numbers, dates and timestamps: values below are published as this one, which then means "at most". One outlier '
        "otherwise makes every range look narrow beside the whole.",
        "Mapping[str, Number | date]", "--bottom", "Values below are published as this one.", value="COL=VALUE",
    ),
    Key(
        "columns.*.top", None,
        'The same above: values above are published as this one, which then means "at least".',
        "Mapping[str, Number | date]", "--top", "Values above are published as this one.", value="COL=VALUE",
    ),
    Key(
        "columns.*.round", None,
        "Quasi columns of numbers: values become the nearest multiple of this number, halves the greater one, before `bottom` and `top`.",
        "Mapping[str, Number]", "--round", "Values become the nearest multiple of this number.", value="COL=NUMBER",
    ),
    Key(
        "columns.*.accept_unique", False,
        "Sensitive and insensitive columns: publish the column although many of its values occur once, or are one person's alone, and "
        "could name a person. Quasi columns of text without a hierarchy: publish lists of values although more than half of the "
        "rows, or persons, have values of their own.",
        "Names", "--accept-unique", "Published though nearly unique.",
    ),
    Key(
        "columns.*.accept_repeats", False,
        "Identifiers: equal values are not the same person (names, free text), so that repeats, and several "
        "NULLs, do not stop the run and are not counted as persons.",
        "Names", "--accept-repeats", "Identifiers whose equal values are not one person.",
    ),
    Key(
        "columns.*.scope", None,
        "The person's pseudonym: a name under which releases of this database share tokens, so that they can be joined. Each of them is "
        "checked together with all that are published in the scope. Default: the release's name.",
        "Mapping[str, str]", "--scope", "Releases of one scope share tokens.", named="scopes", value="COL=NAME",
    ),
    Key(
        "columns.*.secret", None,
        "The person's pseudonym: the environment variable that holds what tokens are keyed with, as `${NAME}`; its value is read by a run, "
        "and written nowhere. Default: a random secret that the private schema keeps for the scope.",
        "Mapping[str, str]", "--secret", "Variable that keys the tokens.", named="secrets", value="COL=${NAME}",
    ),
    Key(
        "columns.*.hierarchy.file", None,
        "The CSV file, which may also be written alone in place of the mapping.",
    ),
    Key(
        "columns.*.hierarchy.steps", None,
        "Numbers, dates and timestamps: widths of intervals, each a multiple of the one before it, in the column's units; days for "
        "dates. A node is `20..24` where values are whole, `20..<25` where they are not.",
    ),
    Key("columns.*.hierarchy.from", None, "With `steps`: where an interval begins. Default: 0, or 1970-01-01."),
    Key(
        "columns.*.hierarchy.calendar", None,
        "Dates and timestamps: some of `day`, `week`, `month`, `quarter`, `year`, `decade`, each made of whole ones before it. Weeks "
        "begin on Monday and are part of no other unit. With time zone: in UTC.",
    ),
    Key(
        "columns.*.hierarchy.prefix", None,
        "Text: how many first characters a node keeps, a smaller number at each level: `C50*`, `C5*`, `C*`.",
    ),
    Key(
        "columns.*.hierarchy.mask", None,
        "Text: `right` hides the last character with `*`, at the next level the one before it as well: `1234*`, `123**`.",
    ),
    Key(
        "columns.*.hierarchy.groups", None,
        "A name for each list of values: `{young: [18, 19, 20], old: [90, 91]}`. A group of groups is a mapping in place of the "
        "list. Every value of the column is in one of them.",
    ),
    Key(
        "columns.*.hierarchy.table", None,
        "A table of the same database: a leaf in its first column, its parents in the next ones, the root in the last; it is read "
        "when the release is made.",
    ),
    Key(
        "columns.*.hierarchy.other", None,
        "With `file`, `groups` or `table`, quasi columns: the value that those count as which are not listed, which otherwise stop a run. One that is "
        "listed, or a new one right below the root.",
    ),
    Key(
        "privacy.k", None, _ABOUT["k"],
        "int", "--k", "Rows in every class, at least. Needed, except with --maximize, --k-map, --delta-presence and the format anatomy.",
    ),
    Key(
        "privacy.l", None, _ABOUT["l"],
        "Number", "--l", "No sensitive value above 1/L of a class.", value="L",
    ),
    Key(
        "privacy.distinct_l", None, _ABOUT["distinct_l"],
        "int", "--distinct-l", "Distinct sensitive values in a class.",
    ),
    Key(
        "privacy.entropy_l", None, _ABOUT["entropy_l"],
        "Asked", "--entropy-l", "Entropy of a class, at least that of L values.", value="L",
    ),
    Key(
        "privacy.recursive_cl", None, _ABOUT["recursive_cl"],
        "str | Mapping[str, object]", "--recursive-cl", "Recursive (c, l)-diversity.", value="c=C,l=L",
    ),
    Key(
        "privacy.alpha", None, _ABOUT["alpha"],
        "Asked", "--alpha", "Share of a sensitive value in a class, at most.", value="SHARE",
    ),
    Key(
        "privacy.t", None, _ABOUT["t"],
        "Asked", "--t", "Distance of a class's values to all, at most.", value="T[ ordered]",
    ),
    Key(
        "privacy.beta", None, _ABOUT["beta"],
        "str | Mapping[str, object]", "--beta", "How much a class may raise a value's share.",
        value="[basic|enhanced]=B",
    ),
    Key(
        "privacy.delta_disclosure", None, _ABOUT["delta_disclosure"],
        "Asked", "--delta-disclosure", "Bits between a value's shares in a class and in all.", value="D[ ignored]",
    ),
    Key(
        "privacy.k_map", None, _ABOUT["k_map"],
        "str | Mapping[str, object]", "--k-map", "Rows of a population in every cell, at least.",
        value="k=K,population=TABLE",
    ),
    Key(
        "privacy.delta_presence", None, _ABOUT["delta_presence"],
        "str | Mapping[str, object]", "--delta-presence", "Probability that a row of a population is here.",
        value="min=P,max=P,population=TABLE",
    ),
    Key(
        "privacy.joint", False,
        "With several sensitive columns: l and distinct_l also hold within every value of the others.",
        "bool", "--joint", "l also within each value of the others.",
    ),
    Key(
        "privacy.maximize", None,
        "Make this as large as `max_loss` and `max_extent` allow, at least one of which it needs, and no "
        "smaller than `at_least`. Not together with `k`, `l`, `distinct_l` and `joint`.",
        "Goal", "--maximize", "As large as the bounds on the loss allow.", value="[k|l]",
    ),
    Key("privacy.max_loss", None, "With `maximize`: what every class may lose, at most."),
    Key(
        "privacy.max_extent", None,
        "With `maximize`: quasi columns and how far a class may reach there, at most, in the column's own "
        "units: numbers as they are, days for dates and timestamps, leaves of a hierarchy's node.",
        "Mapping[str, Number]", "--max-extent", "With --maximize: extent of a class there, at most.",
        written=Form.PAIRS, value="COL=N",
    ),
    Key(
        "privacy.at_least", None, "With `maximize`, required: the least that is accepted.",
        "Mapping[str, Number]", "--at-least", "With --maximize: the least that is accepted.",
        written=Form.REQUIREMENT_PAIRS, value="[k|l]=N",
    ),
    Key(
        "privacy.presence", None,
        "Format anatomy: `disclosed` accepts that exact quasi values meet no k and confirm who is in the "
        "table, so that k may be asked for nevertheless.",
        "Presence", "--presence", "Anatomy: accept that it shows who is in the table.", value="disclosed",
    ),
    Key(
        "privacy.boxes", None,
        "Method freeform: `own` accepts that every row has a box of its own, which k rows fit, in place of a class of k rows. "
        "That is weaker: docs/threat-model.md says how.",
        "Boxes", "--boxes", "Freeform: accept k candidates of every row in place of classes.", value="own",
    ),
    Key(
        "privacy.max_loss.per_class_ncp", REQUIRED,
        "The weighted NCP of a class, at most: a number from 0 to 1, taken exactly as it is written. 0 keeps "
        "every quasi value as it is.",
        "Number", "--max-loss", "With --maximize: NCP of a class, at most.", named="max_loss", value="NCP",
    ),
    Key("privacy.at_least.k", None, "Rows in a class, at least."),
    Key(
        "privacy.at_least.l", None,
        "Frequency l-diversity, as `privacy.l`. 1 asks for nothing; 2 is the least that hides a value.",
    ),
    Key(
        "method.name", REQUIRED,
        f"{', '.join(f'`{one.name}`' for one in METHODS.own)}. docs/onedim.md says which to take.",
    ),
    Key("refine.window", _REFINE.window, "Classes on either side that a row looks at."),
    Key("refine.passes", _REFINE.passes, "Runs over all rows, at most; it ends earlier when nothing moves."),
    Key(
        "refine.search", _REFINE.search,
        "Trials after the passes, for every class that loses something: the rows of a few near classes are divided anew, "
        "and stay so where they lose less. `refine: true` takes the number from a table, which docs/onedim.md shows.",
    ),
    Key("suppression.limit", 0, "The share of the source's rows, at most: 0.02 allows 2 of 100."),
    Key(
        "suppression.rows", "starred",
        "`starred`: published with `*` in every quasi column, as one class that meets every requirement; their other "
        "columns are shown. `left_out`: not published; only their number is.",
    ),
    Key("format.kind", FormatSpec().kind, " ".join(f"`{facts.name}`: {facts.about}" for facts in FORMATS.own)),
    Key(
        "format.mean", (),
        "Numeric quasi columns without hierarchy that also publish their class mean. Only with `ranges` and "
        "k of at least 5.",
        "Names", "--mean", "Numeric columns that also publish class means.",
    ),
    Key(
        "refresh.mode", _REFRESH.mode,
        "`full`: every version is computed anew from the whole source. What versions reveal together is "
        "measured (see `history`), not prevented. `frozen`: a row is published in one class, once, and stays as it was published until its whole "
        "class has left the source; new rows wait and are published together. All versions together keep what each promises. Needs `key`. "
        "See [frozen.md](frozen.md).",
    ),
    Key(
        "refresh.cohort", None,
        "With `mode: frozen`: when the rows that wait are published together, as classes of their own.",
    ),
    Key(
        "refresh.max_stale", None,
        "With `mode: frozen`: the share of the published rows that the source has with other values, at most; with more, `run` publishes nothing.",
    ),
    Key(
        "refresh.max_retained", None,
        "With `mode: frozen`: the share of the published rows that the source no longer has, at most.",
    ),
    Key(
        "refresh.max_waiting", None,
        "With `mode: frozen`: the share of the source's rows that are not published, at most.",
    ),
    Key(
        "refresh.max_age", None,
        "With `mode: frozen`: how long a row that was never published may wait, at most: 24h, 7d.",
    ),
    Key("refresh.cohort.rows", None, "Publish them when so many wait; at least k. Default: 50 times k."),
    Key(
        "refresh.cohort.every", None,
        "Publish them, if at least k wait, when one has waited so long: 24h, 7d. Default: only `rows` counts.",
    ),
    Key(
        "history.max_failing", None,
        "Rows that may be left in groups below k (of events: k persons), l or distinct_l, at most, when a reader compares "
        "the new version with the published one; of a release with pseudonyms also tokens among fewer than k; with more, `run` publishes nothing. Default: any number; with `boxes: own` it must "
        "be given for a version that changes candidates.",
        "int",
    ),
    Key(
        "tables:name", REQUIRED,
        "What they are called together. The release of each table is called `name.table`.",
    ),
    Key(
        "tables:tables", REQUIRED,
        "Of each table `source` and `columns`, and any other key of a release that differs from what is written for all of them. "
        "`name`: what it is called after the point, and the default of its view in the schema `release`; default: the source's last part. "
        "Classes are made in this order. Each table has the person's pseudonym; without a `scope` they share one of this release's name.",
    ),
    Key(
        "tables:rotate", None,
        "`version`: the tokens of every version are new ones, and what they are keyed with is kept nowhere, so that they link tables and no versions. "
        "Only with `tables`, and without `scope` and `secret`.",
    ),
)  # fmt: skip
"""Every key, in the order of the reference."""

KEYS: Final[Mapping[str, Key]] = {key.path: key for key in TABLE if not key.is_role}
"""The keys of policy files by their paths."""

FIRST: Final = "Options to begin with"
PUBLISHED: Final = "What is published"
PANELS: Final[Mapping[str, str]] = {
    FIRST: "publish quasi sensitive identifiers rest k l person hierarchies",
    "Further requirements": "distinct_l entropy_l recursive_cl alpha t beta delta_disclosure k_map delta_presence requirements "
    "joint presence boxes",
    "As private as a bound on the loss allows": "maximize at_least max_loss max_extent",
    "Columns": "pseudonyms insensitive scopes secrets ordered bottom top round weights accept_unique accept_repeats",
    "Several rows of a person": "rows_are persons null_person person_share",
    "Method": "method refine suppression execution memory seed",
    PUBLISHED: "format mean metrics publish_file row_security name",
    "Releases that are made again": "readers dimensions key every keep max_failing",
}
"""The panels of ``--help``, each with its arguments; those of the last one have no option."""

_NAMED = {key.name: key for key in TABLE if key.type}

ARGUMENTS: Final[tuple[Key, ...]] = tuple(_NAMED[name] for names in PANELS.values() for name in names.split())
"""The keys that are keyword arguments, in the order of ``--help``."""
