"""Decisions of the people answerable for a release, as frozen values: purpose, accepted risk, reviews.

Nothing here is interpreted but the numbers: texts are stored with the policy, and printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

Attacker = Literal["prosecutor", "journalist", "marketer"]
Over = Literal["quasi", "published"]


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """The circumstances of a release in its owner's words.

    Attributes:
        purpose: use of the data.
        recipients: who gets them.
        environment: where they are used.
        controls: contracts, access rules and logs there.
        other_data: other data of recipients.
        legal_basis: of the processing.
        owner: who answers for the release.
    """

    purpose: str | None = None
    recipients: str | None = None
    environment: str | None = None
    controls: str | None = None
    other_data: str | None = None
    legal_basis: str | None = None
    owner: str | None = None

    def items(self) -> Iterator[tuple[str, str | None]]:
        """The keys in their order, with their texts."""
        for item in fields(self):
            yield item.name, getattr(self, item.name)


@dataclass(frozen=True, slots=True)
class ThresholdSpec:
    """The risk that is accepted, at most.

    Attributes:
        risk: a probability.
        because: why this number.
        attacker: whose risk it bounds.
        over: known columns: every published column but the sensitive ones, or the quasi columns alone.
    """

    risk: Fraction
    because: str
    attacker: Attacker = "prosecutor"
    over: Over = "published"

    @property
    def rows(self) -> int:
        """Rows, or persons, of a group whose risk is not above it.

        >>> ThresholdSpec(Fraction(1, 11), "").rows
        11
        """
        return -(-self.risk.denominator // self.risk.numerator)
