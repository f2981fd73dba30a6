"""Encoding of domains.

SQL turns every QI and SA value into a dense integer, on the staged snapshot.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import number
from sqlanon.table.domain import Domain, Domains
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.work import Work

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Ints
    from sqlanon.table.population import Population


MANY = 32
"""Most tables that a statement counts."""


@dataclass(frozen=True, slots=True)
class EncodedTable:
    """The encoded work table of a run: ``work`` holds rid and a code per column, ``stage`` the originals.

    Attributes:
        roles: the source's columns.
        stage: the table of the originals.
        coded: the statement that makes the work table, or the table itself.
        rows: number of rows.
        quasi, sensitive: the columns of these roles.
        persons: the counted identifiers, where a requirement counts persons.
        population: a population that holds the rows, where a requirement compares classes with it.
        numbers: row ids are below it, where they are some of a larger table's; 0: they are 0 to ``rows`` - 1.
    """

    roles: Roles
    stage: TableRef
    coded: Work | TableRef
    rows: int
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    persons: tuple[Domain, ...] = ()
    numbers: int = 0
    population: Population | None = None

    @property
    def past(self) -> int:
        """Row ids are below it."""
        return self.numbers or self.rows

    @property
    def work(self) -> TableRef:
        """The work table, which is made where there is none yet: see `Work.table`."""
        return self.coded.table() if isinstance(self.coded, Work) else self.coded

    def read(self, domains: Sequence[Domain], span: tuple[int, int] | None) -> Sequence[npt.NDArray[np.generic]] | None:
        """Row ids and codes without the work table; None if it exists, or no other way is needed. See `Work.read`."""
        return self.coded.read(domains, span) if isinstance(self.coded, Work) else None

    @property
    def staged(self) -> Work:
        """Statement that makes the codes of all staged rows."""
        assert isinstance(self.coded, Work), "codes of a part of the rows are a table"
        return self.coded

    def drop_work(self) -> None:
        """Drop the work table, if there is one; see `Work.drop`."""
        if isinstance(self.coded, Work):
            self.coded.drop()

    @property
    def counted(self) -> tuple[Domain, ...]:
        """The columns with codes that requirements count, in the order in which methods read them."""
        return self.sensitive + self.persons


def by_code(
    scratch: Scratch, name: str, domains: Sequence[Domain], dtype: str
) -> Iterator[tuple[Ints, npt.NDArray[np.generic]]]:
    """A number of every code, of each domain: the codes, ascending, and the numbers.

    Args:
        scratch: the run.
        name: the template (``domains``: tables) that gives the place of the domain, a code and its number, in any
            order.
        domains: the columns.
        dtype: of the numbers, as `Engine.fetch_arrays` names it.
    """
    import numpy as np

    for start in range(0, len(domains), MANY):
        some = domains[start : start + MANY]
        statement = scratch.sql(name, domains=[domain.table for domain in some])
        place, code, number = scratch.fetch_arrays(statement, ["int32", "int32", dtype])
        # An engine of many tasks takes longer to order a few numbers; runs that are in order already take this no time.
        order = np.argsort((place.astype(np.int64) << 32) + code.astype(np.int64), kind="stable")
        place, code, number = place[order], code[order], number[order]
        ends = np.searchsorted(place, np.arange(1, len(some) + 2))
        for first, past in itertools.pairwise(ends):
            yield code[first:past].astype(np.int32, copy=False), number[first:past]


def spread_of(scratch: Scratch, domain: Domain) -> float:
    """The range of an ordered domain."""
    if domain.spread is not None:
        return domain.spread
    return number(scratch.fetch("recode/range", domain=domain.table)[0][0])


def encode(
    scratch: Scratch,
    roles: Roles,
    stage: TableRef,
    domains: Domains,
    rows: int,
    population: Population | None = None,
    *,
    once: bool = False,
) -> EncodedTable:
    """The staged rows with their domains; the work table is made now, or when somebody asks for it.

    ``once``: the codes are likely to be read once, by a kernel.
    """
    quasi, sensitive, persons = domains.quasi, domains.sensitive, domains.persons
    workers, columns = scratch.engine.workers, (*quasi, *sensitive, *persons)
    work = Work(scratch, stage, columns, rows, once=once and workers is None)
    at_once = scratch.engine.fetch_words is None and not scratch.few and not work.once
    if at_once and (workers is None or rows <= workers.above):
        work.table()
    return EncodedTable(roles, stage, work, rows, quasi, sensitive, persons, population=population)
