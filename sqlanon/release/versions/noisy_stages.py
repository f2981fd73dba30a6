"""Stages of versions that a budget pays for: charge, answer, publish; or take an earlier run's draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from sqlanon.errors import PrivacyViolation
from sqlanon.release.budget.events import Kind
from sqlanon.release.stages.stage import PublishStage
from sqlanon.release.stages.work import Stage, Work
from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True, slots=True)
class PaidStep:
    """A stage of a version that is paid, which it carries out.

    Attributes:
        release: the release's name.
        verb: the method of the version.
        text: its line of a plan.
    """

    release: str
    verb: Literal["reserve", "answer", "take"]
    text: str

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        version = _find_paid_version(work)
        {"reserve": version.reserve, "answer": version.answer, "take": version.take}[self.verb](work)


@dataclass(frozen=True, slots=True)
class PublishDrawn:
    """Publish the noisy table, and record it in the ledger."""

    release: str
    version: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return PublishStage((self.release,), (self.version,)).text

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        version = _find_paid_version(work)
        try:
            PublishStage((self.release,), (self.version,)).run(works)
        except PrivacyViolation:
            version.record(work, "withheld")
            raise
        version.record(work, "published")


class _PaidVersion(Protocol):
    """The verbs of a version that is paid."""

    def reserve(self, work: Work) -> None: ...
    def answer(self, work: Work) -> None: ...
    def take(self, work: Work) -> None: ...
    def record(self, work: Work, state: Kind) -> None: ...


def _find_paid_version(work: Work) -> _PaidVersion:
    return cast("_PaidVersion", work.version)


def list_stages(spec: ReleaseSpec, version: int) -> list[Stage]:
    """Charge a version before the source is read; bound, add up, verify, draw noise and store it; publish it."""
    name, noisy = spec.name, spec.noisy
    assert noisy is not None
    once = "" if noisy.nights is None else f" for {noisy.nights} nights together, once"
    charge = f"charge the budget {noisy.budget.name} with epsilon {float(noisy.epsilon):g}{once}"
    tables = f"{len(noisy.tables)} table{'s' if len(noisy.tables) > 1 else ''}"
    answer = f"bound each person's rows, answer {tables}, draw noise"
    return [
        PaidStep(name, "reserve", f"{name}: {charge}"),
        PaidStep(name, "answer", f"{name}: {answer}"),
        PublishDrawn(name, version),
    ]


def list_stages_taken(name: str, version: int) -> list[Stage]:
    """Publish the noisy table that an earlier run stored; nothing is drawn or spent."""
    take = f"{name}: take the noisy table that an earlier run stored"
    return [PaidStep(name, "take", take), PublishDrawn(name, version)]
