"""Protection by cell keys: noise that depends on the persons in a cell, equal in every table.

Thompson, Broadfoot and Elazar (2013), "Methodology for the Automatic Confidentialisation of Statistical Outputs from
Remote Servers at the Australian Bureau of Statistics", section 3: each person has a key, the key of a cell is the sum
of the keys of its persons, and a table gives the noise of each number and key. Equal sets of persons have equal noise.
Reading all cells together removes a part of the noise; the error that remains is published as well.
"""

from __future__ import annotations

import hmac
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlanon.engines.base import Bind, Statement, TableRef
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.statistics.certificate import verify_source
from sqlanon.statistics.chances import Chances, make_chances
from sqlanon.statistics.cube import read_system
from sqlanon.statistics.nearest import MOST_SUM, fit_atoms
from sqlanon.statistics.private_tables import KeptTables, Tables
from sqlanon.statistics.protections.base import ProtectedCells, Run, refuse
from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.shape import Shape
from sqlanon.statistics_spec import CellKeySpec, Method, StatisticsSpec
from sqlanon.table.pseudonyms import pad_key
from sqlanon.table.scratch import Scratch

NEAR = 0.01
"""Sums of differences over the cells of an atom are about 0 if they are below this for each margin."""


@dataclass(frozen=True, slots=True)
class CellKey:
    """See `Protection`."""

    asked: StatisticsSpec
    method: Method = "cell_key"
    owned: bool = True
    several: bool = False
    burden: str = "the noise is large next to most numbers of such a margin"

    @property
    def _noise(self) -> CellKeySpec:
        assert isinstance(self.asked.other, CellKeySpec)
        return self.asked.other

    def describe(self, release: str, threshold: int) -> str:
        """See `Protection.describe`."""
        more = ", and fit numbers that add up" if self._noise.additive else ""
        return f"{release}: give each number the noise of the persons in it{more}"

    def note(self, run: Run) -> tuple[str, ...]:
        """See `Protection.note`."""
        errors = self._errors(run)
        if errors is None:
            return ("the rule rounds numbers: what readers find of them is seen by audit --statistics, after the run",)
        before, after = errors
        text = f"each number is off by {before:.2f} (root of the mean squared error), and by {after:.2f} for who reads"
        return (f"{text} all cells together",)

    def protect(self, run: Run) -> ProtectedCells:
        """See `Protection.protect`.

        Raises:
            PolicyError: a person has several rows, which the noise does not cover.
        """
        scratch, shape, cube = run.scratch, run.shape, run.cube
        if shape.counted == "n" and not cube.single:
            raise PolicyError(
                f"{run.release}: a person has several rows, and the noise of a cell hides one; publish persons: persons"
            )
        chances, context = make_chances(self._noise), shape.context()
        rows, noise = scratch.table("noise_rows"), scratch.table("noise")
        keys, table = _record_keys(run, "record_keys"), scratch.table("chances")
        scratch.engine.load_arrays(table, chances.columns())
        scratch.execute("statistics/rows", rows=rows, stage=run.stage, **context)
        scratch.execute(
            "statistics/cell_noise",
            noise=noise,
            rows=rows,
            keys=keys,
            cells=cube.cells,
            chances=table,
            **turning_of(chances),
            **context,
        )
        scratch.drop(rows)
        scratch.drop(keys)
        results = _results(scratch, noise)
        different, ends = np.unique(results), scratch.table("ends")
        low, high = chances.ends(different)
        scratch.engine.load_arrays(ends, {"result": different, "low": low, "high": high})
        fitted = self._fit(run, results) if self._noise.additive else None
        changed = scratch.table("changed")
        scratch.execute("statistics/changed_noise", changed=changed, noise=noise, ends=ends, fitted=fitted)
        kind = "DOUBLE" if fitted is not None else "BIGINT"

        def view(place: TableRef) -> Statement:
            cell_tables: dict[str, Any] = {"cells": cube.cells, "changed": changed, "kind": kind, "status": "perturbed"}
            return scratch.sql("statistics/changed_view", physical=place, **cell_tables, **context)

        tables = {"cells": cube.cells, "atoms": cube.atoms, "noise": noise, "chances": table}
        errors = self._errors(run)
        return ProtectedCells(view, tables, 0, self._facts(errors), errors)

    def _errors(self, run: Run) -> tuple[float, float] | None:
        """The expected errors of a number as published, and after least squares over all cells.

        Cells of different persons have independent keys, so that noise of equal variances is projected onto as many
        dimensions as there are atoms.
        """
        if self._noise.variance is None:
            return None
        different = run.scratch.count("statistics/different_cells", atoms=run.cube.atoms, **run.shape.context())
        variance = float(self._noise.variance)
        return math.sqrt(variance), math.sqrt(variance * min(1.0, run.cube.counts[0] / max(different, 1)))

    def _facts(self, errors: tuple[float, float] | None) -> dict[str, Any]:
        noise = self._noise
        if errors is None:
            return {"rule": noise.rule, "deviation": noise.deviation, "additive": False}
        before, after = errors
        return {
            "deviation": noise.deviation,
            "variance": str(noise.variance),
            "no_result": noise.no_result,
            "additive": noise.additive,
            "error": round(before, 4),
            "error_of_all_cells": round(after, 4),
        }

    def _fit(self, run: Run, results: np.ndarray[Any, np.dtype[np.int64]]) -> TableRef:
        """The scratch table (cell, value) of numbers that add up."""
        scratch, shape, cube = run.scratch, run.shape, run.cube
        system = read_system(scratch, shape, cube, run.secret)
        if int(system.value.max(initial=0)) >= MOST_SUM:
            raise InfeasibleError(f"{run.release}: numbers of {MOST_SUM} and more are not fitted; leave out additive")
        of, of_class = find_margins(system), np.zeros(len(system), np.int64)
        of_class[system.listed] = results
        margins = sum(np.bincount(np.unique(row[row >= 0]), minlength=len(system)) for row in of)
        weight = 1.0 / np.maximum(margins, 1)
        atoms = fit_atoms(of, of_class.astype(np.float64), weight, system.atoms.count.astype(np.float64))
        nearest, fitted = scratch.table("nearest"), scratch.table("fitted")
        numbers = np.arange(1, len(atoms) + 1, dtype=np.int64)
        scratch.engine.load_arrays(nearest, {"atom": numbers, "value": atoms})
        scratch.execute(
            "statistics/fitted_cells",
            fitted=fitted,
            atoms=cube.atoms,
            cells=cube.cells,
            nearest=nearest,
            **shape.context(),
        )
        return fitted

    def verify_source(self, run: Run, private_tables: Tables) -> None:
        """See `Protection.verify_source`: cells, atoms and keys are counted once more, by other statements."""
        scratch, context = run.scratch, run.shape.context()
        verify_source(
            scratch,
            run.shape,
            run.stage,
            KeptTables(private_tables["cells"], private_tables["atoms"], private_tables["cells"]),
            run.release,
        )
        keys, keyed = _record_keys(run, "verified_keys"), scratch.table("verified_persons")
        scratch.execute("statistics/verify_rows", keyed=keyed, stage=run.stage, **context)
        wrong_keys = scratch.count(
            "statistics/verify_noise",
            keyed=keyed,
            keys=keys,
            cells=private_tables["cells"],
            noise=private_tables["noise"],
            **context,
        )
        scratch.drop(keyed)
        scratch.drop(keys)
        refuse(run.release, ("keys of cells",), (wrong_keys,))

    def verify(
        self, scratch: Scratch, shape: Shape, physical: TableRef, private_tables: Tables, release: str
    ) -> tuple[int, int]:
        """See `Protection.verify`."""
        context, declared = shape.context(), self._noise
        kept_tables: dict[str, Any] = {part: private_tables[part] for part in ("atoms", "cells", "noise")}
        failing = scratch.numbers(
            "statistics/verify_chances",
            chances=private_tables["chances"],
            noise=private_tables["noise"],
            **turning_of(make_chances(declared)),
            deviation=declared.deviation,
            variance=None if declared.variance is None else float(declared.variance),
            no_result=declared.no_result,
        )
        refuse(release, ("ranges of keys", "changes of cells", "changes beyond the deviation", "chances"), failing)
        published, compared = scratch.table("published"), scratch.table("compared")
        scratch.execute("statistics/published", published=published, physical=physical, **{**context, "tight": False})
        scratch.execute(
            "statistics/compared_noise",
            compared=compared,
            published=published,
            cells=private_tables["cells"],
            noise=private_tables["noise"],
            additive=declared.additive,
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
        if declared.additive:
            added = scratch.count(
                "statistics/verify_added", published=published, atoms=private_tables["atoms"], **context
            )
            refuse(release, ("sums of the finest cells",), (added,))
            near = NEAR * len(shape.margins)
            far = scratch.count("statistics/verify_nearest", published=published, near=near, **kept_tables, **context)
            refuse(release, ("finest cells that are not the nearest",), (far,))
        shown, changed = scratch.numbers("statistics/counts", compared=compared)
        return shown, changed


def _record_keys(run: Run, name: str) -> TableRef:
    """The scratch table (person, key) of the persons' keys."""
    keys = run.scratch.table(name)
    inner, outer = pad_key(hmac.digest(run.secret, b"cell keys", "sha256"))
    binds: dict[str, Bind] = {"inner": inner, "outer": outer}
    run.scratch.execute("statistics/record_keys", binds, made=keys, stage=run.stage, person=run.shape.person)
    return keys


def turning_of(chances: Chances) -> dict[str, Any]:
    """Parameters of templates that look up chances."""
    last = len(chances.rows)
    return {"last": last, "turning": last - chances.period + 1}


def _results(scratch: Scratch, noise: TableRef) -> np.ndarray[Any, np.dtype[np.int64]]:
    (results,) = scratch.fetch_arrays(scratch.sql("statistics/noisy_values", noise=noise), ["int64"])
    return results.astype(np.int64)
