"""Stages of versions that a budget pays for: charge, answer, publish; or take what an earlier run drew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from sqlanon.errors import PrivacyViolation
from sqlanon.release.budget.events import Kind
from sqlanon.release.stages.stage import Publish
from sqlanon.release.stages.work import Stage, Work
from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True, slots=True)
class Reserve:
    """Charge a version, before the source is read."""

    release: str
    budget: str
    epsilon: float
    nights: int | None = None

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        once = "" if self.nights is None else f" for {self.nights} nights together, once"
        return f"{self.release}: charge the budget {self.budget} with epsilon {self.epsilon:g}{once}"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _find_paid_version(work).reserve(work)


@dataclass(frozen=True, slots=True)
class Answer:
    """Bound each person's rows, add them up, verify, draw noise, and store the noisy table."""

    release: str
    tables: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        tables = f"{self.tables} table{'s' if self.tables > 1 else ''}"
        return f"{self.release}: bound each person's rows, answer {tables}, draw noise"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _find_paid_version(work).answer(work)


@dataclass(frozen=True, slots=True)
class Take:
    """Take the noisy table that an earlier run stored; nothing is drawn or spent."""

    release: str

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: take the noisy table that an earlier run stored"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _find_paid_version(work).take(work)


@dataclass(frozen=True, slots=True)
class PublishDrawn:
    """Publish the noisy table, and record it in the ledger."""

    release: str
    version: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return Publish((self.release,), (self.version,)).text

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        version = _find_paid_version(work)
        try:
            Publish((self.release,), (self.version,)).run(works)
        except PrivacyViolation:
            version.record(work, "withheld")
            raise
        version.record(work, "published")


class _Paid(Protocol):
    """What the stages ask of a version that is paid."""

    def reserve(self, work: Work) -> None: ...
    def answer(self, work: Work) -> None: ...
    def take(self, work: Work) -> None: ...
    def record(self, work: Work, state: Kind) -> None: ...


def _find_paid_version(work: Work) -> _Paid:
    return cast("_Paid", work.version)


def list_stages(spec: ReleaseSpec, version: int) -> list[Stage]:
    """The stages of a version that is paid."""
    noisy = spec.noisy
    assert noisy is not None
    charge = Reserve(spec.name, noisy.budget.name, float(noisy.epsilon), noisy.nights)
    return [charge, Answer(spec.name, len(noisy.tables)), PublishDrawn(spec.name, version)]
