"""The keys of one release, but those of its parts: persons, readers, method and format."""

from __future__ import annotations

from typing import Final, get_args

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.key import Form, Key
from sqlanon.declared.kinds import A_TABLE, DURATION, FLAG, SIZE
from sqlanon.declared.metrics import MetricNames
from sqlanon.declared.records import Names
from sqlanon.declared.values import REQUIRED, SHARE, Integer, OneOf
from sqlanon.spec import EFFORTS, EXECUTIONS, FormatSpec, NullPerson, Persons, RefreshSpec, Rest, RowsAre, RowSecurity

_REFRESH = RefreshSpec()

RELEASE_KEYS: Final[tuple[Key, ...]] = (
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
        "every", DURATION, None, "How often `run --due` looks at the release: 30m, 24h, 7d. Default: every time.", "str"
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
)
