"""A policy's release tried on a part of the source, and attacked by all means with the rest as control group."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from sqlanon.attack.control.base import Column, MissingFigure, Trial
from sqlanon.attack.control.hold_out import HoldOut
from sqlanon.attack.control.rates import measure_risk
from sqlanon.attack.control.read_trial import read_space
from sqlanon.attack.control.registry import ATTACKS
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.rehearse import rehearse
from sqlanon.results import ControlledAttack, ControlReport

if TYPE_CHECKING:
    from sqlanon.attack.control.base import Outcome
    from sqlanon.attack.control.hold_out import Split
    from sqlanon.attack.kernels.nearest import Space
    from sqlanon.engines.base import Engine
    from sqlanon.release.divide.classes import Machine
    from sqlanon.spec import ReleaseSpec


def attack_with_control(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    share: float = 0.2,
    *,
    sets: Sequence[Sequence[str]] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> ControlReport:
    """Try a release without some persons of the source, and attack both groups.

    Args:
        engine: the source's database. Nothing is published, and nothing is left there.
        spec: the release.
        machine: memory and threads for the method.
        share: of the persons (rows, where no person is declared) that are held out, above 0 and below 1.
        sets: two disjoint sets of quasi columns for linkability; None: the quasi columns in turn.
        seed: of every draw, from 0; None: from the operating system. With a seed the report is the same again.
        progress: gets stages and counts.

    Raises:
        PolicyError: such a share or such sets are not possible; GuardError, InfeasibleError: the errors of the run.
        UnsupportedError: counts, and releases of two tables.

    Cost: a run, and for each attack up to some 10 seconds of a core; beyond that victims are drawn.
    """
    if not 0 < share < 1:
        raise PolicyError(f"attack: control {share:g}: a share of the persons above 0 and below 1, such as 0.2")
    if seed is not None and seed < 0:
        raise PolicyError(f"attack: seed {seed}: a whole number from 0")
    seed = secrets.randbits(32) if seed is None else seed
    pair = _choose_sets(spec, sets)
    reporter, seconds, start = progress or SilentProgress(), {}, time.perf_counter()
    with ExitStack() as stack:
        hold_out = HoldOut(share, seed, stack)
        rehearsed = stack.enter_context(rehearse(engine, spec, machine, reporter, seed=seed, choose=hold_out))
        split = hold_out.split
        assert split is not None
        space = read_space(rehearsed, split)
        method, source, rows = (
            rehearsed.spec.method.name,
            str(rehearsed.staged.roles.relation.ref),
            rehearsed.staged.rows,
        )
    trial = make_trial(spec, split, space, seed, machine.threads, pair)
    seconds["release"] = time.perf_counter() - start
    attacks: list[ControlledAttack] = []
    lacking: list[str] = []
    for name, attack in ATTACKS.items():
        reporter.stage(spec.name, attack.title)
        start = time.perf_counter()
        for outcome in attack.run(trial):
            if isinstance(outcome, MissingFigure):
                lacking.append(outcome.why)
            else:
                attacks.append(_report(name, outcome))
        seconds[name] = time.perf_counter() - start
    reporter.finish(spec.name)
    return ControlReport(
        spec.name,
        source,
        method,
        spec.format.kind,
        split.counted,
        len(split.victims),
        len(split.control),
        rows,
        int(space.members.sum()),
        share,
        seed,
        tuple(attacks),
        tuple(lacking),
        seconds,
    )


def make_trial(
    spec: ReleaseSpec,
    split: Split,
    space: Space,
    seed: int,
    threads: int,
    pair: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Trial:
    """Codes of a trial release for attacks; ``pair``: the two sets of columns of linkability."""
    readings = [domain.reading for domain in (*split.quasi, *split.exact)]
    columns = tuple(Column(reading.name, reading.spec.role) for reading in readings)
    place = {column.name.lower(): number for number, column in enumerate(columns)}
    first, second = (tuple(place[name.lower()] for name in names) for names in pair or _choose_sets(spec, None))
    return Trial(
        columns, space, split.inside, split.outside, split.victims, split.control, (first, second), seed, threads
    )


def _report(name: str, outcome: Outcome) -> ControlledAttack:
    low, risk, high = measure_risk(outcome)
    return ControlledAttack(
        name,
        outcome.what,
        outcome.columns,
        outcome.main.attempts,
        outcome.control.attempts,
        outcome.main.share,
        outcome.control.share,
        outcome.naive,
        risk,
        low,
        high,
        outcome.every,
        outcome.main.number,
        outcome.control.share * outcome.main.attempts,
    )


def _choose_sets(spec: ReleaseSpec, sets: Sequence[Sequence[str]] | None) -> tuple[Sequence[str], Sequence[str]]:
    """Two sets of quasi columns, as the policy spells them.

    Raises:
        PolicyError: there are not two, a column is in both, or is no quasi column.
    """
    quasi = [column.name for column in spec.with_role("quasi")]
    if sets is None:
        return quasi[::2], quasi[1::2]
    if len(sets) != 2 or not all(sets):
        raise PolicyError(f"attack {spec.name}: linkability needs two sets of columns, such as --sets age,zip/sex")
    spelled = {name.lower(): name for name in quasi}
    unknown = [name for names in sets for name in names if name.lower() not in spelled]
    if unknown:
        raise PolicyError(
            f"attack {spec.name}: --sets: no quasi column {', '.join(unknown)}; there are: {', '.join(quasi)}"
        )
    first, second = (list(dict.fromkeys(spelled[name.lower()] for name in names)) for names in sets)
    both = [name for name in first if name in second]
    if both:
        raise PolicyError(f"attack {spec.name}: --sets: {both[0]} is in both sets")
    return first, second
