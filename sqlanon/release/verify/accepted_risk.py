"""The policy's threshold: a version whose measured risk is above it is not published."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.errors import PrivacyViolation
from sqlanon.results import RunReport
from sqlanon.results.figures import share
from sqlanon.results.measured_risk import TITLES, exact_risk, read_measured_risk
from sqlanon.spec import ReleaseSpec

_KNOWN: Mapping[str, str] = {"quasi": "the quasi columns", "published": "every published column but the sensitive ones"}


def hold_threshold(spec: ReleaseSpec, report: RunReport) -> tuple[str, ...]:
    """Compare the risk measured on the written tables with the threshold.

    Args:
        spec: the release.
        report: report of the verified version.

    Returns:
        notes with every measured risk and the threshold; empty if the policy has no threshold.

    Raises:
        PrivacyViolation: the risk is above the threshold, or was not measured.
    """
    accepted = spec.threshold
    if accepted is None or not report.rows:
        return ()
    risk = exact_risk(report, accepted.attacker, accepted.over)
    about = f"the risk of {accepted.attacker} by {_KNOWN[accepted.over]}"
    if risk is None:
        raise PrivacyViolation(f"{spec.name}: threshold: {about} was not measured; nothing was published")
    if risk <= accepted.risk:
        risks = read_measured_risk(report).to_dict()
        figures = [f"{title}: {share(risks[key], 1)}" for key, title in TITLES.items() if risks[key] is not None]
        return (f"risk: {'; '.join(figures)}", describe_threshold(spec))
    how = (
        f"groups of at least {accepted.rows} rows or persons are within it: ask for a larger k, or generalize or leave "
        "out columns"
        if accepted.attacker != "marketer"
        else "ask for a larger k"
    )
    raise PrivacyViolation(
        f"{spec.name}: {about} is {share(float(risk), 1)} (1/{float(1 / risk):.4g}), above the threshold "
        f"{share(float(accepted.risk), 1)} ({accepted.risk}); nothing was published. {how[0].upper()}{how[1:]}"
    )


def describe_threshold(spec: ReleaseSpec) -> str:
    """The threshold as a line of text; empty if the policy has none."""
    accepted = spec.threshold
    if accepted is None:
        return ""
    return (
        f"threshold: {share(float(accepted.risk), 1)} ({accepted.risk}) for {accepted.attacker} by "
        f"{_KNOWN[accepted.over]}: {accepted.because}"
    )
