"""Errors of a certificate that does not hold."""

from __future__ import annotations

from sqlanon.errors import PolicyError, PrivacyViolation


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


def make_several_rows_error(release: str) -> PolicyError:
    """The error of versions of a source in which a person has several rows."""
    return PolicyError(
        f"{release}: a person has several rows, and refresh: {{mode: frozen}} is of sources with one row a person: "
        "versions keep numbers and no persons, so that nobody knows whose rows are new, and differences show how many "
        "persons came for the first time. Count a view with one row of each person, such as the first, or leave "
        "refresh out"
    )
