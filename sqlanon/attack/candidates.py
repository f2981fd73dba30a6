"""Candidate releases of a source, each tried in scratch: loss, width of answers, accuracy of a model, and risk.

Nothing is published, and nothing is left in the database.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.control.base import Outcome
from sqlanon.attack.control.classifier import measure_auc
from sqlanon.attack.control.hold_out import HoldOut
from sqlanon.attack.control.rates import measure_risk
from sqlanon.attack.control.read_trial import read_space
from sqlanon.attack.control.registry import ATTACKS
from sqlanon.attack.control.run import make_trial
from sqlanon.errors import InfeasibleError, PolicyError, SqlanonError, UnsupportedError
from sqlanon.evaluate.run import parse_of_source
from sqlanon.evaluate.subject import Subject
from sqlanon.evaluate.widths import measure_widths
from sqlanon.evaluate.workload import WorkloadQuery, fit_workload, list_queries
from sqlanon.query.release import describe, read_metadata
from sqlanon.release.rehearse import rehearse
from sqlanon.results import Candidate, CandidatesReport
from sqlanon.table.roles import assign_roles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlanon.arrays import Flags
    from sqlanon.attack.control.base import Trial
    from sqlanon.engines.base import Engine, TableRef
    from sqlanon.evaluate.widths import Widths
    from sqlanon.progress import Progress
    from sqlanon.release.divide.classes import Machine
    from sqlanon.release.rehearse import RehearsedRelease
    from sqlanon.spec import ReleaseSpec
    from sqlanon.table.reading import Roles
    from sqlanon.workload_spec import WorkloadSpec

QUERIES = 200
"""Number of counts with measured bounds."""
PART = 0.2
"""Of all rows that a count selects, about, if the columns are independent and even."""
FEWEST = 20
"""Fewest attempts of an attack to compare its risk; a share of fewer says nothing."""
SKIPPED = ("classifier",)
"""Attacks that are left out: they take longest."""


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """Settings of a comparison.

    Attributes:
        control: the share of the persons held out.
        seed: of every draw; None: from the operating system.
        target: a column that is published as it is, which a model learns; None: none.
        workload: queries of the source, to measure the bounds of answers; None: random counts.
    """

    control: float = 0.2
    seed: int | None = None
    target: str | None = None
    workload: WorkloadSpec | None = None


def compare_candidates(
    engine: Engine,
    specs: Sequence[ReleaseSpec],
    machine: Machine,
    request: ComparisonSettings,
    progress: Progress | None = None,
) -> CandidatesReport:
    """Try releases of a source in sequence.

    Args:
        engine: the source's database.
        specs: the candidates, of the same source and the same columns.
        machine: memory and threads for the methods.
        request: settings of the comparison.
        progress: gets stages and counts.

    Raises:
        PolicyError: the share or the target is not possible, or the workload does not fit the release.
            A candidate that cannot be made is in the report.

    Cost: a run for each candidate, and the attacks of `sqlanon.attack.control` without the classifier.
    """
    if not 0 < request.control < 1:
        raise PolicyError(f"compare: control {request.control:g}: a share of persons above 0 and below 1, such as 0.2")
    if request.seed is not None and request.seed < 0:
        raise PolicyError(f"compare: seed {request.seed}: a whole number from 0")
    spec = specs[0]
    if request.target is not None:
        published = [column.name for column in spec.columns if column.role in ("sensitive", "insensitive")]
        if request.target.lower() not in {name.lower() for name in published}:
            raise PolicyError(
                f"compare {spec.name}: target {request.target} is no column that is published as it is; there are: "
                f"{', '.join(published)}"
            )
    if request.workload is not None:
        _check_workload(engine, spec, request.workload)
    request = replace(request, seed=secrets.randbits(32) if request.seed is None else request.seed)
    candidates: list[Candidate] = []
    of_source: float | None = None
    for number, candidate_spec in enumerate(specs, 1):
        candidate = Candidate(
            number, candidate_spec.privacy.k, candidate_spec.method.name, candidate_spec.refine is not None
        )
        try:
            tried, trial = _try_one(engine, candidate_spec, machine, request, progress)
        except (InfeasibleError, PolicyError, UnsupportedError) as error:
            candidates.append(replace(candidate, refused=_explain(error)))
            continue
        if request.target is not None:
            place = [column.name.lower() for column in trial.columns].index(request.target.lower())
            of_source = measure_auc(trial, place, original=True) if of_source is None else of_source
            tried = replace(tried, auc=measure_auc(trial, place))
        candidates.append(
            replace(tried, number=number, k=candidate.k, method=candidate.method, refine=candidate.refine)
        )
    assert request.seed is not None
    return CandidatesReport(
        spec.name,
        spec.source,
        request.control,
        request.seed,
        request.target,
        of_source,
        tuple(candidates),
        "random counts" if request.workload is None else "workload",
    )


def _explain(error: SqlanonError) -> str:
    return str(error).splitlines()[0]


def _try_one(
    engine: Engine, spec: ReleaseSpec, machine: Machine, request: ComparisonSettings, progress: Progress | None
) -> tuple[Candidate, Trial]:
    assert request.seed is not None
    start = time.perf_counter()
    with ExitStack() as stack:
        hold_out = HoldOut(request.control, request.seed, stack)
        rehearsed = stack.enter_context(rehearse(engine, spec, machine, progress, seed=request.seed, choose=hold_out))
        split = hold_out.split
        assert split is not None
        seconds = time.perf_counter() - start
        loss, recoded, rows = rehearsed.loss(), rehearsed.made.recoded, rehearsed.staged.rows
        space = read_space(rehearsed, split)
        widths = None if request.workload is None else _measure_workload(engine, rehearsed, request.workload)
    trial = make_trial(spec, split, space, request.seed, machine.threads)
    outcomes = [
        outcome
        for name, attack in ATTACKS.items()
        if name not in SKIPPED
        for outcome in attack.run(trial)
        if isinstance(outcome, Outcome) and outcome.main.attempts
    ]
    few = tuple(outcome.what for outcome in outcomes if outcome.main.attempts < FEWEST)
    risks = [(measure_risk(outcome)[1], outcome.what) for outcome in outcomes if outcome.main.attempts >= FEWEST]
    risk, attack_name = max(risks, default=(0.0, ""))
    return (
        Candidate(
            0,
            spec.privacy.k,
            spec.method.name,
            spec.refine is not None,
            classes=recoded.classes,
            min_class=recoded.min_class,
            gcp=loss.gcp,
            width=measure_width(trial) if widths is None else widths.median,
            refused_queries=None if widths is None else widths.refused,
            average_risk=recoded.classes / rows,
            risk=risk,
            attack=attack_name,
            few=few,
            seconds=seconds,
        ),
        trial,
    )


def _check_workload(engine: Engine, spec: ReleaseSpec, workload: WorkloadSpec) -> None:
    """Refuse a workload for all candidates at once."""
    relation = engine.relation(spec.source)
    subject = _subject(spec, assign_roles(spec, relation), relation.ref, {})
    fit_workload(workload, subject)
    for query in workload.queries:
        parse_of_source(engine, subject.sides, WorkloadQuery(query.name, "queries", query.sql))


def _subject(spec: ReleaseSpec, roles: Roles, table: TableRef, published: Mapping[str, tuple[str, ...]]) -> Subject:
    return Subject(spec.name, table, None, spec, roles, published, tuple(reading.name for reading in roles.insensitive))


def _measure_workload(engine: Engine, trial: RehearsedRelease, workload: WorkloadSpec) -> Widths:
    """How wide the answers of a trial release are."""
    trial.write_metadata()
    table = trial.table
    released = describe(engine, engine.look_up([table]).relations[table], read_metadata(engine, table))
    published = {name: names.list_columns() for name, names in trial.names.items()}
    subject = _subject(trial.spec, trial.made.encoded.roles, trial.table, published)
    return measure_widths(engine, subject, released, list_queries(engine, subject, fit_workload(workload, subject)))


def measure_width(trial: Trial) -> float | None:
    """How far the bounds of counts are apart, by the count, the median over `QUERIES` counts that are not 0.

    A count selects neighbouring codes of two quasi columns, or of a single one. It is at least the rows with cells
    inside, and at most those with cells that reach inside. None: all counts are 0, or there are no quasi columns.
    """
    quasi, rng, space = trial.with_role("quasi"), trial.rng("width"), trial.space
    if not quasi:
        return None
    widths = []
    for _ in range(QUERIES):
        certain, possible = (np.ones(len(space.members), np.bool_) for _ in range(2))
        true = np.ones(len(trial.inside), np.bool_)
        columns = rng.choice(quasi, min(2, len(quasi)), replace=False)
        for a in columns:
            codes = int(space.codes[a])
            width = max(1, round(codes * PART ** (1 / len(columns))))
            low = int(rng.integers(0, codes - width + 1))
            high = low + width - 1
            inside, reaches = _compare_cells(trial, int(a), low, high)
            certain &= inside
            possible &= reaches
            true &= (trial.inside[:, a] >= low) & (trial.inside[:, a] <= high)
        if true.any():
            least, most = int(space.members[certain].sum()), int(space.members[possible].sum())
            widths.append((most - least) / int(true.sum()))
    return float(np.median(widths)) if widths else None


def _compare_cells(trial: Trial, a: int, low: int, high: int) -> tuple[Flags, Flags]:
    """Whether each released cell lies in an interval of codes, and whether it reaches into it."""
    space = trial.space
    if space.kinds[a]:
        kinds, first = int(space.kinds[a]), int(space.start[a])
        has = space.sets[first : first + int(space.codes[a]) * kinds].reshape(-1, kinds)
        within: Flags = np.asarray(has[low : high + 1].any(axis=0), np.bool_)
        beyond: Flags = np.asarray(has[:low].any(axis=0) | has[high + 1 :].any(axis=0), np.bool_)
        return (within & ~beyond)[space.cells[a]], within[space.cells[a]]
    null = space.null[a]
    within = ((space.low[a] <= high) & (space.high[a] >= low)) | (null & (low == 0))
    beyond = (space.low[a] < low) | (space.high[a] > high) | (null & (low > 0))
    return within & ~beyond, within
