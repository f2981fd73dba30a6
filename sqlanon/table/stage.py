"""Roles meet the source: which columns are read, how each quasi column is treated, and the staged snapshot."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from sqlanon.engines.base import Bind, Column, Relation, TableRef
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.spec import ColumnSpec, Hierarchy, NullPerson, ReleaseSpec, Rule, person_name
from sqlanon.table import pseudonyms
from sqlanon.table.recodes import find_limits, recode_refusal
from sqlanon.table.rules import explain_refusal
from sqlanon.table.scratch import Scratch
from sqlanon.table.text import text_of

Treatment = Literal["ordered", "nominal", "hierarchy"]
ENDS = ("bottom", "top", "other")

MANY_ROWS = 10_000
"""Least number of rows that a sequence numbers in less time than a window, its creation and drop included."""
_UNCOMPARED = (
    "PostgreSQL cannot hash, so that what is published could not be verified; cast it in a view, to text for example "
    "(json to jsonb), or make it an identifier (not published)"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One column of the source as this release reads it.

    Attributes:
        spec: the policy's words on it.
        column: the source's column.
        alias: its name in the staged table: q1.. quasi, s1.. sensitive, i1.. insensitive, t1.. pseudonyms, in policy
            order.
        treatment: quasi columns only.
        listed: the scratch type that lists the values of a text column and as which it is staged; see
            `sqlanon.table.listed`.
    """

    spec: ColumnSpec
    column: Column
    alias: str
    treatment: Treatment | None = None
    listed: TableRef | None = None

    @property
    def name(self) -> str:
        """The source's name for it."""
        return self.column.name

    @property
    def as_text(self) -> bool:
        """Enums without an order of their own travel as text, so that they sort by bytes."""
        return self.listed is not None or (self.column.kind == "enum" and self.spec.ordered != "declared")

    @property
    def as_float(self) -> bool:
        """Floats are normalized (-0.0 is 0.0) wherever they are compared."""
        return self.column.kind == "float"

    @property
    def staged(self) -> dict[str, object]:
        """The column as table/stage takes it."""
        return {
            "name": self.name,
            "alias": self.alias,
            "binary": self.column.kind == "text",
            "type": self.listed,
            "recode": self.recoded,
        }

    @property
    def recoded(self) -> dict[str, object] | None:
        """What the stage makes of its values, as table/stage takes it; None: nothing."""
        recode, kind = self.spec.recode, self.column.kind
        if recode is None:
            return None
        made: dict[str, object] = {
            "type": self.value_type,
            "kind": kind,
            "round": recode.round,
            "half": None,
            "leaves": None,
        }
        if recode.round is not None:
            half = Fraction(recode.round) / 2
            made["half"] = str(math.floor(half)) if kind == "integer" else text_of(Decimal(recode.round) / 2)
        return made | {end: f"{self.alias}_{end}" if getattr(recode, end) is not None else None for end in ENDS}

    @property
    def zoned(self) -> bool:
        """Whether the column is a timestamp with time zone."""
        return self.column.kind == "timestamp" and "WITH TIME ZONE" in self.column.type.upper()

    @property
    def value_type(self) -> str:
        """SQL type of the column's values in domains and releases."""
        if self.as_text or self.column.kind == "text":
            return "VARCHAR"
        # sqlglot would read a numeric without precision, which PostgreSQL holds exactly, as DuckDB's (18, 3).
        return "pg_catalog.numeric" if self.column.type == "numeric" else self.column.type


@dataclass(frozen=True, slots=True)
class Counted:
    """An identifier, or several together, whose values are counted as persons, by a number of each value.

    Equal values have equal hashes (or ranks, on DuckDB, whose hashes know no collation), so that a collision, as rare
    as it is, makes a count smaller and never larger.

    Attributes:
        name: what reports call it: the source's name.
        alias: the hash's name in the staged table: see `hashes_of`.
        columns: the source's columns.
        as_text: of each, whether its type has no equality that can be hashed (PostgreSQL's json and point), so that its
            text is counted.
        own: of each, whether its type was added to the database with operators of its own.
        nulls: rows in which one of them is NULL are ``one`` person, or each is a ``distinct`` one; None: NULL is a
            value.
    """

    name: str
    alias: str
    columns: tuple[str, ...]
    as_text: tuple[bool, ...]
    own: tuple[bool, ...]
    nulls: NullPerson | None = None

    @property
    def reading(self) -> Reading:
        """Its numbers as a column of the staged table."""
        return Reading(ColumnSpec(self.name, "identifier"), Column(self.name, "BIGINT", "integer"), self.alias)


def hashes_of(names: Iterable[str]) -> dict[str, str]:
    """Columns of the hashes of counted identifiers in the stage and a version's link table.

    They are p1.., whatever the order of the policy.
    """
    ordered = sorted(names, key=lambda name: (name.lower(), name))
    return {name: f"p{i}" for i, name in enumerate(ordered, 1)}


def counted_columns(
    relation: Relation, named: Mapping[str, tuple[str, ...]], nulls: Mapping[str, NullPerson | None]
) -> tuple[Counted, ...]:
    """Columns of a source as the stage counts them, by the name of the persons; columns are spelled as there."""
    known = {column.name: column for column in relation.columns}

    def counted(name: str, alias: str) -> Counted:
        columns = [known[one] for one in named[name]]
        as_text, own = (
            tuple(not one.hashable for one in columns),
            tuple(one.own_operators for one in columns),
        )
        return Counted(name, alias, named[name], as_text, own, nulls.get(name))

    return tuple(counted(name, alias) for name, alias in hashes_of(named).items())


@dataclass(frozen=True, slots=True)
class Roles:
    """Every column of the source that the release reads, by role, and what it drops.

    Attributes:
        relation: the source.
        quasi, sensitive, insensitive: the columns that are staged.
        identifiers, identifier_specs: the columns that are never published.
        dropped: names of the other columns.
        link: of what a row's link is the hash, where tables of staged rows have no column ``link``: the alias of each
            column, and whether it is staged as a type that lists its texts. Empty: they have the column.
        linked: the same where these tables have the column, if all of these columns are staged.
        pseudonyms: the columns that are published as tokens; they are staged where `take_stage` gets keys.
    """

    relation: Relation
    quasi: tuple[Reading, ...]
    sensitive: tuple[Reading, ...]
    insensitive: tuple[Reading, ...]
    identifiers: tuple[Column, ...]
    identifier_specs: tuple[ColumnSpec, ...]
    dropped: tuple[str, ...]
    link: tuple[tuple[str, bool], ...] = ()
    linked: tuple[tuple[str, bool], ...] = ()
    pseudonyms: tuple[Reading, ...] = ()

    @property
    def kept(self) -> tuple[Reading, ...]:
        """Columns published as they are staged."""
        return self.sensitive + self.insensitive + self.pseudonyms

    def token_of(self, name: str) -> Reading:
        """A pseudonym by its name."""
        return next(one for one in self.pseudonyms if one.name.lower() == name.lower())

    def hashing(self, names: Sequence[str]) -> Roles:
        """The same roles with a link of these columns that no table stores, if all of them are staged.

        That saves 8 bytes for each row of each table.
        """
        staged = {
            reading.name: (reading.alias, reading.listed is not None or reading.column.kind == "enum")
            for reading in self.quasi + self.sensitive + self.insensitive
        }
        if any(reading.spec.recode is not None for reading in self.quasi):
            return self  # a link is of the source's values
        return replace(self, link=tuple(staged[name] for name in names)) if staged.keys() >= set(names) else self

    def counted(self, spec: ReleaseSpec) -> tuple[Counted, ...]:
        """The persons of a release of events: what `person` names, else the identifiers that do not accept repeats."""
        if not spec.person:
            each = {item.name: (item.name,) for item in self.identifier_specs if not item.accept_repeats}
            return counted_columns(self.relation, each, {})
        published = tuple(reading.spec for reading in self.pseudonyms)
        spelled = {item.name.lower(): item.name for item in self.identifier_specs + published}
        columns = tuple(spelled.get(name.lower(), name) for name in spec.person)
        named = person_name(columns)
        return counted_columns(self.relation, {named: columns}, {named: spec.null_person})

    def published_order(self) -> tuple[Reading, ...]:
        """Quasi, sensitive and insensitive columns in the order of the source."""
        place = {column.name: i for i, column in enumerate(self.relation.columns)}
        return tuple(sorted(self.quasi + self.kept, key=lambda reading: place[reading.name]))


def assign_roles(spec: ReleaseSpec, relation: Relation) -> Roles:
    """Match a policy with a source's columns.

    Raises:
        PolicyError: every column without a role, and every role without a column, at once.
        UnsupportedError: a quasi column's type has neither an order nor equality that we can use.
    """
    known = {column.name: column for column in relation.columns}
    folded: dict[str, list[Column]] = {}
    for column in relation.columns:
        folded.setdefault(column.name.lower(), []).append(column)
    problems: list[str] = []
    given: dict[str, ColumnSpec] = {}
    for item in spec.columns:
        found = known.get(item.name)
        if found is None and len(folded.get(item.name.lower(), [])) == 1:
            found = folded[item.name.lower()][0]
        if found is None:
            near = difflib.get_close_matches(item.name, list(known), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(f"{spec.name}: {relation.ref} has no column {item.name}{hint}")
        elif found.name in given:
            problems.append(f"{spec.name}: column {found.name} is named twice")
        else:
            given[found.name] = replace(item, name=found.name)
    missing = [name for name in known if name not in given]
    if missing and spec.rest == "error" and not problems:
        problems.append(
            f"{spec.name}: no role for {', '.join(missing)}; name a role (identifier, pseudonym, quasi, sensitive, "
            "insensitive) for each, or say what happens to the rest: rest: drop (not published) or keep (published as "
            "they are)"
        )
    problems += [
        f"{spec.name}: sensitive column {name} has type {known[name].shown_type}, whose own equality generated SQL "
        "does not use, so that values could be counted as different that are equal; cast it in a view, to text for "
        "example (of citext lower(...)::text)"
        for name, item in given.items()
        if item.role == "sensitive" and known[name].own_operators
    ]
    problems += [
        f"{spec.name}: sensitive column {name} has collation {known[name].collation}, in which texts of other bytes "
        "are equal: they would "
        "be counted as different values; in a view, write equal values alike, with a deterministic collation "
        '(lower(...) COLLATE "C", '
        "for example)"
        for name, item in given.items()
        if item.role == "sensitive" and known[name].kind == "text" and not known[name].deterministic
    ]
    published = {name: item.role for name, item in given.items() if item.role in ("sensitive", "insensitive")}
    if spec.rest == "keep":
        published |= dict.fromkeys(missing, "insensitive")
    problems += [
        f"{spec.name}: {role} column {name} has type {known[name].shown_type}, which {_UNCOMPARED}"
        for name, role in published.items()
        if not known[name].hashable
    ]
    problems += [
        f"{spec.name}: {pseudonyms.problem_of(known[name])}"
        for name, item in given.items()
        if item.role == "pseudonym" and not pseudonyms.has_stable_text(known[name])
    ]
    if problems:
        raise PolicyError(problems)
    specs = list(given.values())
    if spec.rest == "keep":
        specs += [ColumnSpec(name, "insensitive") for name in missing]
    of = {
        role: [item for item in specs if item.role == role]
        for role in ("quasi", "sensitive", "insensitive", "pseudonym")
    }
    identifiers = tuple(item for item in specs if item.role == "identifier")
    quasi = tuple(_quasi(spec, item, known[item.name], f"q{i}") for i, item in enumerate(of["quasi"], 1))
    return Roles(
        relation,
        quasi,
        tuple(Reading(item, known[item.name], f"s{i}") for i, item in enumerate(of["sensitive"], 1)),
        tuple(Reading(item, known[item.name], f"i{i}") for i, item in enumerate(of["insensitive"], 1)),
        tuple(known[item.name] for item in identifiers),
        identifiers,
        tuple(missing) if spec.rest == "drop" else (),
        pseudonyms=tuple(
            Reading(item, Column(item.name, "VARCHAR", "text"), f"t{i}") for i, item in enumerate(of["pseudonym"], 1)
        ),
    )


def _quasi(spec: ReleaseSpec, item: ColumnSpec, column: Column, alias: str) -> Reading:
    kind = column.kind
    if kind == "other":
        raise UnsupportedError(
            f"{spec.name}: column {column.name} has type {column.shown_type}, which cannot be a quasi-identifier; "
            "cast it to text or a number in a view, or give it another role"
        )
    if item.ordered == "declared" and kind != "enum":
        raise PolicyError(f"{spec.name}: ordered: declared is for enums; {column.name} is {column.shown_type}")
    if item.ordered == "alphabetical" and kind not in ("text", "enum"):
        raise PolicyError(f"{spec.name}: ordered: alphabetical is for text; {column.name} is {column.shown_type}")
    if isinstance(item.ordered, tuple) and kind not in ("text", "enum"):
        raise PolicyError(f"{spec.name}: a list of values is for text; {column.name} is {column.shown_type}")
    if isinstance(item.hierarchy, Rule) and (why := explain_refusal(item.hierarchy, kind, column.shown_type)):
        raise PolicyError(f"{spec.name}: hierarchy of {column.name}: {why}")
    if item.recode is not None and (why := recode_refusal(item.recode, column)):
        raise PolicyError(f"{spec.name}: {column.name}: {why}")
    treatment: Treatment
    if item.hierarchy is not None:
        treatment = "hierarchy"
    elif kind in ("text", "enum") and item.ordered is None:
        treatment = "nominal"
    else:
        treatment = "ordered"
    return Reading(item, column, alias, treatment)


def refuse_overflow(scratch: Scratch, spec: ReleaseSpec, roles: Roles) -> None:
    """Look for values that a column's type cannot hold once they are rounded.

    Raises:
        PolicyError: there are some; how many, and of which column.

    Cost: a scan, if a column is rounded and has no end that keeps its values in.
    """
    columns: list[dict[str, str | None]] = []
    binds: dict[str, Bind] = {}
    rounded: list[tuple[Reading, object]] = []
    for reading in roles.quasi:
        recode = reading.spec.recode
        low, high = find_limits(recode, reading.column) if recode else (None, None)
        if recode is None or (low is None and high is None):
            continue
        ends = {end: f"{reading.alias}_{end}" if at is not None else None for end, at in (("low", low), ("high", high))}
        binds |= {str(name): at for name, at in zip(ends.values(), (low, high), strict=True) if at is not None}
        columns.append({"name": reading.name, "type": reading.column.type, **ends})
        rounded.append((reading, recode.round))
    if not columns:
        return
    row = scratch.fetch("table/overflow", binds, source=roles.relation.ref, columns=columns)[0]
    for (reading, step), n in zip(rounded, row, strict=True):
        if n:
            raise PolicyError(
                f"{spec.name}: {reading.name}: {n} values rounded to multiples of {step} do not fit into "
                f"{reading.column.shown_type}; set bottom or top, or cast the column to a wider type in a view of the "
                "source"
            )


def hash_parameters(relation: Relation, names: Sequence[str]) -> list[dict[str, object]]:
    """Columns of a link, as table/stage takes them.

    An enum's value has the hash of its place in the type, which is another value's when the type is made anew: its text
    is taken.
    """
    enums = {column.name for column in relation.columns if column.kind == "enum"}
    return [{"name": name, "listed": name in enums} for name in names]


def _with_leaves(scratch: Scratch, reading: Reading, step: str) -> dict[str, object]:
    """A column for table/stage, with a table of the hierarchy's listed values if other values become one of these."""
    recoded, hierarchy = reading.recoded, reading.spec.hierarchy
    if recoded is None or recoded["other"] is None:
        return reading.staged
    assert isinstance(hierarchy, Hierarchy)
    labels, leaves = (scratch.table(f"{step}_{reading.alias}_{name}") for name in ("labels", "leaves"))
    scratch.engine.load_rows(
        labels, [("label", scratch.engine.capabilities.text_type)], ((path[0],) for path in hierarchy.levels)
    )
    try:
        scratch.execute("table/leaves", leaves=leaves, labels=labels, type=reading.value_type)
    except DatabaseError as error:
        raise PolicyError(
            f"{hierarchy.shown}: its leaves, other among them, cannot be read as {reading.column.shown_type}, the type "
            f"of column {reading.name}"
        ) from error
    return reading.staged | {"recode": recoded | {"leaves": leaves}}


def take_stage(
    scratch: Scratch,
    roles: Roles,
    link: Sequence[str],
    key: Sequence[str] = (),
    secret: str = "",
    persons: Sequence[Counted] = (),
    *,
    dense: bool = False,
    rows: int = 0,
    step: str = "stage",
    keys: Mapping[str, bytes] | None = None,
    owner: Counted | None = None,
) -> TableRef:
    """Copy the columns that are read, once, into a scratch table: from here on the source is not looked at.

    Args:
        scratch: the run.
        roles: what to read.
        link: columns whose hash ties a released row to its source row inside the private schema, if ``roles`` says of
            none.
        key: columns that identify a row from version to version.
        secret: what the key's hash is keyed with.
        persons: identifiers that are counted.
        dense: the engine's own numbers of the source's rows are 0 to rows - 1; see `sqlanon.table.listed`.
        rows: how many there are, as far as that is known.
        step: what the table is called.
        keys: of each pseudonym by its name in lower case; None: they are not staged.
        owner: the persons whose rows are to be recognized in later versions.
    """
    parts = scratch.engine.capabilities.numbers_parts
    stage = scratch.table(f"{step}_placed" if parts else step)
    sequence = scratch.engine.capabilities.sequences and rows >= MANY_ROWS
    numbers = scratch.named("numbers") if sequence else None
    source = roles.relation.ref
    hashes = [] if roles.link else hash_parameters(roles.relation, link)
    columns = [_with_leaves(scratch, reading, step) for reading in roles.quasi + roles.sensitive + roles.insensitive]
    tokens: list[dict[str, str]] = []
    binds: dict[str, Bind] = {"secret": secret}
    for reading in roles.pseudonyms if keys else ():
        tokens.append({"name": reading.name, "alias": reading.alias})
        inner, outer = pseudonyms.pad_key((keys or {})[reading.name.lower()])
        binds |= {f"{reading.alias}_inner": inner, f"{reading.alias}_outer": outer}
    binds |= {
        f"{reading.alias}_{end}": getattr(reading.spec.recode, end)
        for reading in roles.quasi
        if reading.spec.recode is not None
        for end in ENDS
    }
    with scratch.together():
        if numbers:
            scratch.execute("table/numbers", numbers=numbers)
        scratch.execute(
            "table/stage",
            binds,
            stage=stage,
            source=source,
            columns=columns,
            dense=dense,
            numbers=numbers,
            link=hashes,
            key=list(key),
            persons=list(persons),
            tokens=tokens,
            owner=owner,
        )
        if numbers:
            scratch.execute("table/drop_numbers", numbers=numbers)
    return _number_rows(scratch, stage, step) if parts else stage


def _number_rows(scratch: Scratch, placed: TableRef, step: str) -> TableRef:
    """The staged rows with their row ids, of a table in which each row has its part and its place there."""
    before = scratch.table(f"{step}_before")
    numbered = scratch.once(step, over=(placed, before))
    scratch.execute("table/rows_before", before=before, placed=placed)
    scratch.execute("table/numbered", stage=numbered, placed=placed, before=before)
    return numbered
