"""Protection by hidden cells, with witnesses that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.declared.words import join_words
from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.statistics.amounts import Amounts, find_sensitive
from sqlanon.statistics.certificate import verify_published, verify_source
from sqlanon.statistics.choose import UnservedError
from sqlanon.statistics.cube import find_coarser, find_servable, list_margins, read_system, with_empty
from sqlanon.statistics.hide import HiddenCells, hide_cells
from sqlanon.statistics.must_show import find_hidden, fix_margins
from sqlanon.statistics.private_tables import KeptTables, Tables, kept_of
from sqlanon.statistics.protections.base import ProtectedCells, Run
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import read_amounts
from sqlanon.statistics.system import System, with_least_total
from sqlanon.statistics_spec import Method, StatisticsSpec
from sqlanon.table.scratch import Scratch

FEW_SMALL = 0.15
"""Share of small cells of a margin that is proposed, at most."""


def facts_of(statistics: StatisticsSpec) -> dict[str, str]:
    """Metadata of hidden cells."""
    return {"interval": "full", "insiders": statistics.insiders, "bounds": statistics.bounds}


def explain_show(run: Run, margin: Sequence[int]) -> InfeasibleError:
    """The error of a margin that must be shown, and has a cell that must be hidden."""
    advice = "take coarser levels, or leave the margin out of show"
    if run.shape.follows:
        advice = "the new rows wait, until enough persons are new in each of its cells"
    return InfeasibleError(
        f"{run.release}: a cell of {run.shape.margin_name(margin)} must be hidden, so that not all are shown (protect: "
        f"show); nothing was published: {advice}"
    )


def name_coarser(run: Run, levels: Sequence[int], able: int | None) -> str | None:
    """The margin with coarser levels of one that is not protected, with few small cells; None: there is none.

    Args:
        run: the run.
        levels: of the margin that is not protected.
        able: how many small cells may be left in all margins; None: it is not known.
    """
    margins = list_margins(run.scratch, run.shape, run.cube)
    finer = next((margin for margin in margins if list(margin.levels) == list(levels)), None)
    if finer is None:
        return None
    coarser = find_coarser(margins, finer, FEW_SMALL) if able is None else find_servable(margins, finer, able)
    return None if coarser is None else coarser.name


def explain_unserved(
    release: str, shape: Shape, levels: Sequence[int], error: UnservedError, coarser: str | None = None
) -> InfeasibleError:
    """The error of a small cell that cannot be protected.

    Args:
        release: its name.
        shape: the counted columns.
        levels: of the cell's margin.
        error: why it cannot.
        coarser: a margin of coarser levels with few small cells; None: none is known.
    """
    margin = shape.margin_name(levels)
    why = (
        f"the search for cells to hide reached its limit of work, and a small cell of {margin} is not protected yet"
        if error.exhausted
        else f"a small cell of {margin} cannot be hidden from readers whatever else is hidden"
    )
    if shape.patterns and not error.exhausted:
        why = f"the patterns of rows that are searched do not hide a small cell of {margin}, whatever else is hidden"
    if error.foreseen:
        several = " where persons have several rows" if shape.patterns else ""
        why = (
            f"to protect all small cells, and contributions to sums,{several} would take longer than it may; of all "
            f"margins {margin} has most small cells, or cells with a contribution that dominates"
        )
    if shape.neighbour is not None:
        having = "where readers have" if error.exhausted else "as they have"
        why += f", {having} {shape.neighbour.release}@{shape.neighbour.version} as well"
    if shape.show:
        names = join_words([shape.margin_name(margin) for margin in shape.show])
        why += f", where all cells of {names} are shown (protect: show)"
    advice = "Publish coarser levels or fewer columns"
    if coarser is not None:
        advice += f": few cells of {coarser} are small; give the columns such values in a view"
    if shape.follows:
        advice = "The new rows wait, and a run with more of them may publish them"
    return InfeasibleError(f"{release}: {why}; nothing was published. {advice}")


@dataclass(frozen=True, slots=True)
class SuppressedProtection:
    """See `Protection`."""

    asked: StatisticsSpec
    method: Method = "suppress"
    owned: bool = False
    several: bool = True
    burden: str = "most of such a margin is hidden, and much of others with it"

    def describe(self, release: str, threshold: int) -> str:
        """See `Protection.describe`."""
        return f"{release}: hide cells of fewer than {threshold} persons, and others that give them away"

    def note(self, run: Run) -> tuple[str, ...]:
        """See `Protection.note`."""
        return ()

    def protect(self, run: Run) -> ProtectedCells:
        """See `Protection.protect`.

        Raises:
            InfeasibleError: a small cell of a margin cannot be protected.
        """
        scratch, shape, cube = run.scratch, run.shape, run.cube
        system = with_least_total(read_system(scratch, shape, cube, run.secret), shape.least_rows)
        try:
            hidden = self._hide(run, system)
        except UnservedError as error:
            cube = cube if error.exhausted else with_empty(scratch, shape, cube, system, run.secret)
            if cube is run.cube:
                levels = system.levels_of(error.margin)
                raise explain_unserved(
                    run.release, shape, levels, error, name_coarser(run, levels, error.able)
                ) from None
            hidden = self._hide_again(replace(run, cube=cube))

        def view(place: TableRef) -> Statement:
            context = shape.context()
            return scratch.sql("statistics/view", physical=place, cells=cube.cells, hidden=hidden.table, **context)

        bounds = hidden.table if shape.bounds and not shape.followed else None
        tables = KeptTables(
            cube.cells,
            cube.atoms,
            hidden.witness,
            cube.sums,
            cube.amounts,
            bounds,
            hidden.patterns,
            hidden.paid,
            hidden.able,
        ).parts()
        return ProtectedCells(view, tables, hidden.witnesses, facts_of(self.asked), hidden=hidden.table)

    def _hide(self, run: Run, system: System) -> HiddenCells:
        cube = run.cube
        amounts = read_amounts(run.scratch, run.shape, cube.finest, cube.sums, system)
        system = self._fix(run, system, [amount for amount, _ in amounts])
        return hide_cells(run.scratch, run.shape, system, run.secret, run.progress, amounts, cube.parts)

    def _hide_again(self, run: Run) -> HiddenCells:
        """Hide cells next to combinations without rows.

        Raises:
            InfeasibleError: a small cell of a margin cannot be protected.
        """
        shape = run.shape
        system = with_least_total(read_system(run.scratch, shape, run.cube, run.secret), shape.least_rows)
        try:
            return self._hide(run, system)
        except UnservedError as error:
            raise explain_unserved(run.release, shape, system.levels_of(error.margin), error) from None

    @staticmethod
    def _fix(run: Run, system: System, amounts: Sequence[Amounts]) -> System:
        """The system in which all cells of some margins are shown.

        Raises:
            InfeasibleError: one of them must be hidden.
        """
        shape = run.shape
        margin = find_hidden(system, shape.show, system.small | find_sensitive(amounts, len(system)))
        if margin is not None:
            raise explain_show(run, margin)
        return fix_margins(system, shape.show)

    def verify_source(self, run: Run, private_tables: Tables) -> None:
        """See `Protection.verify_source`."""
        verify_source(run.scratch, run.shape, run.stage, kept_of(private_tables), run.release)

    def verify(
        self, scratch: Scratch, shape: Shape, physical: TableRef, private_tables: Tables, release: str
    ) -> tuple[int, int]:
        """See `Protection.verify`."""
        return verify_published(scratch, shape, physical, kept_of(private_tables), release)
