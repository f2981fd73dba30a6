"""Limits on the drift of a lineage from its source; beyond them a run stops.

They are `max_stale`, `max_retained`, `max_waiting` and `max_age`.
"""

from __future__ import annotations

from sqlanon.errors import PrivacyViolation
from sqlanon.results import LineageReport
from sqlanon.shell import command
from sqlanon.spec import ReleaseSpec


def hold(spec: ReleaseSpec, rows: int, report: LineageReport, too_long: str | None) -> None:
    """Stop a version that has drifted too far.

    Args:
        spec: the release.
        rows: number of rows of the source.
        report: the version.
        too_long: start of the wait of a row that waits longer than ``max_age``; None without such a row.

    Raises:
        PrivacyViolation: a limit is exceeded; the text has the figures and the choices.
    """
    refresh = spec.refresh
    shares = (
        (
            "max_stale",
            refresh.max_stale,
            report.stale,
            report.published,
            "published rows have other values in the source",
        ),
        (
            "max_retained",
            refresh.max_retained,
            report.retained,
            report.published,
            "published rows are no longer in the source",
        ),
        ("max_waiting", refresh.max_waiting, report.unpublished, rows, "rows of the source are not published"),
    )
    problems = [
        f"{name} allows {float(most):.4g}, and {count} of {of} {what} ({count / of:.4g})"
        for name, most, count, of, what in shares
        if most is not None and count > most * of
    ]
    if too_long:
        problems.append(f"max_age allows {_span(refresh.max_age or 0)}, and a row waits since {too_long}")
    if problems:
        raise PrivacyViolation(
            f"{spec.name}: {'; '.join(problems)}; {report.waiting} rows wait for their cohort, "
            f"{report.for_new_lineage} for a new lineage. The published version stays. Choices: run --new-lineage, "
            "which publishes all rows anew and reports what that reveals beside the versions before; a smaller "
            "cohort; or a higher limit"
        ).with_advice("--new-lineage")


def require_kept_rows(spec: ReleaseSpec, report: LineageReport) -> None:
    """Stop a version with new rows only: they may be the published rows by other keys.

    Raises:
        PrivacyViolation: rows would enter, and no published row would stay.
    """
    if report.left and report.published == report.entered > 0:
        raise PrivacyViolation(
            f"{spec.name}: none of the {report.left} published rows would stay, as the source has none of their keys, "
            f"and {report.entered} rows would be published: if these are the same ones by other keys, they would be "
            "published a second time. The published version stays. Choices: give the source the keys that it had; or "
            "run --new-lineage, which reports what old and new versions reveal together"
        ).with_advice("--new-lineage")


def require_rows(spec: ReleaseSpec, report: LineageReport, *, erasing: bool = False) -> None:
    """Stop a version without rows.

    Args:
        spec: the release.
        report: the version.
        erasing: the version erases keys.

    Raises:
        PrivacyViolation: no row would stay published.
    """
    if report.published:
        return
    if erasing:
        what = "every class holds one of these keys, or its rows are no longer in the source; nothing was erased"
        choice = f"{command('unpublish', spec.name)} withdraws the release; then erase the keys"
    else:
        what = "the source has no row of the published classes any more, and no cohort is published"
        choice = f"check the source; {command('unpublish', spec.name)} withdraws the release"
    raise PrivacyViolation(f"{spec.name}: no row would stay published: {what}. The published version stays. {choice}")


def _span(seconds: int) -> str:
    """A time as a policy writes it."""
    unit, name = next((unit, name) for unit, name in ((86400, "d"), (3600, "h"), (60, "m")) if seconds % unit == 0)
    return f"{seconds // unit}{name}"
