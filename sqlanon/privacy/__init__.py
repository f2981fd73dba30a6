"""Requirements: what every class of a release must meet. Each is one file with its numeric check and its own query.

A requirement's ``check`` is what methods see (integers over codes); its ``measure`` is a separately written query
over released columns, which feasibility, verify and audit use. A method never grades itself.
"""

from __future__ import annotations

from sqlanon.privacy.base import Measured, Requirement
from sqlanon.privacy.diversity import DistinctDiversity, FrequencyDiversity
from sqlanon.privacy.kanonymity import KAnonymity
from sqlanon.spec import PrivacySpec

REQUIREMENTS: tuple[type[Requirement], ...] = (KAnonymity, FrequencyDiversity, DistinctDiversity)
"""Every kind of requirement; a new one is a file and an entry here."""


def requirements(privacy: PrivacySpec, sensitive: tuple[str, ...]) -> tuple[Requirement, ...]:
    """The requirements that a policy asks for, over the release's sensitive columns, in the policy's order."""
    return tuple(item for kind in REQUIREMENTS for item in kind.asked_by(privacy, sensitive))


__all__ = ["REQUIREMENTS", "Measured", "Requirement", "requirements"]
