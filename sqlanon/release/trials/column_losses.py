"""The loss of the policy's method in each quasi column, for `plan`.

It is measured by the method's classes of the rows, or of a part of a large table.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.formats import format_of
from sqlanon.release.trials.sample import encode_part, limit_measured
from sqlanon.release.trials.trial import Trial
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True)
class ColumnLosses:
    """NCP of each quasi column, by name, from 0 (exact) to 1 (all lost), and how many rows were measured."""

    of: dict[str, float]
    rows: int


def column_losses(scratch: Scratch, trial: Trial) -> ColumnLosses | None:
    """Try the policy's method and measure each column.

    Trials of ``refine: search`` are left out. It is None where rows have no classes or exact values (``boxes: own``,
    tokens, format anatomy), where a population is counted, where the bound on the loss or the suppression of the policy
    decides, and where the rows to measure do not meet the requirements.

    Cost: that of the policy's method for at most `sqlanon.release.trials.sample.MOST_MEASURED` rows; a scan to take
    them from a larger table.
    """
    spec, ready, division = trial.spec, trial.ready, trial.division
    if (
        not division.sampled
        or ready.population is not None
        or spec.suppression is not None
        or spec.privacy.accuracy is not None
        or format_of(spec.format.kind).facts.exact
    ):
        return None
    from sqlanon.methods.best.loss import Losses

    with scratch.beside() as part_scratch:
        encoded = encode_part(
            part_scratch, ready, limit_measured(ready, spec.privacy.k), persons=division.joins_persons
        )
        context = trial.context(part_scratch, encoded)
        try:
            trial.check_feasible(part_scratch, encoded, division.requirements_of_rows(trial.asked))
            losses_of_columns = Losses(context, "ncp").by_column(division.try_method(context, ready.method))
        except (InfeasibleError, PolicyError):
            return None  # all rows meet the requirements, and the measured rows do not; or memory is short
    return ColumnLosses({name: float(lost) for name, lost in losses_of_columns.items()}, encoded.rows)
