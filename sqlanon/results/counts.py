"""Results of attacks on a release of counts: what its readers find of the small cells."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class CountsReader:
    """One kind of reader.

    Attributes:
        name: ``outsider``: the view alone; ``insider``: also the numbers of the cells in which he is alone; ``naive``:
            the view as it would be if small cells alone were hidden.
        readers: how many such readers were tried, of ``possible``.
        possible: see there.
        cells: small cells that they looked for, each once a reader; of insiders those next to what they know.
        exact: those whose number they find.
        below: those that they find to be small.
        undecided: those whose ends no table was found to reach in time.
        guess: the expected share of right guesses, where each number of an interval is as likely.
        promised: the release promises that nothing is found.
    """

    name: str
    readers: int
    possible: int
    cells: int
    exact: int
    below: int
    undecided: int
    guess: float
    promised: bool

    @property
    def held(self) -> bool:
        """Whether nothing was found that the release promises is not."""
        return not self.promised or not (self.exact or self.below)


@dataclass(frozen=True, slots=True)
class CountsAttackReport(Report):
    """Readers of a release of counts against its small cells.

    Attributes:
        release: ``NAME@VERSION``.
        table: the view.
        source: what it was made of.
        persons: cells of fewer are small.
        cells: published cells, ``hidden`` of them without a number, ``small`` of those small.
        hidden: see there.
        small: see there.
        attacks: what each kind of reader finds.
    """

    release: str
    table: str
    source: str
    persons: int
    cells: int
    hidden: int
    small: int
    attacks: tuple[CountsReader, ...]

    @property
    def held(self) -> bool:
        """Whether the release keeps what it promises."""
        return all(one.held for one in self.attacks)
