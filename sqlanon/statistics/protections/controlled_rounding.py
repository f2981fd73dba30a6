"""Protection by controlled rounding, with witnesses that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.statistics.certificate import verify_ends, verify_source
from sqlanon.statistics.cube import read_system
from sqlanon.statistics.private_tables import Tables, kept_of
from sqlanon.statistics.protections.base import ProtectedCells, Run, refuse
from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.rounded_tables import RoundedTables, see_rounded
from sqlanon.statistics.rounding import NoRoundingError, round_atoms
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.work import Work
from sqlanon.statistics_spec import Method, RoundSpec, StatisticsSpec
from sqlanon.table.scratch import Scratch

DRAWS = 5
"""So many roundings are tried until the small cells of one are protected."""


@dataclass(frozen=True, slots=True)
class RoundedProtection:
    """See `Protection`."""

    asked: StatisticsSpec
    method: Method = "round"
    owned: bool = False
    several: bool = False
    burden: str = "most numbers of such a margin say no more than that they are small"

    @property
    def _base(self) -> int:
        assert isinstance(self.asked.other, RoundSpec)
        return self.asked.other.base

    def describe(self, release: str, threshold: int) -> str:
        """See `Protection.describe`."""
        return f"{release}: round numbers to multiples of {self._base}, so that all sums hold"

    def note(self, run: Run) -> tuple[str, ...]:
        """See `Protection.note`."""
        return (f"each number is off by {self._base - 1} at most; a cell of fewer may be published as 0",)

    def protect(self, run: Run) -> ProtectedCells:
        """See `Protection.protect`.

        Raises:
            InfeasibleError: there is no such rounding, or none that protects a small cell of some margin.
        """
        scratch, shape, cube, base = run.scratch, run.shape, run.cube, self._base
        system, work = read_system(scratch, shape, cube, run.secret), Work()
        of, unserved = find_margins(system), np.zeros(0, np.int64)
        for draw in range(DRAWS):
            run.progress.update(draw, DRAWS, "roundings")
            try:
                atoms = round_atoms(system, base, run.secret + bytes([draw]))
            except NoRoundingError as none:
                why = "the search for a rounding took as long as it may" if none.exhausted else "there is no rounding"
                raise InfeasibleError(
                    f"{run.release}: {why} to multiples of {base} of which all sums hold, each less than {base} from "
                    "its number; nothing was published. Use a greater base, coarser levels or fewer columns"
                ) from None
            numbers = system.sums(atoms)
            served = RoundedTables(system, see_rounded(system, of, numbers, base), self._most, work)
            unserved = served.serve()
            if not len(unserved):
                break
        else:
            margin = shape.margin_name(system.levels_of(int(system.margin[unserved[0]])))
            raise InfeasibleError(
                f"{run.release}: of {DRAWS} roundings each lets readers bound a small cell, the last one of {margin}; "
                "nothing was published. Ask for fewer persons, or publish coarser levels or fewer columns"
            )
        changed, witness = scratch.table("changed"), scratch.table("witness")
        listed_numbers = numbers[system.listed]
        places = np.arange(1, len(listed_numbers) + 1, dtype=np.int64)
        ends = {"low": np.maximum(listed_numbers - base + 1, 1), "high": listed_numbers + base - 1}
        scratch.engine.load_arrays(changed, {"cell": places, "value": listed_numbers, **ends})
        changes = np.stack(served.tables) - system.atoms.count
        number, atom = np.nonzero(changes)
        numbered = {"witness": number.astype(np.int64), "atom": (atom + 1).astype(np.int64)}
        scratch.engine.load_arrays(witness, {**numbered, "change": changes[number, atom]})

        def view(place: TableRef) -> Statement:
            cell_tables: dict[str, Any] = {
                "cells": cube.cells,
                "changed": changed,
                "kind": "BIGINT",
                "status": "rounded",
            }
            return scratch.sql("statistics/changed_view", physical=place, **cell_tables, **shape.context())

        tables = {"cells": cube.cells, "atoms": cube.atoms, "witness": witness}
        return ProtectedCells(view, tables, len(served.tables) - 1, {"base": base})

    @property
    def _most(self) -> int:
        """Every small cell may have this number."""
        return self.asked.threshold - 1

    def verify_source(self, run: Run, private_tables: Tables) -> None:
        """See `Protection.verify_source`."""
        verify_source(run.scratch, run.shape, run.stage, kept_of(private_tables), run.release)

    def verify(
        self, scratch: Scratch, shape: Shape, physical: TableRef, private_tables: Tables, release: str
    ) -> tuple[int, int]:
        """See `Protection.verify`."""
        context = shape.context()
        published, compared = scratch.table("published"), scratch.table("compared")
        scratch.execute("statistics/published", published=published, physical=physical, **{**context, "tight": False})
        scratch.execute(
            "statistics/compared_rounded",
            compared=compared,
            published=published,
            cells=private_tables["cells"],
            base=self._base,
            **context,
        )
        names = (
            "cells that are not published",
            "rows that are no cell",
            "cells published twice",
            "rows",
            "shown cells",
        )
        refuse(release, names, scratch.numbers("statistics/verify_view", compared=compared))
        added = scratch.count("statistics/verify_added", published=published, atoms=private_tables["atoms"], **context)
        refuse(release, ("sums of the finest cells",), (added,))
        verify_ends(scratch, shape, context, compared, kept_of(private_tables), release, self._most)
        shown, changed = scratch.numbers("statistics/counts", compared=compared)
        return shown, changed
