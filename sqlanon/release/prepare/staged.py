"""What a run has of its source: the rows as they were read, and then with domains, ready to encode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.engines.base import TableRef
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.prepare.key import OWNER, PERSON
from sqlanon.results import Feasible
from sqlanon.spec import ReleaseSpec
from sqlanon.table.encode import Domain
from sqlanon.table.population import Population
from sqlanon.table.stage import Counted, Roles


class Units(Protocol):
    """What a method divides: rows, or persons."""

    def asked(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        """What the method is asked for."""

    def codes(self, persons: tuple[Domain, ...]) -> tuple[Domain, ...]:
        """The domains of persons that the method reads."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The source as it was read, once, and not yet profiled.

    Attributes:
        spec: the release.
        roles: its columns.
        stage: scratch table of its rows; ``rows`` of them.
        source: what the catalog keeps of it.
        persons: the counted identifiers.
        requirements: what is asked.
        keyed: the stage holds the key's hash; ``owned``: and that of the person.
        people, beside, many: a population that the rows are of: its columns, its staged rows, and how many.
    """

    spec: ReleaseSpec
    roles: Roles
    stage: TableRef
    rows: int
    source: SourceState
    persons: tuple[Counted, ...]
    requirements: tuple[Requirement, ...]
    keyed: bool
    people: Roles | None = None
    beside: TableRef | None = None
    many: int = 0
    owned: bool = False


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The source is as the published version saw it."""

    source: SourceState


@dataclass(frozen=True, slots=True)
class Prepared:
    """A staged and profiled source, ready to encode.

    ``persons`` are the identifiers whose hashes the stage holds (``rows_are: events`` only), ``person_codes`` their
    domains where a requirement counts persons.
    """

    roles: Roles
    stage: TableRef
    rows: int
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    requirements: tuple[Requirement, ...]
    feasible: tuple[Feasible, ...]
    method: Method
    persons: tuple[Counted, ...]
    source: SourceState
    keyed: bool
    person_codes: tuple[Domain, ...] = ()
    population: Population | None = None
    owned: bool = False

    @property
    def carried(self) -> tuple[str, ...]:
        """Further columns of the stage that are kept for each row."""
        return (
            *(one.alias for one in self.persons),
            *((PERSON,) if self.keyed else ()),
            *((OWNER,) if self.owned else ()),
        )
