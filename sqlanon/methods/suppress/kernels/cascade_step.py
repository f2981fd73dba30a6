"""One step of TP or of the cascade: cells in sets, the rows that sets keep, and the cells of these rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.suppress import Rules, counters, gather, is_lawful, one_by_one, run_phase_one, sort_descending
from sqlanon.methods.suppress.kernels.phases import complete_residue

Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def count_keepable(of: Longs, sets: int, value: Longs, count: Longs, values: int, rules: Rules) -> int:
    """The rows that phase one keeps of the sets ``of``, see `keep`."""
    n = len(of)
    turn, order, first = np.arange(n), np.empty(n, np.int64), np.empty(sets + 1, np.int64)
    start, entries_held, rows = np.empty(sets + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    gather(of, sets, value, count, turn, values, order, first, start, entries_held, rows)
    return run_phase_one(start, entries_held, rows, rules, np.empty(start[sets], np.int64))


@njit(nogil=True, cache=True)
def keep(
    of: Longs,
    sets: int,
    value: Longs,
    count: Longs,
    values: int,
    rules: Rules,
    either: bool,
    keepable: Longs,
    result: Longs,
) -> tuple[int, int]:
    """Keep rows of sets of cells, so that the residue is empty or may be a class.

    Args:
        of: int64[n], the set of each cell, from 0 to ``sets`` - 1.
        value, count: int64[n], of each cell; all together may be a class.
        values: values there can be.
        rules: the requirements of a class.
        either: where the residue may be no class after phase one: the better of phases two and three and of keeping
            single sets; otherwise phases two and three.
        keepable: int64[n], the rows of each cell that phase one keeps, where they are known; else empty.
        result: int64[n], written: the rows of each cell that the set keeps, from the largest cells first.

    Returns:
        The last phase, and the fewest rows that are left of any solution of these sets: as many as after phase
        one, and l times the highest count among these (for l of one column and k = 1).

    Cost: O(n) and that of the phases.
    """
    n = len(of)
    turn, order, first = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(sets + 1, np.int64)
    start, entries_held, rows = np.empty(sets + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    sort_descending(count, turn)
    gather(of, sets, value, count, turn, values, order, first, start, entries_held, rows)
    entries = start[sets]
    entries_held, rows = entries_held[:entries], rows[:entries]
    kept_rows = np.empty(entries, np.int64)
    if len(keepable) > 0:
        again = np.empty(entries, np.int64)
        gather(of, sets, value, keepable, turn, values, order, first, start, entries_held, again)
        kept_rows[:] = again
    else:
        run_phase_one(start, entries_held, rows, rules, kept_rows)
    whole, rest = np.zeros(values, np.int64), np.zeros(values, np.int64)
    for i in range(entries):
        whole[entries_held[i]] += rows[i]
        rest[entries_held[i]] += rows[i] - kept_rows[i]
    least = max(rest.sum(), -(-rules.p * rest.max() // rules.q)) if values > 0 else 0
    phase, room = 1, counters(rules)
    if not is_lawful(rest, rules, room):
        alternative = kept_rows.copy()
        if not rules.whole:
            phase = complete_residue(start, entries_held, kept_rows, rest, rules.k, rules.p, rules.q)
        if rules.whole:
            one_by_one(start, entries_held, rules, whole, kept_rows)
        elif either and one_by_one(start, entries_held, rules, whole, alternative) > kept_rows.sum():
            kept_rows = alternative
    room_of = np.zeros(values, np.int64)
    for s in range(sets):
        for i in range(start[s], start[s + 1]):
            room_of[entries_held[i]] = kept_rows[i]
        for index in range(first[s], first[s + 1]):
            i = order[index]
            result[i] = min(count[i], room_of[value[i]])
            room_of[value[i]] -= result[i]
    return phase, least
