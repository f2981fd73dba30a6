"""How the keys of a policy are given one by one: as keyword arguments of `Database.anonymize` and options of `sqlanon anonymize`.

A key's default and meaning are in `keys`; here are its names, the form in which it is written, and a line for ``--help``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.keys import KEYS, REQUIRED, Key
from sqlanon.declared.registry import Registry
from sqlanon.spec import Execution, FormatKind, NullPerson, Persons, Rest, RowsAre, RowSecurity

Names = str | Sequence[str]
FileName = str | os.PathLike[str]
Number = int | float | str | Fraction | Decimal
Asked = Number | Mapping[str, object]
"""A number for every sensitive column, or more than a number: see `sqlanon.declared.records`."""
Goal = Literal["k", "l"]
Presence = Literal["disclosed"]
Boxes = Literal["own"]


class Form(Enum):
    """How the value of an argument is written on the command line."""

    TEXT = "text"
    WORD = "one of a few words"
    WHOLE = "whole number"
    NUMBER = "number or fraction"
    FLAG = "an option without a value"
    NAMES = "comma list of columns"
    PAIRS = "column=value, once for each column"
    WHOLE_PAIRS = "column=whole number, once for each column"
    SETTINGS = "comma list of key=value"
    SWITCH = "nothing, or a comma list of key=whole number"
    REQUIREMENT_PAIRS = "requirement=value, once for each requirement"


@dataclass(frozen=True, slots=True)
class Argument:
    """A key as an argument.

    Attributes:
        name: of the keyword argument.
        path: where the key is in a release; ``*`` is the column that the value is about.
        type: what Python takes, None aside.
        form: how the value is written on the command line.
        option: of the command line; empty: files and Python alone have the key.
        help: one line about it, for ``--help``.
        metavar: what the value is called there.
        words: the registry whose names it takes there, extensions included; None: the words of its type.
    """

    name: str
    path: tuple[str, ...]
    type: Any
    form: Form
    option: str = ""
    help: str = ""
    metavar: str | None = None
    words: Registry[Any] | None = None

    @property
    def own(self) -> tuple[str, ...]:
        """The words of ``words`` that need no extension, for ``--help``."""
        return () if self.words is None else tuple(one.name for one in self.words.own)

    @property
    def key(self) -> Key:
        """The key's default and meaning."""
        part = {1: "release"}.get(len(self.path)) or (
            "column" if self.path[0] == "columns" else self.path[-2]
        )
        return KEYS[part][self.path[-1]]

    @property
    def default(self) -> object:
        """What is taken where it is not given; None for the settings of columns, which each column has by itself."""
        default = self.key.default
        return None if default is REQUIRED or self.path[0] == "columns" else default

    @property
    def required(self) -> bool:
        """Whether a release cannot do without."""
        return self.name == "quasi"

    @property
    def optional(self) -> bool:
        """Whether None may be given: it is the same as nothing."""
        return not self.required and self.default in (None, ())


ROLE = ("columns", "*", "role")
PRIVACY = ("privacy",)
"""Requirements by name: keys of `privacy` that extensions add."""

ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "publish", ("publish",), str, Form.TEXT, "--to", "A file; with --db a view (schema.name), or a file next to the view release.TABLE.", "OUT"
    ),
    Argument(
        "publish_file", ("publish_file",), FileName, Form.TEXT, "--publish-file",
        "DuckDB: publish into this other file.", "FILE",
    ),
    Argument(
        "quasi", ROLE, Names, Form.NAMES, "--qi",
        "Quasi-identifiers: a comma list, names quoted as in CSV.", "COLUMNS",
    ),
    Argument("sensitive", ROLE, Names, Form.NAMES, "--sensitive", "Sensitive attributes.", "COLUMNS"),
    Argument("identifiers", ROLE, Names, Form.NAMES, "--identifier", "Identifiers: never published.", "COLUMNS"),
    Argument("pseudonyms", ROLE, Names, Form.NAMES, "--pseudonym", "Published as keyed tokens.", "COLUMNS"),
    Argument("insensitive", ROLE, Names, Form.NAMES, "--insensitive", "Columns published as they are.", "COLUMNS"),
    Argument("rest", ("rest",), Rest, Form.WORD, "--rest", "What happens to columns without a role."),
    Argument(
        "k", ("privacy", "k"), int, Form.WHOLE, "--k",
        "Rows in every class, at least. Needed, except with --maximize, --k-map, --delta-presence and the format anatomy.",
    ),
    Argument("l", ("privacy", "l"), Number, Form.NUMBER, "--l", "No sensitive value above 1/L of a class.", "L"),
    Argument(
        "distinct_l", ("privacy", "distinct_l"), int, Form.WHOLE, "--distinct-l",
        "Distinct sensitive values in a class.",
    ),
    Argument(
        "entropy_l", ("privacy", "entropy_l"), Asked, Form.TEXT, "--entropy-l",
        "Entropy of a class, at least that of L values.", "L",
    ),
    Argument(
        "recursive_cl", ("privacy", "recursive_cl"), str | Mapping[str, object], Form.TEXT, "--recursive-cl",
        "Recursive (c, l)-diversity.", "c=C,l=L",
    ),
    Argument(
        "alpha", ("privacy", "alpha"), Asked, Form.TEXT, "--alpha",
        "Share of a sensitive value in a class, at most.", "SHARE",
    ),
    Argument(
        "t", ("privacy", "t"), Asked, Form.TEXT, "--t",
        "Distance of a class's values to all, at most.", "T[ ordered]",
    ),
    Argument(
        "beta", ("privacy", "beta"), str | Mapping[str, object], Form.TEXT, "--beta",
        "How much a class may raise a value's share.", "[basic|enhanced]=B",
    ),
    Argument(
        "delta_disclosure", ("privacy", "delta_disclosure"), Asked, Form.TEXT,
        "--delta-disclosure", "Bits between a value's shares in a class and in all.", "D[ ignored]",
    ),
    Argument(
        "k_map", ("privacy", "k_map"), str | Mapping[str, object], Form.TEXT, "--k-map",
        "Rows of a population in every cell, at least.", "k=K,population=TABLE",
    ),
    Argument(
        "delta_presence", ("privacy", "delta_presence"), str | Mapping[str, object], Form.TEXT, "--delta-presence",
        "Probability that a row of a population is here.", "min=P,max=P,population=TABLE",
    ),
    Argument(
        "requirements", PRIVACY, Mapping[str, object], Form.REQUIREMENT_PAIRS, "--require",
        "A requirement by its name, such as one that an extension adds.", "NAME=VALUE",
    ),
    Argument("joint", ("privacy", "joint"), bool, Form.FLAG, "--joint", "l also within each value of the others."),
    Argument(
        "max_loss", ("privacy", "max_loss", "per_class_ncp"), Number, Form.NUMBER, "--max-loss",
        "With --maximize: NCP of a class, at most.", "NCP",
    ),
    Argument(
        "max_extent", ("privacy", "max_extent"), Mapping[str, Number], Form.PAIRS, "--max-extent",
        "With --maximize: extent of a class there, at most.", "COL=N",
    ),
    Argument(
        "maximize", ("privacy", "maximize"), Goal, Form.TEXT, "--maximize",
        "As large as the bounds on the loss allow.", "[k|l]",
    ),
    Argument(
        "at_least", ("privacy", "at_least"), Mapping[str, Number], Form.REQUIREMENT_PAIRS, "--at-least",
        "With --maximize: the least that is accepted.", "[k|l]=N",
    ),
    Argument(
        "presence", ("privacy", "presence"), Presence, Form.TEXT, "--presence",
        "Anatomy: accept that it shows who is in the table.", "disclosed",
    ),
    Argument(
        "boxes", ("privacy", "boxes"), Boxes, Form.TEXT, "--boxes",
        "Freeform: accept k candidates of every row in place of classes.", "own",
    ),
    Argument(
        "hierarchies", ("columns", "*", "hierarchy"), Mapping[str, FileName | Mapping[str, object]], Form.PAIRS, "--hierarchy",
        "Taxonomy of a column: a file in ARX format, or steps:5,10, calendar:month,year, prefix:3,2,1, mask:right, table:schema.t.",
        "COL=HOW",
    ),
    Argument(
        "ordered", ("columns", "*", "ordered"), Mapping[str, FileName | Sequence[str]], Form.PAIRS, "--ordered",
        "alphabetical, declared, or a file of the values in order.", "COL=HOW",
    ),
    Argument(
        "bottom", ("columns", "*", "bottom"), Mapping[str, Number | date], Form.PAIRS, "--bottom",
        "Values below are published as this one.", "COL=VALUE",
    ),
    Argument(
        "top", ("columns", "*", "top"), Mapping[str, Number | date], Form.PAIRS, "--top",
        "Values above are published as this one.", "COL=VALUE",
    ),
    Argument(
        "round", ("columns", "*", "round"), Mapping[str, Number], Form.PAIRS, "--round",
        "Values become the nearest multiple of this number.", "COL=NUMBER",
    ),
    Argument(
        "weights", ("columns", "*", "weight"), Mapping[str, int], Form.WHOLE_PAIRS, "--weight",
        "Weight of a column in the loss.", "COL=N",
    ),
    Argument("method", ("method",), str | Mapping[str, object], Form.TEXT, "--method", "NAME[:option=value,...]"),
    Argument(
        "refine", ("refine",), bool | Mapping[str, int], Form.SWITCH, "--refine",
        "Improve the classes by a local pass, and by N trials for each.", "[search=N]",
    ),
    Argument(
        "suppression", ("suppression",), Mapping[str, Number], Form.SETTINGS, "--suppression",
        "Rows that may be suppressed, at most.", "limit=SHARE,rows=[starred|left_out]",
    ),
    Argument(
        "format", ("format",), FormatKind | Mapping[str, object], Form.WORD, "--format", "How classes are published.",
        words=FORMATS,
    ),
    Argument(
        "mean", ("format", "mean"), Names, Form.NAMES, "--mean",
        "Numeric columns that also publish class means.", "COLUMNS",
    ),
    Argument(
        "metrics", ("metrics",), Names, Form.NAMES, "--metrics", "Further metrics of the loss, or all.", "METRICS"
    ),
    Argument("execution", ("execution",), Execution, Form.WORD, "--execution", "Where the method runs."),
    Argument(
        "memory", ("memory",), int | str, Form.TEXT, "--memory", "Memory for the method, such as 4GB.", "SIZE"
    ),
    Argument("seed", ("seed",), int, Form.WHOLE, "--seed", "Fix what is drawn at random."),
    Argument(
        "rows_are", ("rows_are",), RowsAre, Form.WORD, "--rows-are", "events accepts identifiers that repeat."
    ),
    Argument(
        "person", ("person",), Names, Form.NAMES, "--person", "Identifiers that say together whose row it is.", "COLUMNS"
    ),
    Argument(
        "persons", ("persons",), Persons, Form.WORD, "--persons",
        "rows: k and l also hold over persons. whole: and all rows of a person are in one class. ignored: accept fewer than k.",
    ),
    Argument(
        "null_person", ("null_person",), NullPerson, Form.WORD, "--null-person", "Rows without a person are one, or distinct ones."
    ),
    Argument(
        "person_share", ("person_share",), Number, Form.NUMBER, "--person-share",
        "The part of a class's rows that one person may have.", "SHARE",
    ),
    Argument(
        "row_security", ("row_security",), RowSecurity, Form.WORD, "--row-security",
        "applied: release the rows that row-level security shows to this role.",
    ),
    Argument(
        "accept_unique", ("columns", "*", "accept_unique"), Names, Form.NAMES, "--accept-unique",
        "Published though nearly unique.", "COLUMNS",
    ),
    Argument(
        "accept_repeats", ("columns", "*", "accept_repeats"), Names, Form.NAMES, "--accept-repeats",
        "Identifiers whose equal values are not one person.", "COLUMNS",
    ),
    Argument(
        "scopes", ("columns", "*", "scope"), Mapping[str, str], Form.PAIRS, "--scope",
        "Releases of one scope share tokens.", "COL=NAME",
    ),
    Argument(
        "secrets", ("columns", "*", "secret"), Mapping[str, str], Form.PAIRS, "--secret",
        "Variable that keys the tokens.", "COL=${NAME}",
    ),
    Argument("name", ("name",), str, Form.TEXT, "--name", "The release's name."),
    Argument("readers", ("readers",), Names, Form.NAMES),
    Argument("dimensions", ("dimensions",), Names, Form.NAMES),
    Argument("key", ("key",), Names, Form.NAMES),
    Argument("every", ("every",), str, Form.TEXT),
    Argument("keep", ("keep",), int, Form.WHOLE),
    Argument("max_failing", ("history", "max_failing"), int, Form.WHOLE),
)  # fmt: skip
"""Every argument, in the order of ``--help``; those without an option belong to releases that are made again and again."""

ROLE_ARGUMENTS = tuple(argument.name for argument in ARGUMENTS if argument.path == ROLE)
"""Those that list the columns of a role."""

NOT_ARGUMENTS = {
    ("release", "source"): "the first argument",
    ("release", "columns"): "given by role",
    ("release", "privacy"): "given key by key",
    ("release", "history"): "given key by key",
    ("release", "refresh"): "for policies: what is made again and again",
    ("column", "role"): "given by role",
    ("privacy", "max_loss"): "given as a number",
    ("format", "kind"): "given as format",
}
"""Keys of a release that are no argument of their own, with the reason; options of `method`, `refine` and `suppression` are given within them."""
