"""First three digits of ZIP codes, as Safe Harbor (45 CFR 164.514(b)(2)(i)(B)) allows them."""

from __future__ import annotations

from typing import Final

RESTRICTED: Final = (
    *("036", "059", "063", "102", "203", "556", "692", "790", "821"),
    *("823", "830", "831", "878", "879", "884", "890", "893"),
)
"""Three-digit prefixes of ZIP codes with 20,000 people or fewer by the census of 2000.

From: Department of Health and Human Services, Guidance Regarding Methods for De-identification of Protected Health
Information (2012), question "May parts or derivatives of any of the listed identifiers be disclosed ..".
"""

INSTEAD: Final = "000"
"""Replacement of these prefixes, and of every text that is not of three digits."""


def zip3_paths() -> list[tuple[str, ...]]:
    """Each prefix that may be published, the first digit, and the root."""
    prefixes = [f"{number:03}" for number in range(1, 1000)]
    return [(prefix, f"{prefix[0]}**", "*") for prefix in prefixes if prefix not in RESTRICTED]
