"""A release of rows that readers of the counts have as well: the classes, as arguments of templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from sqlanon.errors import GuardError
from sqlanon.statistics.part_weights import Weighed
from sqlanon.statistics.parts import How

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef


Alike = Literal["", "classes", "persons"]
"""What witnesses keep of the rows of persons; see `OfPersons`."""


@dataclass(frozen=True, slots=True)
class NeighbourColumn:
    """A counted column of which the classes of a release of rows show less than the value.

    Attributes:
        place: place among the columns of the cells, from 1.
        how: see `sqlanon.statistics.parts.How`.
        known: readers know that each end, or each member, is the value of a row of the class.
        alias: name of the values in the staged table.
        leaves: with a list of leaves the table of (leaf, rank, p0, p1, ..), the leaf's nodes from the leaves up.
        nodes: the same numbers: of each level the node of each leaf, by its rank from 1.
    """

    place: int
    how: How
    known: bool
    alias: str = ""
    leaves: TableRef | None = None
    nodes: tuple[tuple[int, ...], ...] = ()

    @property
    def levels(self) -> int:
        """Number of levels of nodes, the leaves and the top included."""
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class OfPersons:
    """Promises of a release of rows about the persons of its classes, where a person has several rows.

    Attributes:
        least: persons of a class, at least.
        share: the part of a class's rows that one person may have, at most, as a fraction; (1, 1): all.
        alike: where it promises more: witnesses keep how many persons have which kinds of rows (see
            `sqlanon.statistics.part_patterns`) in each of the ``classes``, or how many ``persons`` have which in all.
        weighed: where all that it promises besides is what values that it shows weigh in a class, these columns; see
            `sqlanon.statistics.part_weights`.
    """

    least: int = 1
    share: tuple[int, int] = (1, 1)
    alike: Alike = ""
    weighed: tuple[Weighed, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A version of a release of rows.

    Attributes:
        release, version: which.
        shown: places of the counted columns that it shows as they are.
        columns: those of which it shows less. Counted columns that are in neither are not published by it.
        linked: the private table with the class of each row.
        link: inputs of the hash by which rows are found there; see `sqlanon.table.reading.Roles.link`.
        persons: its promises about persons.
    """

    release: str
    version: int
    shown: tuple[int, ...]
    columns: tuple[NeighbourColumn, ...]
    linked: TableRef | None = None
    link: tuple[tuple[str, bool], ...] = ()
    persons: OfPersons = OfPersons()

    def context(self) -> dict[str, Any]:
        """Parameters that templates take of it."""
        return {"neighbour": list(self.columns), "shown": list(self.shown)}


def read_stored_neighbour(
    release: str,
    version: int,
    shown: Sequence[int],
    columns: Sequence[tuple[int, str, bool]],
    persons: OfPersons | None = None,
) -> Neighbour:
    """A version of which the catalog of the counts has a record."""
    neighbour_columns = tuple(NeighbourColumn(place, cast("How", how), is_known) for place, how, is_known in columns)
    return Neighbour(release, version, tuple(shown), neighbour_columns, persons=persons or OfPersons())


def make_changed_error(release: str, version: int) -> GuardError:
    """The source is not as the release of rows saw it."""
    return GuardError(
        f"together: the source's rows are not those of {release}@{version}, so that they are not one system: run "
        f"{release} first, and publish its new version"
    )
