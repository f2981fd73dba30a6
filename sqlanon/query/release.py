"""A release as readers see it: the view, and the metadata table, which describes the columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlanon.column_spec import Recode, Rule
from sqlanon.engines.base import Column, Engine, Relation, Row, TableRef
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.formats import Format, format_of
from sqlanon.query.answer import Unlike
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.views import metadata_of, sensitive_of, spell_table
from sqlanon.sqltext import statement
from sqlanon.table import rules

T = TypeVar("T")


@dataclass(frozen=True)
class Field:
    """A published source column, as the metadata describe it.

    Attributes:
        name: name of the column in the source.
        role: quasi, sensitive or insensitive.
        treatment: ordered, nominal or hierarchy; "" unless quasi.
        kind: kind of the type: integer, float, decimal, boolean, date, timestamp, text, enum or other.
        source_type: the type's name in the source.
        published: the columns of the view.
        declared: the policy's declaration of the domain.
        collation: SQL for the COLLATE of a text column in the source; None: not known, or the engine has none.
        deterministic: values that are equal in the source have the same text.
        attained: each published end, or member of a set, is the value of some row of its class.
    """

    name: str
    role: str
    treatment: str
    kind: str
    source_type: str
    published: tuple[str, ...]
    declared: Mapping[str, Any] = field(default_factory=dict)
    collation: str | None = None
    deterministic: bool = True
    attained: bool = False

    @property
    def recode(self) -> Recode | None:
        """The recoding of values before the release; None: they are unchanged."""
        return Recode(**self.declared["recode"]) if "recode" in self.declared else None

    @property
    def rule(self) -> Rule | None:
        """The rule that builds the nodes of the hierarchy; None: they are declared, or there is no hierarchy."""
        return rules.read(self.declared["rule"]) if "rule" in self.declared else None


@dataclass(frozen=True)
class ReaderRelease:
    """A release from the view of a reader.

    It has the view, the columns, and the table of sensitive values by group, if there is one.

    ``source`` is the table that the release was made from, as the policy writes it; ``left_out`` counts the source's
    rows that are not published. ``metadata`` are the rows that it was read from, and ``token`` in them identifies this
    version; "" where an older sqlanon made it. With ``refresh: {mode: frozen}``, ``unlike`` are the rows that differ
    from the source; ``as_of_source``: bounds are about the source, these rows included. ``candidates``: each row has
    a separate box, the least cover of so many rows, and every row is in as many boxes. ``known`` keeps the database's
    replies about this version, see `once`.
    """

    view: Relation
    format: str
    fields: tuple[Field, ...]
    group: str | None = None
    sensitive: Relation | None = None
    source: str = ""
    left_out: int = 0
    metadata: tuple[Row, ...] = field(default=(), compare=False, repr=False)
    token: str = ""
    known: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    unlike: Unlike | None = None
    as_of_source: bool = False
    candidates: int | None = None

    @property
    def form(self) -> Format:
        """Format of the publication.

        Raises:
            PolicyError: a newer sqlanon made it, in a format that this version does not know.
        """
        return format_of(self.format)

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns of the view that make the groups: rows with equal values in them are one group."""
        if self.group is not None:
            return (self.group,)
        return tuple(name for field in self.fields if field.role == "quasi" for name in field.published)

    def source_in(self, engine: Engine) -> TableRef | None:
        """The table it was made of, where this database has it and shows it."""
        relation = relation_of(engine, self.source) if self.source else None
        return relation.ref if relation is not None else None

    def column(self, name: str) -> Column:
        """A column of the view."""
        return next(column for column in self.view.columns if column.name == name)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Result of ``compute``, computed the first time only: a fact about the rows or columns of this version."""
        if key not in self.known:
            self.known[key] = compute()
        value: T = self.known[key]
        return value


def read_metadata(engine: Engine, view: TableRef) -> tuple[Row, ...]:
    """The rows of the metadata of a view: where they hold a token, equal rows are of the same version.

    Raises:
        DatabaseError: there are none, or they may not be read.
    """
    query = statement(
        "query/metadata", engine.dialect, metadata=metadata_of(view), columns=[name for name, _ in COLUMNS]
    )
    return tuple(engine.fetch(query))


def is_of_counts(rows: Sequence[Row]) -> bool:
    """Whether metadata are those of a release of counts."""
    return any(row[0] == "" and json.loads(str(row[5])).get("statistics") for row in rows)


def is_noisy(rows: Sequence[Row]) -> bool:
    """Whether metadata are those of noisy statistics."""
    return is_of_counts(rows) and not is_of_cells(rows)


def is_of_cells(rows: Sequence[Row]) -> bool:
    """Whether the metadata describe counts with cells that are shown or hidden, and not noisy."""
    facts = [json.loads(str(row[5])).get("statistics") for row in rows if row[0] == ""]
    return bool(facts and facts[0] and "epsilon" not in facts[0])


def read_cell_facts(view: Relation, rows: Sequence[Row], missing: str) -> Mapping[str, Any]:
    """Facts of the metadata about a release of statistics.

    Args:
        view: the release.
        rows: of the metadata.
        missing: the facts that an older sqlanon did not write, and a remedy, for the error.

    Raises:
        UnsupportedError: an older sqlanon made it, and the metadata lack the types of columns.
    """
    (release_row,) = (row for row in rows if row[0] == "")
    facts: Mapping[str, Any] = json.loads(str(release_row[5]))
    if "types" not in facts:
        raise UnsupportedError(f"{view.ref} was published by an older sqlanon, and does not say {missing}")
    return facts


def make_dimension(row: Row, facts: Mapping[str, Any]) -> Field:
    """The column of a release of statistics by which its cells are grouped, of a row of the metadata."""
    name = str(row[0])
    return Field(
        name,
        "insensitive",
        "",
        facts["types"][name],
        str(row[4]),
        (name,),
        collation=facts["collations"].get(name),
        deterministic=name not in facts["equal_unlike"],
    )


def describe(engine: Engine, view: Relation, rows: Sequence[Row]) -> ReaderRelease:
    """The release that the metadata rows of a view describe.

    Raises:
        PolicyError: they are not those of a release of ours.
    """
    row = next((row for row in rows if row[0] == ""), None)
    if row is None:
        raise PolicyError(f"{metadata_of(view.ref)} does not describe a release; name a view that sqlanon published")
    facts = json.loads(str(row[5]))
    if "epsilon" in (facts.get("statistics") or {}):
        raise UnsupportedError(
            f"{view.ref} has differentially private statistics, not rows: ask query, or read its rows as they are, "
            "each is a group; add up values, never ends of intervals"
        )
    if is_of_counts(rows):
        raise UnsupportedError(
            f"{view.ref} has counts of cells (statistics), not rows: ask query, or read its rows as they are, each "
            "is a cell"
        )
    types, collations = facts.get("types", {}), facts.get("collations", {})
    candidates = _candidates(facts, str(row[3]))
    fields = tuple(
        Field(
            str(row[0]),
            str(row[1]),
            str(row[2]),
            types.get(row[0], "other"),
            str(row[4]),
            tuple(json.loads(str(row[5]))),
            json.loads(str(row[6])) if row[6] else {},
            collations.get(row[0]),
            row[0] not in facts.get("equal_unlike", ()),
            row[0] in facts.get("attained", ()) or (candidates is not None and _is_least(row)),
        )
        for row in rows
        if row[0] != ""
    )
    sensitive = engine.relation(spell_table(sensitive_of(view.ref))) if "sensitive_view" in facts else None
    return ReaderRelease(
        view,
        str(row[3]),
        fields,
        facts.get("group_column"),
        sensitive,
        str(facts.get("source", "")),
        int(facts.get("left_out", 0)),
        tuple(rows),
        str(facts.get("token", "")),
        unlike=_unlike(facts),
        candidates=candidates,
    )


def _candidates(facts: Mapping[str, Any], form: str) -> int | None:
    """See `ReaderRelease.candidates`: verification found it of every version with boxes of their own."""
    if facts.get("boxes") != "own" or not isinstance(facts.get("k"), int) or _unlike(facts) is not None:
        return None
    return int(facts["k"]) if facts["k"] > 1 and format_of(form).facts.attains else None


def _is_least(row: Row) -> bool:
    """Whether the cells of a column are the ends, or the members, of values: nodes and recoded values are not."""
    declared = json.loads(str(row[6])) if row[6] else {}
    return row[1] == "quasi" and row[2] != "hierarchy" and "rule" not in declared and "recode" not in declared


def _unlike(facts: Mapping[str, Any]) -> Unlike | None:
    if facts.get("refresh") != "frozen":
        return None
    return Unlike(*(int(facts.get(name, 0)) for name in ("retained", "stale", "not_published")))


def read_release(engine: Engine, view: Relation) -> ReaderRelease:
    """Read the metadata of a view; see `describe`."""
    return describe(engine, view, read_metadata(engine, view.ref))


def relation_of(engine: Engine, name: str) -> Relation | None:
    """The table or view of that name, or None."""
    try:
        return engine.relation(name)
    except DatabaseError:
        return None
