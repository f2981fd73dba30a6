"""Keys of a release of counts (``statistics`` in a policy), as entries of the table of keys."""

from __future__ import annotations

from typing import Final, get_args

from sqlanon.counted import Bounds, Insiders, Measured
from sqlanon.declared.key import Key
from sqlanon.declared.kinds import A_SOURCE, A_TABLE, DURATION, TEXT
from sqlanon.declared.records import ByName, Names
from sqlanon.declared.values import REQUIRED, Integer, OneOf
from sqlanon.spec import NullPerson, RowSecurity

MOST_PERSONS = 1_000_000
"""The threshold, at most."""

STATISTICS_KEYS: Final[tuple[Key, ...]] = (
    Key("statistics:name", TEXT, REQUIRED, "The release's name in the catalog and on the command line."),
    Key("statistics:source", A_SOURCE, REQUIRED, "The table or view whose rows are counted."),
    Key(
        "statistics:publish",
        A_TABLE,
        None,
        "The view that readers get; default: the release's name in the schema `release`.",
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
    Key(
        "statistics:refresh",
        None,
        None,
        "How new rows of the source are counted: `{mode: frozen, cohort: {persons: 200}}`. Default: there is one "
        "version.",
    ),
    Key(
        "statistics.refresh.mode",
        OneOf(("frozen",)),
        REQUIRED,
        "`frozen`: rows only come. Those that are new are protected by themselves, and a cell in which they are hidden "
        "keeps its number.",
    ),
    Key("statistics.refresh.cohort", None, REQUIRED, "When a version is made."),
    Key(
        "statistics.refresh.cohort.persons",
        Integer(2, MOST_PERSONS),
        REQUIRED,
        "When at least so many persons are new, no fewer than `protect: {persons: N}`; until then they wait.",
    ),
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
        ByName(OneOf(get_args(Measured)), "n: count"),
        REQUIRED,
        "What is published of each cell, by its name in the view: `count` (rows) or `persons` (distinct persons).",
    ),
    Key("statistics.protect", None, REQUIRED, "What no reader may find."),
    Key("statistics.protect.method", OneOf(("suppress",)), "suppress", "`suppress`: cells are hidden."),
    Key(
        "statistics.protect.persons",
        Integer(2, MOST_PERSONS),
        REQUIRED,
        "Cells of fewer persons are small, and hidden. A small cell may have any number up to this one for every "
        "reader, down to the number of its finest cells that are not empty.",
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
        "`exact`: the view has the bounds that any reader can compute of each number. They need one table that has all "
        "columns. `none`: it has not.",
    ),
)
