"""Results of attacks with a control group."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class ControlledAttack:
    """An attack on persons inside a trial release and on persons held out.

    Attributes:
        attack: key of the attack: ``univariate``, ``multivariate``, ``linkability``, ``inference``, ``classifier``,
            ``membership``.
        what: the same for people.
        columns: those that it uses or guesses; of linkability two sets.
        attempts: on persons inside, or predicates.
        control_attempts: on persons held out.
        main, control: the shares that succeeded.
        naive: the share without the release's rows.
        risk: the share beyond the control group, 0 to 1.
        low, high: the interval of ``risk``.
        exact: every person or predicate was tried.
        successes: on persons inside; an expected number where a row is drawn of several released rows.
        expected: successes among these that the control group predicts: ``control`` of as many attempts.
    """

    attack: str
    what: str
    columns: tuple[str, ...]
    attempts: int
    control_attempts: int
    main: float
    control: float
    naive: float
    risk: float
    low: float
    high: float
    exact: bool
    successes: float
    expected: float


@dataclass(frozen=True, slots=True)
class ControlReport(Report):
    """Attacks on a trial release, with a control group.

    Attributes:
        release, source: their names.
        method, format: of the trial.
        counted: ``rows`` or ``persons``: the unit of those held out.
        inside, outside: how many of them.
        rows: that the trial was made of; ``released``: that it has.
        released: see there.
        control: the share that was held out, as asked.
        seed: of all draws.
        attacks: in the order of the registry.
        not_measured: missing measures, each with the reason.
        seconds: by step.
    """

    release: str
    source: str
    method: str
    format: str
    counted: str
    inside: int
    outside: int
    rows: int
    released: int
    control: float
    seed: int
    attacks: tuple[ControlledAttack, ...]
    not_measured: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def highest(self) -> float:
        """The greatest risk of any attack."""
        return max((attack.risk for attack in self.attacks), default=0.0)
