"""Results of a comparison of candidate releases."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate release, made in scratch tables of a part of the persons.

    Attributes:
        number: in the comparison, from 1.
        k, method, refine: values for the policy.
        refused: why it cannot be made; None: it was made, and has the other figures.
        classes, min_class: figures of the release it would be.
        gcp: the loss, 0 to 1.
        width: how far the bounds of answers are apart, as a share, the median; of random counts over two quasi columns,
            by the count, or of a workload's answers, by the estimate. None: there is none, or most have a bound only.
        refused_queries: of the workload, those without an answer; None: there is no workload.
        auc: of a model that learnt the target from the release, tested on persons held out; None: no target.
        average_risk: classes by rows: the prosecutor's average.
        risk: the highest risk beyond the control group of any attack, ``attack`` the attack's name.
        attack: see there.
        few: attacks that are not among these, as fewer than 20 attempts could be made.
        seconds: of making it.
    """

    number: int
    k: int
    method: str
    refine: bool
    refused: str | None = None
    classes: int = 0
    min_class: int = 0
    gcp: float | None = None
    width: float | None = None
    auc: float | None = None
    average_risk: float | None = None
    risk: float | None = None
    attack: str = ""
    seconds: float = 0.0
    refused_queries: int | None = None
    few: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidatesReport(Report):
    """Candidate releases of the same source, side by side.

    Attributes:
        release, source: their names.
        control: the share of the persons that was held out of each.
        seed: of all draws.
        target: the column that a model learns; None: none.
        source_auc: of a model that learnt from the source's rows.
        candidates: in the order in which they were asked.
        answers: queries behind ``width``: ``random counts`` or ``workload``.
    """

    release: str
    source: str
    control: float
    seed: int
    target: str | None
    source_auc: float | None
    candidates: tuple[Candidate, ...]
    answers: str = "random counts"

    def list_notes(self) -> dict[str, list[int]]:
        """Notes on candidates besides their figures, each with the numbers of the candidates that it is about."""
        notes: dict[str, list[int]] = {}
        for candidate in self.candidates:
            if candidate.refused_queries:
                notes.setdefault(f"no answer to {candidate.refused_queries:,} of the workload's queries", []).append(
                    candidate.number
                )
            for attack in candidate.few:
                why = f"{attack}: too few attempts to be compared; attack --control has them"
                notes.setdefault(why, []).append(candidate.number)
        return notes


@dataclass(frozen=True, slots=True)
class NoisyCandidate:
    """A candidate of noisy statistics; every figure follows from the declarations.

    Attributes:
        number: in the comparison, from 1.
        epsilon: of a version, at most.
        tables: those that are measured.
        refused: why it cannot be made; None: it can, and has the other figures.
        law: of the noise.
        cost: epsilon of a version.
        versions: how many more versions the budget pays for; counted up to 1000.
        errors: for each table of the release the expected distance of a published count from the bounded one, by
            noise; None: the candidate lacks the table.
    """

    number: int
    epsilon: float
    tables: tuple[str, ...]
    refused: str | None = None
    law: str = ""
    cost: float = 0.0
    versions: int = 0
    errors: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class RowsErrors:
    """A published release of rows of the same source: the mean error of the counts of each table, measured."""

    release: str
    errors: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class NoisyCandidatesReport(Report):
    """Candidates of noisy statistics side by side, beside releases of rows of the same source.

    For the owner: no budget pays for the errors of the releases of rows, which are measured on the source.

    Attributes:
        release, source: their names.
        tables: the tables of the release; one name for all pairs of synthetic rows that are not chosen yet.
        groups: how many finest groups each has; 0 of pairs that are not chosen yet.
        candidates: in the order in which they were asked.
        beside: releases of rows.
    """

    release: str
    source: str
    tables: tuple[str, ...]
    groups: tuple[int, ...]
    candidates: tuple[NoisyCandidate, ...]
    beside: tuple[RowsErrors, ...]
