"""Keys of a policy about single columns; `keys` has the others."""

from __future__ import annotations

from typing import Final

from sqlanon.column_spec import MAX_WEIGHT, ROLES
from sqlanon.declared.key import Key
from sqlanon.declared.kinds import A_TABLE, ANYTHING, FLAG, ONE_WORD, ORDER, TEXT, VARIABLE, WORDS
from sqlanon.declared.records import ByName
from sqlanon.declared.values import REQUIRED, Integer, OneOf

COLUMN_KEYS: Final[tuple[Key, ...]] = (
    Key(
        "columns.*.role",
        OneOf(ROLES),
        REQUIRED,
        "What the column is for. `identifier`: names a person, is never published. `pseudonym`: the person's column, "
        "or a number of each row, published as a token: a keyed hash by which tables can be joined "
        "([pseudonyms.md](pseudonyms.md)). `quasi`: others may know it; it is generalized. `sensitive`: must not be "
        "learned about a person; published as it is, protected by l. `insensitive`: published as it is.",
    ),
    *(
        Key(f"columns.*.role.{role}", None, REQUIRED, "", "Names", option, short, named=noun)
        for role, noun, option, short in (
            ("quasi", "", "--qi", "Quasi-identifiers: a comma list, names quoted as in CSV."),
            ("sensitive", "", "--sensitive", "Sensitive attributes."),
            ("identifier", "identifiers", "--identifier", "Identifiers: never published."),
            ("pseudonym", "pseudonyms", "--pseudonym", "Published as keyed tokens."),
            ("insensitive", "", "--insensitive", "Columns published as they are."),
        )
    ),
    Key(
        "columns.*.weight",
        Integer(1, MAX_WEIGHT),
        1,
        "How much the loss of this quasi column counts against the others. The weights of a release sum to "
        f"at most {MAX_WEIGHT}.",
        "Mapping[str, int]",
        "--weight",
        "Weight of a column in the loss.",
        named="weights",
        value="COL=N",
    ),
    Key(
        "columns.*.hierarchy",
        None,
        None,
        "Classes publish the label of a node: a CSV file in ARX's format, `leaf;parent;...;*`, relative to the policy "
        "file, or a mapping that says how the nodes are built. As text: `steps:5,10,20`, `calendar:month,year`, "
        "`prefix:3,2,1`, `mask:right`, `table:schema.t`. Sensitive columns: a file, groups or a table, for `t` with "
        "`distance: hierarchical`.",
        "Mapping[str, FileName | Mapping[str, object]]",
        "--hierarchy",
        "Taxonomy of a column: a file in ARX format, or steps:5,10, calendar:month,year, prefix:3,2,1, mask:right, "
        "table:schema.t.",
        named="hierarchies",
        value="COL=HOW",
    ),
    Key(
        "columns.*.ordered",
        ORDER,
        None,
        "Quasi columns of text or enum type, which otherwise have no order: `alphabetical` (by bytes), `declared` (the "
        "enum's own order), the list of values in order, or a file with one value per line, relative to the policy "
        "file. Not together with `hierarchy`. Sensitive columns: for `t` with `distance: ordered`.",
        "Mapping[str, FileName | Sequence[str]]",
        "--ordered",
        "alphabetical, declared, or a file of the values in order.",
        value="COL=HOW",
    ),
    Key(
        "columns.*.bottom",
        ONE_WORD,
        None,
        'Quasi columns of numbers, dates and timestamps: values below are published as this one, which then means "at '
        'most". One outlier '
        "otherwise makes every range look narrow beside the whole.",
        "Mapping[str, Number | date]",
        "--bottom",
        "Values below are published as this one.",
        value="COL=VALUE",
    ),
    Key(
        "columns.*.top",
        ONE_WORD,
        None,
        'The same above: values above are published as this one, which then means "at least".',
        "Mapping[str, Number | date]",
        "--top",
        "Values above are published as this one.",
        value="COL=VALUE",
    ),
    Key(
        "columns.*.round",
        ONE_WORD,
        None,
        "Quasi columns of numbers: values become the nearest multiple of this number, halves the greater one, before "
        "`bottom` and `top`.",
        "Mapping[str, Number]",
        "--round",
        "Values become the nearest multiple of this number.",
        value="COL=NUMBER",
    ),
    Key(
        "columns.*.accept_unique",
        FLAG,
        False,
        "Sensitive and insensitive columns: publish the column although many of its values occur once, or are one "
        "person's alone, and could name a person. Quasi columns of text without a hierarchy: publish lists of values "
        "although more than half of the rows, or persons, have values of their own.",
        "Names",
        "--accept-unique",
        "Published though nearly unique.",
    ),
    Key(
        "columns.*.accept_repeats",
        FLAG,
        False,
        "Identifiers: equal values are not the same person (names, free text), so that repeats, and several "
        "NULLs, do not stop the run and are not counted as persons.",
        "Names",
        "--accept-repeats",
        "Identifiers whose equal values are not one person.",
    ),
    Key(
        "columns.*.scope",
        TEXT,
        None,
        "The person's pseudonym: a name under which releases of this database share tokens, so that they can be "
        "joined. Each of them is checked together with all that are published in the scope. Default: the release's "
        "name.",
        "Mapping[str, str]",
        "--scope",
        "Releases of one scope share tokens.",
        named="scopes",
        value="COL=NAME",
    ),
    Key(
        "columns.*.secret",
        VARIABLE,
        None,
        "The person's pseudonym: the environment variable that holds what tokens are keyed with, as `${NAME}`; its "
        "value is read by a run, and written nowhere. Default: a random secret that the private schema keeps for the "
        "scope.",
        "Mapping[str, str]",
        "--secret",
        "Variable that keys the tokens.",
        named="secrets",
        value="COL=${NAME}",
    ),
    Key(
        "columns.*.because",
        TEXT,
        None,
        "Why the column has this role, in a sentence of yours; reports print it in the table of variables, for the "
        "owner and in bundles, and it changes no released row.",
    ),
    Key(
        "columns.*.hierarchy.file", TEXT, None, "The CSV file, which may also be written alone in place of the mapping."
    ),
    Key(
        "columns.*.hierarchy.steps",
        WORDS,
        None,
        "Numbers, dates and timestamps: widths of intervals, each a multiple of the one before it, in the column's "
        "units; days for dates. A node is `20..24` where values are whole, `20..<25` where they are not.",
    ),
    Key(
        "columns.*.hierarchy.from", ONE_WORD, None, "With `steps`: where an interval begins. Default: 0, or 1970-01-01."
    ),
    Key(
        "columns.*.hierarchy.calendar",
        WORDS,
        None,
        "Dates and timestamps: some of `day`, `week`, `month`, `quarter`, `year`, `decade`, each made of whole ones "
        "before it. Weeks begin on Monday and are part of no other unit. With time zone: in UTC.",
    ),
    Key(
        "columns.*.hierarchy.prefix",
        WORDS,
        None,
        "Text: how many first characters a node keeps, a smaller number at each level: `C50*`, `C5*`, `C*`.",
    ),
    Key(
        "columns.*.hierarchy.mask",
        OneOf(("right",)),
        None,
        "Text: `right` hides the last character with `*`, at the next level the one before it as well: `1234*`, "
        "`123**`.",
    ),
    Key(
        "columns.*.hierarchy.groups",
        ByName(ANYTHING, "young: [18, 19]"),
        None,
        "A name for each list of values: `{young: [18, 19, 20], old: [90, 91]}`. A group of groups is a mapping in "
        "place of the list. Every value of the column is in one of them.",
    ),
    Key(
        "columns.*.hierarchy.table",
        A_TABLE,
        None,
        "A table of the same database: a leaf in its first column, its parents in the next ones, the root in the last; "
        "it is read when the release is made.",
    ),
    Key(
        "columns.*.hierarchy.hipaa",
        OneOf(("zip3",)),
        None,
        "`zip3`: first three digits of ZIP codes, as Safe Harbor allows them: the 17 prefixes of 20,000 people or "
        "fewer, and every other text, count as `000`. The column has three digits already: `left(zip, 3)` in a view.",
    ),
    Key(
        "columns.*.hierarchy.other",
        ONE_WORD,
        None,
        "With `file`, `groups` or `table`, quasi columns: the value that those count as which are not listed, which "
        "otherwise stop a run. One that is listed, or a new one right below the root.",
    ),
)
