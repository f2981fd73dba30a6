"""Results of an attacker with the source's values against a release.

They are the expected success, and the release's promise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class LinkageAttack:
    """Finding a victim's row by some of his quasi values.

    Attributes:
        known: how many quasi columns the attacker knows.
        subsets: over how many sets of so many columns the figures are.
        errors: one known value is wrong, the others are right.
        mean: the expected success over victims and sets.
        worst_mean: the mean over victims of the set of columns that is best for the attacker, ``worst`` these columns.
        worst: see there.
        highest: the highest expected success of any victim and set.
        fewest: the fewest candidates of any victim and set; 0: nobody has any. With ``errors`` not counted: 0.
        promised: upper bound of the highest success, 1/k; None: nothing is promised.
        exceeded: whether a victim has fewer candidates than k.
        margin: half the width of the 95 % interval of ``mean``; 0: every victim was compared.
    """

    known: int
    subsets: int
    errors: bool
    mean: float
    worst_mean: float
    worst: tuple[str, ...]
    highest: float
    fewest: int
    promised: float | None
    exceeded: bool
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class GuessAttack:
    """Guessing a victim's sensitive value as the most frequent value among his candidates (homogeneity).

    Attributes:
        column: the sensitive column.
        among: ``class``: the rows of his class, or of his group in format anatomy; ``candidates``: all rows that cover
            his quasi values.
        mean: the share of the most frequent value, mean over published victims.
        highest: the highest share.
        promised: upper bound of the share, 1/l; None: the release has no l (other models bound it by other measures).
        exceeded: whether a share is above that.
        margin: as of `LinkageAttack`.
    """

    column: str
    among: str
    mean: float
    highest: float
    promised: float | None
    exceeded: bool
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class CompositionAttack:
    """Search for a victim in two versions, or in two releases of the same source.

    The victim's candidates are those of both.

    Attributes:
        kind: ``version`` or ``release``.
        other: with which version or release, as ``NAME@VERSION``.
        who: which victims: ``common``, in both (of two releases: in at least one); ``arrived``, only in the version
            attacked; ``left``, only in the other.
        rows: how many they are.
        mean: expected success over them.
        highest: the highest.
        fewest: the fewest candidates; 0: there is no such victim.
        promised: 1/k of the weaker of both, to compare with: no model promises it of two together.
        why_not: why nothing was measured; empty: it was.
    """

    kind: str
    other: str
    who: str
    rows: int
    mean: float
    highest: float
    fewest: int
    promised: float | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class SkewnessGain:
    """Information of a class on a sensitive value beyond the table; no l bounds it.

    Attributes:
        column: the sensitive column.
        mean: over published rows, the largest difference between a value's share in the class and in the table.
        highest: of any class.
        mean_ratio: the same of the quotient of the shares.
        highest_ratio: the highest quotient.
    """

    column: str
    mean: float
    highest: float
    mean_ratio: float
    highest_ratio: float


@dataclass(frozen=True, slots=True)
class BayesAttack:
    """Guessing sensitive values by a naive Bayes classifier of the published cells; no model bounds it.

    Attributes:
        column: the sensitive column.
        accuracy: the expected share of victims with a right guess.
        in_class: the same where only values are guessed that the victim's candidates have; None: the format shows no
            candidates.
        baseline: the share of victims who have the value that is most frequent in the release.
        margin: as of `LinkageAttack`.
    """

    column: str
    accuracy: float
    in_class: float | None
    baseline: float
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class AttackReport(Report):
    """Expected success of attacks on a release by a holder of the source.

    Attributes:
        release: ``NAME@VERSION``.
        table: the view.
        source: table that the version was made of.
        format: format of the release.
        victims: rows of the source that the version was made of; ``published`` of them are in it, the others are left
            out.
        published: see there.
        drawn: how many of the published victims were compared, drawn at random; all of them: figures are exact. Else
            means have a margin, and highest and fewest are of the victims drawn.
        unmatched: rows of the source that the version was not made of: they came or changed since, and are no victims.
        boxes: different combinations of published quasi cells.
        counted: unit of a candidate: ``rows`` or ``persons``.
        quasi: the columns of which sets are known.
        k: as the release promises.
        linkage: by number of known columns.
        homogeneity: by sensitive column.
        composition: other versions and releases.
        skewness: by sensitive column.
        bayes: by sensitive column.
        not_measured: missing measures, each with the reason.
    """

    release: str
    table: str
    source: str
    format: str
    victims: int
    published: int
    drawn: int
    unmatched: int
    boxes: int
    counted: str
    quasi: tuple[str, ...]
    k: int
    linkage: tuple[LinkageAttack, ...]
    homogeneity: tuple[GuessAttack, ...]
    composition: tuple[CompositionAttack, ...] = ()
    skewness: tuple[SkewnessGain, ...] = ()
    bayes: tuple[BayesAttack, ...] = ()
    not_measured: tuple[str, ...] = field(default=())

    @property
    def margin(self) -> float:
        """The widest margin of a mean."""
        margins = [attack.margin for attack in self.linkage]
        margins += [attack.margin for attack in self.homogeneity]
        return max([*margins, *(attack.margin for attack in self.bayes)], default=0.0)

    @property
    def held(self) -> bool:
        """Whether no linkage exceeds 1/k and no homogeneity 1/l."""
        return not any(attack.exceeded for attack in self.linkage) and not any(
            attack.exceeded for attack in self.homogeneity
        )
