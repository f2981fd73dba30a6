"""Thresholds of guidelines, with their sources: the meaning of `threshold: NAME`.

A guideline's number is the rounded risk of a smallest group: 0.09 is 1/11. It is compared as that fraction, so that a
group of 11 rows is within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final


@dataclass(frozen=True, slots=True)
class Preset:
    """A guideline's threshold.

    Attributes:
        risk: the number; None: it has none, and users choose a number and say why.
        source: where it is written.
        about: the request, in a few words.
    """

    risk: Fraction | None
    source: str
    about: str


ELEVEN: Final = Fraction(1, 11)

ROUNDED: Final[Mapping[Fraction, Fraction]] = {Fraction(9, 100): ELEVEN, Fraction(33, 100): Fraction(1, 3)}
"""Risks of a group of 11 and of 3 rows as guidelines write them, and their exact values."""

PRESETS: Final[Mapping[str, Preset]] = {
    "ema0070": Preset(
        ELEVEN,
        "European Medicines Agency, External guidance on the implementation of Policy 0070 (EMA/90915/2016), chapter "
        "3 on anonymisation: 0.09 for data that are published",
        "0.09: groups of 11",
    ),
    "health_canada": Preset(
        ELEVEN,
        "Health Canada, Public Release of Clinical Information: guidance document, section on anonymization: 0.09",
        "0.09: groups of 11",
    ),
    "cell11": Preset(
        ELEVEN,
        "Centers for Medicare and Medicaid Services, cell size suppression policy: no cell of 10 or fewer is shown",
        "cells of 11",
    ),
    "hipaa": Preset(
        None,
        "45 CFR 164.514(b)(1), expert determination: the risk is very small; the regulation has no number",
        "very small, by the number that the expert chooses",
    ),
    "ico": Preset(
        None,
        "Information Commissioner's Office, Anonymisation guidance: identification is not reasonably likely, judged "
        "by a motivated intruder; the guidance has no number",
        "not reasonably likely, by the number that is chosen",
    ),
}
