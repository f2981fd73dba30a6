"""A run's copy of the source: the rows as they were read, and then with domains, ready to encode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlanon.engines.base import TableRef
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.prepare.key import OWNER, PERSON
from sqlanon.release.prepare.workplace import IN_DATABASE, NOTHING_KNOWN, RunFacts, Workplace
from sqlanon.results import FeasibleLevel
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain, Domains
from sqlanon.table.population import Population
from sqlanon.table.reading import CountedIdentifier, Roles


class Units(Protocol):
    """Units that a method divides: rows, or persons."""

    def requirements_of(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        """Requirements that the method solves."""

    def codes(self, persons: tuple[Domain, ...]) -> tuple[Domain, ...]:
        """The domains of persons that the method reads."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source is read.

    Attributes:
        secret: key of the release's hashes.
        memory: bytes for the kernels, unless the policy has a limit.
        tokens: key of the pseudonyms, as the private schema has it.
        same_as: the fingerprint of a source that need not be released again; the rest is then not done.
        held: the caller has a snapshot, of several tables.
        follows: the caller compares the keys with those of a lineage, which finds repeated keys.
        lasting: classes stay while rows leave them: rows and persons are recognized in later versions.
        owned: each staged row has a keyed hash of the person, though versions are made anew.
        planned: no rows are released.
        snapshot: the source's own version at that fingerprint: if it is unchanged, no row is read.
        links: the columns that are hashed to find rows in private tables; None: as the policy says.
        bringing: facts on which the choice of the workplace depends.
    """

    secret: str = field(repr=False)
    memory: int
    tokens: str = field(default="", repr=False)
    same_as: str | None = None
    held: bool = False
    follows: bool = False
    lasting: bool = False
    owned: bool = False
    planned: bool = False
    snapshot: str = ""
    links: Sequence[str] | None = None
    bringing: RunFacts = NOTHING_KNOWN

    def find_known_mark(self, snapshot: str) -> str | None:
        """The fingerprint of the source's rows, where the source's version shows it; None: they are to be read."""
        same = bool(snapshot) and snapshot == self.snapshot
        return self.same_as.partition(" ")[0] if same and self.same_as is not None else None


@dataclass(frozen=True, slots=True)
class StagedSource:
    """The source as it was read, once, and not yet profiled.

    Attributes:
        spec: the release.
        roles: the columns.
        stage: scratch table of the rows; ``rows`` of them.
        source: the catalog's record of the source.
        persons: the counted identifiers.
        requirements: those of the policy.
        keyed: the stage holds the key's hash.
        people, beside: a population that contains the rows: columns, and staged rows.
        lasting: see `Reading`.
        place: where the rows are worked on.
    """

    spec: ReleaseSpec
    roles: Roles
    stage: TableRef
    rows: int
    source: SourceState
    persons: tuple[CountedIdentifier, ...]
    requirements: tuple[Requirement, ...]
    keyed: bool
    people: Roles | None = None
    beside: TableRef | None = None
    lasting: bool = False
    place: Workplace = IN_DATABASE


@dataclass(frozen=True, slots=True)
class UnchangedSource:
    """The source is as the published version saw it."""

    source: SourceState


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A staged and profiled source, ready to encode.

    ``persons`` are the identifiers with hashes in the stage (``rows_are: events`` only); ``domains`` has their domains
    where a requirement counts persons; ``place``: where the rows are worked on.
    """

    roles: Roles
    stage: TableRef
    rows: int
    domains: Domains
    requirements: tuple[Requirement, ...]
    feasible: tuple[FeasibleLevel, ...]
    method: Method
    persons: tuple[CountedIdentifier, ...]
    source: SourceState
    keyed: bool
    population: Population | None = None
    lasting: bool = False
    place: Workplace = IN_DATABASE

    @property
    def quasi(self) -> tuple[Domain, ...]:
        """The quasi columns."""
        return self.domains.quasi

    @property
    def sensitive(self) -> tuple[Domain, ...]:
        """The sensitive columns."""
        return self.domains.sensitive

    @property
    def solved(self) -> tuple[Requirement, ...]:
        """Requirements for methods, each in the form in which they solve it best."""
        values = {domain.reading.name: domain.codes for domain in self.sensitive}
        return tuple(
            requirement.in_best_form(values[requirement.column])
            if not requirement.across and requirement.column in values
            else requirement
            for requirement in self.requirements
            if not requirement.afterwards
        )

    @property
    def owned(self) -> bool:
        """Whether the stage holds the hash of the person, which is the same in every version."""
        return self.lasting and bool(self.persons)

    @property
    def carried(self) -> tuple[str, ...]:
        """Further columns of the stage that are kept for each row."""
        return (
            *(person.alias for person in self.persons),
            *((PERSON,) if self.keyed else ()),
            *((OWNER,) if self.owned else ()),
        )
