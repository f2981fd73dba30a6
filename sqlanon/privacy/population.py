"""Requirements that compare the rows of a class with the rows of a population that lie in its published cell.

Both are linear in these two numbers. The rows of the source are among those of the population. Rows of the population
that lie in no published cell are one cell, of the rows of the source that are left out: a reader knows how many these
are, and that they are among them. Where classes are the nodes of one level
a column, a coarser node has whole cells of the finer one, population included: a requirement that holds in all cells
holds in their unions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.kernels.tally import Tally


@dataclass(frozen=True, slots=True)
class Line:
    """A class fails if x rows + y population < z.

    With ``everywhere`` every class fails if a row of the population is in no class.
    """

    x: int
    y: int
    z: int
    everywhere: bool = False


class OfPopulation(Requirement):
    """A requirement over the rows of classes and the rows of a population in their cells."""

    __slots__ = ()

    of_population: ClassVar[bool] = True

    @property
    @abstractmethod
    def line(self) -> Line:
        """When a class fails, for methods."""

    @abstractmethod
    def judge(self, rows: Longs, population: Longs) -> Measured:
        """Result for the cells of a release.

        It has their rows, and those of the population; rows in no cell are one with the number of left-out rows.

        Written apart from `line`.
        """

    def holds(self, rows: Longs, population: Longs, whole: int) -> Flags:
        """Which classes meet it; ``whole``: rows of the population in all."""
        line = self.line
        holds: Flags = line.x * rows + line.y * population >= line.z
        if line.everywhere and int(population.sum()) < whole:
            holds[:] = False
        return holds

    def allows_outside(self, rows: int, outside: int) -> bool:
        """Whether ``rows`` may be left out, where ``outside`` rows of the population lie in no published cell."""
        line = self.line
        return line.x * rows + line.y * outside >= line.z

    def tally(self, coded: Coded) -> Tally:
        """Kernels do not see the population."""
        raise NotImplementedError

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`.

        The table has one row a group, with the columns population and outside: the population's rows in it, and in
        none.
        """
        line = self.line
        scratch.execute(
            "privacy/below_population",
            **rows.parameters(failing),
            x=line.x,
            y=line.y,
            z=line.z,
            everywhere=line.everywhere,
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """Measure a table of one row a cell.

        `Grouped.count` is the column of its rows, `Grouped.names` the column of its rows of the population.
        """
        import numpy as np

        query = statement(
            "verify/population_sizes", engine.dialect, target=rows.table, rows=rows.count, population=rows.names[0]
        )
        here, population = (
            array.astype(np.int64, copy=False) for array in engine.fetch_arrays(query, ["int64", "int64"])
        )
        return self.judge(here, population)


Each = TypeVar("Each", bound=Requirement)


def of_population(requirements: Sequence[Requirement]) -> list[OfPopulation]:
    """Those that compare classes with a population."""
    return [requirement for requirement in requirements if isinstance(requirement, OfPopulation)]


def of_rows(requirements: Sequence[Each]) -> list[Each]:
    """The others: the rows of the table say whether they hold."""
    return [requirement for requirement in requirements if not requirement.of_population]


def share(rows: int, population: int) -> Fraction:
    """Rows of the source among those of the population in a cell; 1 where they are more, or none are there."""
    return min(Fraction(rows, population), Fraction(1)) if population else Fraction(1)
