"""Reading of the source: each column, the counted persons, and all columns by role."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from sqlanon.column_spec import ColumnSpec
from sqlanon.engines.base import Column, Relation, TableRef
from sqlanon.spec import NullPerson, ReleaseSpec, person_name
from sqlanon.sqltext import type_name
from sqlanon.table.text import text_of

Treatment = Literal["ordered", "nominal", "hierarchy"]
ENDS = ("bottom", "top", "other")


@dataclass(frozen=True, slots=True)
class Reading:
    """A column of the source as this release reads it.

    Attributes:
        spec: the policy's words on it.
        column: the source's column.
        alias: the name in the staged table: q1.. quasi, s1.. sensitive, i1.. insensitive, t1.. pseudonyms, in policy
            order.
        treatment: quasi columns only.
        listed: the scratch type that lists the values of a text column and as which it is staged; see
            `sqlanon.table.staged_enums`.
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
        """The stage's recoding of the values, as table/stage takes it; None without a recoding."""
        recode, kind = self.spec.recode, self.column.kind
        if recode is None:
            return None
        recoding: dict[str, object] = {
            "type": self.value_type,
            "kind": kind,
            "round": recode.round,
            "half": None,
            "leaves": None,
        }
        if recode.round is not None:
            half = Fraction(recode.round) / 2
            recoding["half"] = str(math.floor(half)) if kind == "integer" else text_of(Decimal(recode.round) / 2)
        return recoding | {end: f"{self.alias}_{end}" if getattr(recode, end) is not None else None for end in ENDS}

    @property
    def zoned(self) -> bool:
        """Whether the column is a timestamp with time zone."""
        return self.column.kind == "timestamp" and "WITH TIME ZONE" in self.column.type.upper()

    @property
    def value_type(self) -> str:
        """SQL type of the column's values in domains and releases."""
        if self.as_text or self.column.kind == "text":
            return "VARCHAR"
        return type_name(self.column.type)


@dataclass(frozen=True, slots=True)
class CountedIdentifier:
    """An identifier, or several together, counted as persons by a number of each value.

    Equal values have equal hashes (or ranks, on DuckDB, whose hashes know no collation), so that a collision, as rare
    as it is, makes a count smaller and never larger.

    Attributes:
        name: the name in reports: the source's name.
        alias: the hash's name in the staged table: see `hashes_of`.
        columns: the source's columns.
        as_text: of each, whether the type has no equality that can be hashed (PostgreSQL's json and point), so that
            the text is counted.
        own: of each, whether the type was added to the database with operators of its own.
        nulls: rows with NULL in some of the columns are ``one`` person, or each is a ``distinct`` person; None: NULL is
            a value.
    """

    name: str
    alias: str
    columns: tuple[str, ...]
    as_text: tuple[bool, ...]
    own: tuple[bool, ...]
    nulls: NullPerson | None = None

    @property
    def reading(self) -> Reading:
        """The numbers of the persons as a column of the staged table."""
        return Reading(ColumnSpec(self.name, "identifier"), Column(self.name, "BIGINT", "integer"), self.alias)


def hashes_of(names: Iterable[str]) -> dict[str, str]:
    """Columns of the hashes of counted identifiers in the stage and a version's link table.

    They are p1.., whatever the order of the policy.
    """
    ordered = sorted(names, key=lambda name: (name.lower(), name))
    return {name: f"p{i}" for i, name in enumerate(ordered, 1)}


def find_counted_columns(
    relation: Relation, names: Mapping[str, tuple[str, ...]], nulls: Mapping[str, NullPerson | None]
) -> tuple[CountedIdentifier, ...]:
    """Columns of a source as the stage counts them, by the name of the persons; columns are spelled as there."""
    columns_of = {column.name: column for column in relation.columns}

    def read_counted(name: str, alias: str) -> CountedIdentifier:
        columns = [columns_of[name] for name in names[name]]
        as_text, own_operators = (
            tuple(not column.hashable for column in columns),
            tuple(column.own_operators for column in columns),
        )
        return CountedIdentifier(name, alias, names[name], as_text, own_operators, nulls.get(name))

    return tuple(read_counted(name, alias) for name, alias in hashes_of(names).items())


@dataclass(frozen=True, slots=True)
class Roles:
    """Every column of the source that the release reads, by role.

    Attributes:
        relation: the source.
        quasi, sensitive, insensitive: the columns that are staged.
        identifiers, identifier_specs: the columns that are never published.
        link: inputs of the hash that is a row's link, where tables of staged rows have no column ``link``: the alias
            of each column, and whether it is staged as a type that lists the texts. Empty: they have the column.
        linked: the same where these tables have the column, if all of these columns are staged.
        pseudonyms: the columns that are published as tokens; they are staged where `take_stage` gets keys.
    """

    relation: Relation
    quasi: tuple[Reading, ...]
    sensitive: tuple[Reading, ...]
    insensitive: tuple[Reading, ...]
    identifiers: tuple[Column, ...]
    identifier_specs: tuple[ColumnSpec, ...]
    link: tuple[tuple[str, bool], ...] = ()
    linked: tuple[tuple[str, bool], ...] = ()
    pseudonyms: tuple[Reading, ...] = ()

    @property
    def kept(self) -> tuple[Reading, ...]:
        """Columns published as they are staged."""
        return self.sensitive + self.insensitive + self.pseudonyms

    def token_of(self, name: str) -> Reading:
        """A pseudonym by name."""
        return next(pseudonym for pseudonym in self.pseudonyms if pseudonym.name.lower() == name.lower())

    def link_by_hash(self, names: Sequence[str]) -> Roles:
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

    def list_counted(self, spec: ReleaseSpec) -> tuple[CountedIdentifier, ...]:
        """The persons of a release of events: those in `person`, else the identifiers that accept no repeats."""
        if not spec.person:
            columns_of = {item.name: (item.name,) for item in self.identifier_specs if not item.accept_repeats}
            return find_counted_columns(self.relation, columns_of, {})
        published = tuple(reading.spec for reading in self.pseudonyms)
        spelled = {item.name.lower(): item.name for item in self.identifier_specs + published}
        columns = tuple(spelled.get(name.lower(), name) for name in spec.person)
        name = person_name(columns)
        return find_counted_columns(self.relation, {name: columns}, {name: spec.null_person})

    def published_order(self) -> tuple[Reading, ...]:
        """Quasi, sensitive and insensitive columns in the order of the source."""
        place = {column.name: i for i, column in enumerate(self.relation.columns)}
        return tuple(sorted(self.quasi + self.kept, key=lambda reading: place[reading.name]))
