"""Keys of a release of counts (``statistics`` in a policy), as entries of the table of keys."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, get_args

from sqlanon.declared.key import Key
from sqlanon.declared.kinds import A_PLACE, A_SOURCE, DURATION, FLAG, LIST, SIGNER, TEXT
from sqlanon.declared.records import Names
from sqlanon.declared.values import REQUIRED, Integer, Number, OneOf
from sqlanon.spec import NullPerson, RowSecurity
from sqlanon.statistics_spec import Bounds, Insiders, Measured, Method, Rule

MOST_DOMINANT = 20
"""Contributions of the dominance rule, at most."""
MOST_PERSONS = 1_000_000
"""The threshold, at most."""
MOST_DEVIATION = 100
"""Noise of a number, at most."""
MOST_BASE = 1000
"""Base of rounding, at most."""

STATISTICS_KEYS: Final[tuple[Key, ...]] = (
    Key("statistics:name", TEXT, REQUIRED, "The release's name in the catalog and on the command line."),
    Key("statistics:source", A_SOURCE, REQUIRED, "The table or view whose rows are counted."),
    Key(
        "statistics:publish",
        A_PLACE,
        None,
        "The view that readers get; default: the release's name in the schema `release`. Also a lake "
        "table, as of other releases.",
    ),
    Key(
        "statistics:person",
        Names(),
        REQUIRED,
        "The column, or the columns together, that say whose row it is: cells are small by persons, not by rows.",
    ),
    Key(
        "statistics:null_person",
        OneOf(get_args(NullPerson)),
        None,
        "Rows in which `person` is NULL belong to `one` person, or each to a `distinct` one. Default: they are "
        "refused.",
    ),
    Key(
        "statistics:row_security",
        OneOf(get_args(RowSecurity)),
        None,
        "PostgreSQL: `applied` counts the rows that row-level security lets the releasing role see.",
    ),
    Key("statistics:readers", Names(), (), "Who reads the release, as of other releases."),
    Key("statistics:every", DURATION, None, "How often `run --due` looks at the release: 30m, 24h, 7d."),
    Key(
        "statistics:together",
        Names(),
        (),
        "A release of rows of the same source that readers have as well: the numbers of its classes and the cells are "
        "protected as one system. Default: none.",
    ),
    Key("statistics:context", None, None, "The circumstances of the release, as of other releases."),
    Key(
        "statistics:threshold",
        None,
        None,
        "The risk that is accepted, as of other releases: that of who looks for a person in a shown cell, which is 1 / "
        "`persons`. With `method: suppress` alone: others promise no number of persons.",
    ),
    Key("statistics:review", DURATION, None, "How long until a version is due for review: 365d."),
    Key(
        "statistics:refresh",
        None,
        None,
        "How new rows of the source are counted, `{mode: frozen, cohort: {persons: 200}}`, and whether a run needs an "
        "approval. Default: there is one version.",
    ),
    Key(
        "statistics:refresh.mode",
        OneOf(("frozen",)),
        None,
        "`frozen`: rows only come. Those that are new are protected by themselves, and a cell in which they are hidden "
        "keeps its number.",
    ),
    Key("statistics:refresh.cohort", None, None, "When a version is made."),
    Key(
        "statistics:refresh.cohort.persons",
        Integer(2, MOST_PERSONS),
        REQUIRED,
        "When at least so many persons are new, more than `protect: {persons: N}`; until then they wait.",
    ),
    Key(
        "statistics:refresh.cohort.every",
        DURATION,
        None,
        "When a version is so old, and more than `protect: {persons: N}` persons are new: 7d, 90d. Default: only "
        "`persons` counts.",
    ),
    Key(
        "statistics:refresh.lineage",
        DURATION,
        None,
        "When the first version of a lineage is so old, the next version begins another one: 365d. There cells get "
        "numbers again that have kept older ones, as far as readers of all versions find no small number by them. "
        "Default: there is one lineage.",
    ),
    Key("statistics:refresh.needs_approval", FLAG, False, "A run stops without an approval, as of other releases."),
    Key("statistics:refresh.signers", Names(SIGNER), (), "Who may approve, as of other releases."),
    Key("statistics:statistics", None, REQUIRED, "What is counted, and how it is protected."),
    Key(
        "statistics.columns",
        None,
        REQUIRED,
        "The columns by which the tables count: `sex: {}`, or with a `hierarchy`, whose levels become margins. All "
        "other columns of the source are unused.",
    ),
    Key("statistics.columns.*.hierarchy", None, None, "The column's hierarchy, as of other releases."),
    Key(
        "statistics.tables",
        None,
        REQUIRED,
        "The tables, at least one, each with a `name` and `by`: the columns by which it counts. All their margins are "
        "published, and all tables are protected together.",
    ),
    Key("statistics.tables.name", TEXT, REQUIRED, "The table's name, for messages and metadata."),
    Key("statistics.tables.by", Names(), REQUIRED, "The columns by which it counts."),
    Key(
        "statistics.measures",
        None,
        REQUIRED,
        "What is published of each cell, by its name in the view: `count` (rows), `persons` (distinct persons) or "
        "`{sum: column, range: [low, high], p_percent: 10}`, next to one of them.",
    ),
    Key(
        "statistics.measures.*.count", OneOf(get_args(Measured)), None, "`count` or `persons`. A word alone means this."
    ),
    Key(
        "statistics.measures.*.sum",
        TEXT,
        None,
        "The column whose values are added up, an integer or a decimal without NULL.",
    ),
    Key(
        "statistics.measures.*.range",
        LIST,
        None,
        "Of a sum: the least and the greatest value of a row. Readers know it; a run refuses values beyond.",
    ),
    Key(
        "statistics.measures.*.p_percent",
        Number(Fraction(0), Fraction(100), above=True),
        None,
        "Of a sum, required: nobody, not even another contributor, may know a person's contribution to so many percent "
        "of it. At most two digits after the point.",
    ),
    Key(
        "statistics.measures.*.dominance",
        None,
        None,
        "Of a sum: cells of which the largest contributions are too much are hidden as well.",
    ),
    Key("statistics.measures.*.dominance.n", Integer(1, MOST_DOMINANT), REQUIRED, "How many contributions."),
    Key(
        "statistics.measures.*.dominance.share",
        Number(Fraction(0), Fraction(1), above=True),
        REQUIRED,
        "The share of the sum that they may have at most; at most four digits after the point.",
    ),
    Key(
        "statistics.measures.*.absolute",
        FLAG,
        False,
        "Of a sum with a range below 0, required: contributions are compared without their sign.",
    ),
    Key("statistics.protect", None, REQUIRED, "What no reader may find."),
    Key(
        "statistics.protect.method",
        OneOf(get_args(Method)),
        "suppress",
        "`suppress`: cells are hidden. `cell_key`: each number has noise, the same for the same persons. `round`: "
        "numbers are rounded to multiples of `base`, and all sums hold.",
    ),
    Key(
        "statistics.protect.persons",
        Integer(2, MOST_PERSONS),
        REQUIRED,
        "Cells of fewer persons are small. With `suppress` they are hidden: for every reader a small cell may have any "
        "number up to this one, down to the number of its finest cells that are not empty. With `round` it may have "
        "any below this one. With `cell_key` nothing is promised of them, and `attack` looks for them.",
    ),
    Key(
        "statistics.protect.zeros",
        OneOf(("shown",)),
        "shown",
        "`shown`: which cells are empty is no secret: a cell that the view does not list is empty.",
    ),
    Key(
        "statistics.protect.interval",
        OneOf(("full",)),
        "full",
        "`full`: what a reader can compute of a hidden small cell does not depend on its number.",
    ),
    Key(
        "statistics.protect.insiders",
        OneOf(get_args(Insiders)),
        "alone",
        "`alone`: who is the only person of a cell, and so knows its number, finds no other small one. `none`: this is "
        "not looked at.",
    ),
    Key(
        "statistics.protect.bounds",
        OneOf(get_args(Bounds)),
        "none",
        "`exact`: the view has the bounds that any reader can compute of each number, and whether they are tight. "
        "`none`: it has not.",
    ),
    Key(
        "statistics.protect.show",
        None,
        None,
        "Of `suppress`: margins whose cells must be shown, `[{region: 1}, total]`: of each column the level in the "
        "view (0: its values); `{}` or `total` is the grand total. A run that would have to hide one of their cells "
        "publishes nothing. Default: none.",
    ),
    Key(
        "statistics.protect.deviation",
        Integer(1, MOST_DEVIATION),
        None,
        "Of `cell_key`: by how much a number may differ from the true one, at most. Without a `rule` it is required.",
    ),
    Key(
        "statistics.protect.variance",
        Number(Fraction(0), Fraction(MOST_DEVIATION**2), above=True),
        None,
        "Of `cell_key`: the variance of the noise, whose mean is 0. Without a `rule` it is required.",
    ),
    Key(
        "statistics.protect.no_result",
        Integer(0, MOST_DEVIATION),
        None,
        "Of `cell_key`: numbers from 1 to this one are never published. Default: 0.",
    ),
    Key(
        "statistics.protect.rule",
        OneOf(get_args(Rule)),
        None,
        "Of `cell_key`, in place of `deviation` and `variance`: `10_5` publishes 0 for numbers below 10, and the "
        "nearest multiple of 5 for others, as a table of the Office for National Statistics does.",
    ),
    Key(
        "statistics.protect.additive",
        FLAG,
        None,
        "Of `cell_key`: published are the numbers nearest to those with noise (by least squares) of which all sums "
        "hold. They are fractions, and may be negative. Default: false.",
    ),
    Key(
        "statistics.protect.base",
        Integer(3, MOST_BASE),
        None,
        "Of `round`, where it is required: numbers are multiples of this one.",
    ),
)
