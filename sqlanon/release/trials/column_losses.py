"""The loss of the policy's method in each quasi column, for `plan`.

It is measured by the method's classes of the rows, or of a part of a large table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.declared import refining
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.formats import format_of
from sqlanon.methods.base import Context
from sqlanon.progress import Progress
from sqlanon.release.divide import persons_whole
from sqlanon.release.prepare.guards import feasible
from sqlanon.release.prepare.staged import Prepared
from sqlanon.release.trials.sample import encoded_part, most_measured
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True)
class ColumnLosses:
    """NCP of each quasi column, by its name, from 0 (exact) to 1 (all lost), and how many rows were measured."""

    of: dict[str, float]
    rows: int


def column_losses(
    scratch: Scratch, spec: ReleaseSpec, ready: Prepared, progress: Progress, memory: int, threads: int, secret: str
) -> ColumnLosses | None:
    """Try the policy's method and measure each column.

    Trials of ``refine: search`` are left out. It is None where rows have no classes or exact values (``boxes: own``,
    tokens, format anatomy), where a population is counted, where the bound on the loss or the suppression of the policy
    decides, and where the rows that would be measured do not meet what is asked.

    Cost: that of the policy's method for at most `sqlanon.release.trials.sample.MOST_MEASURED` rows; a scan to take
    them from a larger table.
    """
    if (
        spec.token
        or ready.population is not None
        or spec.privacy.own_boxes
        or spec.suppression is not None
        or spec.privacy.accuracy is not None
        or format_of(spec.format.kind).facts.exact
    ):
        return None
    from sqlanon.methods.best.loss import Losses

    persons = spec.privacy.whole
    with scratch.beside() as own:
        encoded = encoded_part(own, ready, most_measured(ready, spec.privacy.k), persons=persons)
        asked = tuple(one for one in ready.requirements if not one.afterwards)
        refined = refining(spec, encoded.rows, len(encoded.quasi))
        context = Context(
            own,
            encoded,
            asked,
            "auto",
            spec.memory or memory,
            threads,
            progress,
            spec.seed or 0,
            refine=replace(refined, search=0) if refined else None,
            format=spec.format.kind,
            secret=secret,
            release=spec.name,
            read_again=True,
        )
        try:
            feasible(
                own,
                spec,
                encoded.stage,
                ready.roles,
                persons_whole.of_rows(asked) if persons else asked,
                encoded.rows,
                [one.alias for one in ready.persons],
            )
            made = persons_whole.assigned(context, ready.method) if persons else ready.method.assign(context)
            found = Losses(context, "ncp").by_column(made)
        except (InfeasibleError, PolicyError):
            return None  # all rows meet what is asked, and those that are measured do not; or memory is short
    return ColumnLosses({name: float(lost) for name, lost in found.items()}, encoded.rows)
