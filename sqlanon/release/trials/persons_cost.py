"""The cost of `persons: whole` compared with `persons: rows`, for reports.

Both are tried on the same rows, and their losses are compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.declared import FORMATS, METHODS, collect_request, list_refusals
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.base import Assignment, Context
from sqlanon.release.trials.sample import MOST_MEASURED, encode_part
from sqlanon.release.trials.trial import Trial
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlanon.methods.best.loss import Losses


def persons_cost(scratch: Scratch, trial: Trial) -> str | None:
    """A note of the policy's losses with `persons: whole` and with `rows`.

    It is None where the method does not take `rows`, where a population is counted, and where the rows to measure do
    not meet the requirements. Trials of ``refine: search`` are left out, and classes that fail afterwards
    are not united: both count alike.

    Cost: that of both for about `MOST_MEASURED` rows; a GROUP BY of the persons and a join, to take them from a larger
    table.
    """
    spec, ready, division = trial.spec, trial.ready, trial.division
    spec_of_rows = replace(spec, persons="rows", privacy=replace(spec.privacy, whole=False))
    declared = METHODS[spec.method.name]
    if ready.population is not None or list_refusals(declared, collect_request(spec_of_rows, declared)):
        return None
    from sqlanon.methods.best.loss import Losses

    metric = "stars" if FORMATS[spec.format.kind].either else "gcp"
    with scratch.beside() as part_scratch:
        encoded = encode_part(part_scratch, ready, MOST_MEASURED, persons=True)
        rows, context = encoded.rows, trial.context(part_scratch, encoded)
        losses = Losses(context, metric)
        try:
            trial.check_feasible(part_scratch, encoded, division.requirements_of_rows(trial.asked))
            lost = _format_loss(context, losses, lambda part_context: division.try_method(part_context, ready.method))
            rows_alone = replace(
                context, requirements=tuple(requirement for requirement in trial.asked if not requirement.across)
            )
            less = _format_loss(rows_alone, losses, ready.method.assign)
        except (InfeasibleError, PolicyError):
            return None  # all rows meet the requirements, and the measured rows do not; or memory is short
    note = f"persons: whole loses {metric} {lost}, and persons: rows would lose {less}"
    if spec.refine and spec.refine.search != 0:
        note += ", both without the trials of refine"
    measured = "all rows" if rows == ready.rows else f"{rows} of {ready.rows} rows, an estimate"
    return f"{note}; measured on {measured}"


def _format_loss(context: Context, losses: Losses, way: Callable[[Context], Assignment]) -> str:
    # Methods call their tables alike, so that each has a place of its own.
    with context.scratch.beside() as scratch:
        return losses.describe(losses.of(way(replace(context, scratch=scratch))))
