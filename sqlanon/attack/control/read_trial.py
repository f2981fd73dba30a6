"""The rows of a trial release as the kernels read them: cells in codes of the whole source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.formats import format_of
from sqlanon.release.audit.covered_codes import TooWideError, find_covered_codes

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.attack.control.hold_out import Split
    from sqlanon.attack.kernels.nearest import Space
    from sqlanon.release.rehearse import RehearsedRelease


def read_space(trial: RehearsedRelease, split: Split) -> Space:
    """The different released rows.

    Raises:
        PolicyError: published sets are too wide.

    Cost: a GROUP BY of the released rows over all columns.
    """
    from sqlanon.attack.kernels.nearest import Space

    scratch, quasi, exact = trial.scratch, split.quasi, split.exact
    names = {domain.code: trial.names[domain.reading.name] for domain in quasi}
    shown = [{"code": domain.code, "names": names[domain.code].list_columns()} for domain in quasi]
    values = [domain.parameters for domain in exact]
    grouped, numbered = scratch.table("control_grouped"), scratch.table("control_cells")
    scratch.execute(
        "attack/grouped",
        grouped=grouped,
        target=trial.table,
        names=[name for spelling in names.values() for name in spelling.list_columns()],
        values=[str(value["name"]) for value in values],
    )
    scratch.execute("attack/cells", cells=numbered, grouped=grouped, columns=shown, values=values, groups=[])
    scratch.drop(grouped)
    columns = [domain.code for domain in (*quasi, *exact)]
    *codes, times = scratch.fetch_arrays(
        scratch.sql("attack/boxes", cells=numbered, columns=columns), [*["int32"] * len(columns), "int64"]
    )
    number = np.array(codes, np.int32).reshape(len(columns), len(times))
    try:
        covered = find_covered_codes(scratch, format_of(trial.spec.format.kind), quasi, names, numbered)
    except TooWideError:
        raise PolicyError(
            f"{trial.spec.name}: the sets that it publishes have too many values; give columns of many values a "
            "hierarchy or an order"
        ) from None
    scratch.drop(numbered)
    low, high, null = number.copy(), number.copy(), np.zeros(number.shape, np.bool_)
    sets: list[Flags] = []
    for a in range(len(quasi)):
        size, first = int(covered.size[a]), int(covered.start[a])
        if size:
            kinds = int(number[a].max(initial=-1)) + 1
            has = covered.bits[first : first + kinds * size].reshape(kinds, size)
            # Numbers of cells are in the engine's order of texts; these are in the order of the covered values.
            has, same = np.unique(has, axis=0, return_inverse=True)
            number[a] = same.ravel()[number[a]]
            sets.append(has)
            low[a] = has.argmax(axis=1)[number[a]]
            high[a] = (size - 1 - has[:, ::-1].argmax(axis=1))[number[a]]
        else:
            sets.append(np.zeros((0, 0), np.bool_))
            cell = first + number[a]
            low[a], high[a], null[a] = covered.low[cell], covered.high[cell], covered.null[cell]
    sets += [np.zeros((0, 0), np.bool_)] * len(exact)
    domains = (*quasi, *exact)
    cells = np.where(_kinds(sets)[:, None] > 0, number, 0).astype(np.int32)
    order = np.lexsort([part[a] for a in range(len(columns)) for part in (low, high, null, cells)][::-1])
    return Space(
        np.ascontiguousarray(low[:, order]),
        np.ascontiguousarray(high[:, order]),
        np.ascontiguousarray(null[:, order]),
        np.ascontiguousarray(cells[:, order]),
        np.cumsum([0, *(flags.size for flags in sets)])[:-1].astype(np.int64),
        _kinds(sets),
        np.concatenate([np.zeros(0, np.bool_), *(flags.T.ravel() for flags in sets)]),
        np.array([domain.reading.treatment == "ordered" for domain in domains], np.bool_),
        np.array([domain.codes for domain in domains], np.int64),
        np.array([domain.has_null for domain in domains], np.bool_),
        times[order].astype(np.int64),
    )


def _kinds(sets: list[Flags]) -> Longs:
    """How many different cells each column of sets has."""
    return np.array([len(flags) for flags in sets], np.int64)
