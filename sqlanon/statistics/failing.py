"""Refusals of a certificate."""

from __future__ import annotations

from sqlanon.errors import PrivacyViolation


def refuse(release: str, what: str, failing: int) -> None:
    """Refuse where a check counts failing things.

    Raises:
        PrivacyViolation: it does.
    """
    if failing:
        raise PrivacyViolation(f"{release}: the certificate fails: {what}: {failing}")


def refuse_each(release: str, names: tuple[str, ...], failing: tuple[int, ...]) -> None:
    """The same of several checks."""
    for name, many in zip(names, failing, strict=True):
        refuse(release, name, many)
