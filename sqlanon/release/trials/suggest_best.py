"""The loss of method ``best`` for a release, as a suggestion of ``plan``.

Where columns have hierarchies, the method of a policy is seldom the best.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.declared import FORMATS, METHODS, collect_request, limit_suppressed, list_refusals
from sqlanon.declared.candidates import format_candidate
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.base import Context
from sqlanon.release.trials.sample import encode_part, limit_measured
from sqlanon.release.trials.trial import Trial
from sqlanon.spec import MethodSpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.methods.best.loss import Losses
    from sqlanon.methods.best.method import Able

    Found = tuple[Fraction, MethodSpec]


def suggest_best(scratch: Scratch, trial: Trial) -> str | None:
    """A note that method ``best`` loses less than the method of the policy, with both losses; None where it does not.

    Trials of ``refine: search`` are left out. It is not measured where no column has a hierarchy, where ``best`` does
    not take the policy's requirements, and where the rows to measure do not meet them.

    Cost: that of the policy's method and of those of ``best``, for at most `MOST_MEASURED` rows; a scan to take them
    from a larger table.
    """
    spec, ready = trial.spec, trial.ready
    declared, metric = METHODS["best"], "stars" if FORMATS[spec.format.kind].either else "gcp"
    spec_of_best = replace(spec, method=MethodSpec("best", {"metric": metric}))
    if (
        spec.method.name == "best"
        or ready.population is not None
        or spec.suppression is not None
        or all(domain.reading.treatment != "hierarchy" for domain in ready.quasi)
        or list_refusals(declared, collect_request(spec_of_best, declared))
    ):
        return None
    from sqlanon.methods.best.loss import Losses
    from sqlanon.methods.best.method import Best

    with scratch.beside() as part_scratch:
        encoded = encode_part(part_scratch, ready, limit_measured(ready, spec.privacy.k))
        try:
            trial.check_feasible(part_scratch, encoded, ready.requirements)
        except InfeasibleError:
            return None  # all rows meet the requirements, and the measured rows do not
        context = Context(
            part_scratch,
            encoded,
            ready.requirements,
            "auto",
            spec.memory or trial.machine.memory,
            trial.machine.threads,
            trial.progress,
            spec.seed or 0,
            refine=replace(spec.refine, search=0) if spec.refine else None,
            format=spec.format.kind,
        )
        losses = Losses(context, metric)
        best = Best(**declared.values(spec_of_best.method.options))  # type: ignore[arg-type]
        try:
            able, _ = best.choose_able(context)
        except PolicyError:
            return None  # it lacks memory
        capped = replace(context, most_unassigned=limit_suppressed(spec, encoded.rows))
        current = _find_least(capped, [(spec.method, ready.method)], losses)
        proposed = _find_least(context, able, losses)
    if current is None or proposed is None or proposed[0] >= current[0]:
        return None
    less = (
        f"method best would lose {metric} {losses.describe(proposed[0])}, with the classes of "
        f"{format_candidate(proposed[1])}; {ready.method.describe()} loses {losses.describe(current[0])}"
    )
    if spec.refine and spec.refine.search != 0:
        less += ", both without the trials of refine"
    if encoded.rows == ready.rows:
        return f"{less}; measured on all rows"
    part = f"{less}; an estimate, measured on {encoded.rows} of {ready.rows} rows"
    # Stars are counted, and fewer rows have fewer.
    return part if metric == "stars" else f"{part}, which lose more than all of them"


def _find_least(context: Context, methods: Able, losses: Losses) -> Found | None:
    """The method that loses least, and the loss; None where no method finds classes."""
    from sqlanon.methods.best.method import run_each

    losses_of_methods = [(lost, spec) for spec, _, lost in run_each(context, methods, losses, [])]
    return min(losses_of_methods, key=lambda candidate: candidate[0], default=None)
