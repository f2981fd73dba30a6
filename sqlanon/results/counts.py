"""Results of attacks on a release of counts: the small cells that readers can infer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class CountsReader:
    """A kind of reader.

    Attributes:
        name: ``outsider``: the view alone; ``insider``: also the numbers of the cells in which he is alone; ``naive``:
            the view as it would be if small cells alone were hidden; ``averaging``: he fits all
            numbers; ``versions``: all versions that follow one another, who looks for few newcomers;
            ``rows``: also the release of rows that is protected together with the counts.
        readers: how many such readers were tried, of ``possible``.
        possible: see there.
        cells: small cells that they looked for, each once a reader; of insiders those next to the cells they know.
        exact: those with a number that they find.
        below: those that they find to be small.
        undecided: those with ends that no table was found to reach in time.
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
class SumsReader:
    """A kind of reader of the sums of a column.

    Attributes:
        measure: its name.
        name: ``outsider``: the view alone, who bounds the sums of cells; ``rows``: also the rows of a release that is
            protected together with the counts; ``contributor``: all of this, and the largest other
            contribution to every finest cell, who bounds contributions of dominating persons; ``naive``: the view as it
            would be if the cells alone were hidden that may not be shown.
        readers: how many such readers were tried.
        sought: cells, or persons, that they looked for.
        exact: those with a number that they find; of persons the contribution, which the sum of their cells does not
            say where others contribute to these as well.
        near: those that they bound more closely than the release promises.
        promised: the release promises that nothing is found.
    """

    measure: str
    name: str
    readers: int
    sought: int
    exact: int
    near: int
    promised: bool

    @property
    def held(self) -> bool:
        """Whether nothing was found that the release promises is not."""
        return not self.promised or not self.near


@dataclass(frozen=True, slots=True)
class CountsAttackReport(Report):
    """Readers of a release of counts against the small cells.

    Attributes:
        release: ``NAME@VERSION``.
        table: the view.
        source: table that the version was made of.
        persons: cells of fewer are small.
        cells: published cells, ``hidden`` of them without their true number, ``small`` of those small.
        hidden: see there.
        small: see there.
        attacks: the result of each kind of reader.
        sums: the same of each column whose sums are published.
        versions: so many versions follow one another, and ``small`` is how many cells few persons came to, each version
            counted, and of the versions until a lineage began also some in a row; 0: there is one version.
        status: of cells without their true number: hidden, rounded or perturbed.
    """

    release: str
    table: str
    source: str
    persons: int
    cells: int
    hidden: int
    small: int
    attacks: tuple[CountsReader, ...]
    sums: tuple[SumsReader, ...] = ()
    versions: int = 0
    status: str = "hidden"

    @property
    def held(self) -> bool:
        """Whether the release keeps the promises."""
        return all(attack.held for attack in self.attacks) and all(attack.held for attack in self.sums)
