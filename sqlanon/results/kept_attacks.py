"""Figures of attacks, kept with each version so that reports compare versions."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.attack import AttackReport
from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class KeptAttacks(Report):
    """Results of `sqlanon attack --keep` on a version.

    Attributes:
        release: name of the release.
        version: the attacked version.
        made_at: when, UTC.
        known: how many quasi columns could be known.
        found: success of finding a row by any number of true values: mean over victims and sets, the largest.
        found_highest: of the victim and set that is found most easily.
        learned: mean share of the most frequent sensitive value among a victim's candidates, the largest of any column.
        learned_highest: the same of the victim about whom most is learned.
        drawn: victims that were compared; ``published`` of them there are.
        published: see there.
        held: no attack exceeded the promise.
    """

    release: str
    version: int
    made_at: str
    known: int
    found: float | None
    found_highest: float | None
    learned: float | None
    learned_highest: float | None
    drawn: int
    published: int
    held: bool


def keep_figures(report: AttackReport, made_at: str) -> KeptAttacks:
    """The figures of attacks that are kept; those with a wrong value are left out, as nothing is promised of them."""
    name, _, version = report.release.rpartition("@")
    true = [attack for attack in report.linkage if not attack.errors]
    return KeptAttacks(
        name,
        int(version),
        made_at,
        len(report.quasi),
        max((attack.mean for attack in true), default=None),
        max((attack.highest for attack in true), default=None),
        max((guess.mean for guess in report.homogeneity), default=None),
        max((guess.highest for guess in report.homogeneity), default=None),
        report.drawn,
        report.published,
        report.held,
    )
