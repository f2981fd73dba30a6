"""Keys of differentially private statistics: ``budgets``, and ``statistics`` with a ``budget``."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, get_args

from sqlanon.declared.key import Key
from sqlanon.declared.kinds import A_PLACE, A_TABLE, DURATION, FLAG, LIST, TEXT
from sqlanon.declared.records import ByName, Names
from sqlanon.declared.values import REQUIRED, Integer, Number, OneOf
from sqlanon.noisy_spec import BinsAs, NoiseLaw
from sqlanon.spec import RowSecurity

LARGEST_EPSILON = Fraction(100)
"""Above it the guarantee says nothing."""
LARGEST_DELTA = Fraction(1, 1000)
MOST_PERSONS = 1_000_000
"""Persons of a budget that declares no number of them."""
MOST_CONTRIBUTED = 1_000_000
"""Groups and rows of a person, at most."""

MOST_WEIGHT = 1000
"""The norm of a person's rows, at most."""
MOST_NIGHTS = 4000
"""Nights of running counts, at most."""
MOST_STEPS = 1000
"""Steps of the range of a quantile, at most."""

EPSILON = Number(Fraction(0), LARGEST_EPSILON, above=True)

NOISY_KEYS: Final[tuple[Key, ...]] = (
    Key("policy:budgets", None, None, "Budgets of differentially private statistics."),
    Key("budgets.name", TEXT, REQUIRED, "The budget's name in the ledger and on the command line."),
    Key(
        "budgets.persons",
        ByName(Names(), "stays: patient_id"),
        REQUIRED,
        "The tables that have rows of these persons, each with the column, or the columns together, that say whose row "
        "it is. Releases of all of them spend the same budget.",
    ),
    Key(
        "budgets.epsilon",
        EPSILON,
        REQUIRED,
        "What all releases and versions together may cost, for ever. `sqlanon budget raise` changes it.",
    ),
    Key(
        "budgets.delta",
        Number(Fraction(0), LARGEST_DELTA),
        0,
        "The delta of the whole budget; 0 allows Laplace noise only. At most 1 in `most_persons`.",
    ),
    Key(
        "budgets.most_persons",
        Integer(1),
        MOST_PERSONS,
        "At most so many persons are in the tables: a public number, by the owner's word, which no run compares with "
        "the source. A larger `delta` needs a smaller one.",
    ),
    Key(
        "budgets.anchor",
        TEXT,
        None,
        "A file outside of the database, relative to the policy's folder, that gets a copy of the ledger, so that a "
        "restored or copied database is recognized. Several databases with the same persons name the same file, and "
        "share the budget.",
    ),
    Key("noisy:name", TEXT, REQUIRED, "The release's name in the catalog and on the command line."),
    Key("noisy:source", A_TABLE, REQUIRED, "The table whose rows are measured, as `persons` of the budget names it."),
    Key(
        "noisy:publish",
        A_PLACE,
        None,
        "The view that readers get; default: the release's name in the schema `release`. Also a lake "
        "table, as of other releases.",
    ),
    Key(
        "noisy:publish_file",
        TEXT,
        None,
        "DuckDB: another database file that will hold just this release, for readers who must not open the source's.",
    ),
    Key(
        "noisy:row_security",
        OneOf(get_args(RowSecurity)),
        None,
        "PostgreSQL: `applied` measures the rows that row-level security lets the releasing role see.",
    ),
    Key("noisy:readers", Names(), (), "Who reads the release, as of other releases."),
    Key(
        "noisy:every",
        DURATION,
        REQUIRED,
        "How often a new version is made: 24h, 7d, 30d. Only the clock decides, never a change of the source.",
    ),
    Key("noisy:statistics", None, REQUIRED, "What is measured, and what it costs."),
    Key("noisy.budget", TEXT, REQUIRED, "The budget that is spent."),
    Key("noisy.epsilon", EPSILON, REQUIRED, "What each version costs at most; all tables and measures share it."),
    Key(
        "noisy.tables",
        None,
        (),
        "The tables, each with `by`: the columns of its groups, the coarsest first. At least one, unless `rows` asks "
        "for its own.",
    ),
    Key("noisy.tables.name", TEXT, None, "The table's name in the view; default: its columns."),
    Key("noisy.tables.by", Names(), REQUIRED, "The columns of its groups, the coarsest first."),
    Key(
        "noisy.tables.totals",
        FLAG,
        True,
        "Publish the totals of GROUP BY ROLLUP as well: of the columns from the left, and of each level of a "
        "hierarchy. They are measured too, and agree with their parts.",
    ),
    Key(
        "noisy.groups",
        None,
        {},
        "Of each column in `by` its groups: a list of values, `bins`, or a `hierarchy`. Groups are declared, never "
        "taken from the data; all of them are published, and other values are left out.",
    ),
    Key("noisy.groups.*.values", LIST, None, "The values, each as text. A list alone means this."),
    Key(
        "noisy.groups.*.bins",
        LIST,
        None,
        "Ends of intervals of a number, ascending: `[0, 20, 40]` are [0, 20) and [20, 40).",
    ),
    Key(
        "noisy.groups.*.hierarchy",
        None,
        None,
        "A hierarchy that lists its values: a file, groups or a table. The name of a file alone means this.",
    ),
    Key(
        "noisy.measures",
        None,
        REQUIRED,
        "What is published of each group, by its name in the view: `rows`, `persons` (distinct ones), "
        "`{sum: column, range: [low, high]}`, `{mean: column, range: [low, high]}` or `{quantiles: [0.5], of: column, "
        "range: [low, high]}`.",
    ),
    Key("noisy.measures.*.count", OneOf(("rows", "persons")), None, "`rows` or `persons`. A word alone means this."),
    Key("noisy.measures.*.sum", TEXT, None, "The column whose values are added up."),
    Key("noisy.measures.*.mean", TEXT, None, "The column whose mean is published; NULL is no value."),
    Key(
        "noisy.measures.*.quantiles",
        LIST,
        None,
        "Quantiles, each above 0 and below 1: `[0.5, 0.9]` publishes the columns `<measure>_p50` and `<measure>_p90`.",
    ),
    Key("noisy.measures.*.of", TEXT, None, "Of quantiles: the column; default: that of the measure's name."),
    Key(
        "noisy.measures.*.steps",
        Integer(2, MOST_STEPS),
        64,
        "Of quantiles: the range is divided into so many steps at most, whose rows are counted.",
    ),
    Key(
        "noisy.measures.*.range",
        LIST,
        None,
        "Of a sum, a mean or quantiles: the lowest and the highest value; values beyond are taken as these. Noise "
        "grows with it.",
    ),
    Key(
        "noisy.measures.*.unit",
        Number(Fraction(0), None, above=True),
        1,
        "Of a sum or mean: values are rounded to multiples of it; sums of floating-point numbers depend on the order. "
        "Of quantiles: steps end at multiples of it.",
    ),
    Key("noisy.contributions", None, REQUIRED, "How much of one person is counted."),
    Key(
        "noisy.contributions.groups",
        Integer(1, MOST_CONTRIBUTED),
        None,
        "Of a person's groups of one table so many are counted, chosen by a keyed hash. Required without `weight`.",
    ),
    Key(
        "noisy.contributions.rows",
        Integer(1, MOST_CONTRIBUTED),
        None,
        "Of a person's rows of one group so many are counted, chosen by a keyed hash. Required without `weight`.",
    ),
    Key(
        "noisy.contributions.weight",
        Integer(1, MOST_WEIGHT),
        None,
        "In place of `groups` and `rows`: all rows of a person are counted, and together weigh at most as one group of "
        "so many rows (the norm of the person's numbers of rows).",
    ),
    Key(
        "noisy.noise",
        OneOf(get_args(NoiseLaw)),
        "auto",
        "`laplace`, `gaussian` (needs the budget's `delta`), or the one that errs less.",
    ),
    Key("noisy.show", None, None, "When the column `shown` is true."),
    Key(
        "noisy.show.persons",
        Integer(1),
        REQUIRED,
        "`shown` is true where the noisy number of persons is so large. It is free; small groups are mostly noise.",
    ),
    Key(
        "noisy.running",
        None,
        None,
        "Running counts: each person is counted once, in the groups of the night of its first rows, and `epsilon` pays "
        "for all nights together. Every version is a night.",
    ),
    Key("noisy.running.nights", Integer(2, MOST_NIGHTS), REQUIRED, "How many nights there will be, at most."),
    Key(
        "noisy.kept",
        FLAG,
        True,
        "Measure the mean share of a person's rows that are counted, and publish it as metadata, for a twentieth of "
        "`epsilon`; never of running counts.",
    ),
    Key(
        "noisy.rows",
        None,
        None,
        "Draw synthetic rows of all columns of `groups`, and publish them as the view `<publish>_synthetic`: of noisy "
        "tables of pairs of columns with a target. For tables of one row a person.",
    ),
    Key("noisy.rows.target", TEXT, REQUIRED, "The column that is in every such table. A text alone means this."),
    Key(
        "noisy.rows.pairs",
        LIST,
        None,
        "The pairs of the other columns, which join all of them without a circle; default: a paid measurement, a tenth "
        "of `epsilon`, chooses them.",
    ),
    Key(
        "noisy.rows.bins",
        OneOf(get_args(BinsAs)),
        "label",
        "What the rows have of an interval: its `label`, as `[20, 40)`, or the number in the `middle`.",
    ),
)
