"""Changes of a run for readers, in a line or two."""

from __future__ import annotations

from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.refresh import Decision


def describe_change(decision: Decision, target: Publication) -> str:
    """The decision in a line or two."""
    if decision.previous is None:
        return f"first release: version {target.version}"
    if decision.state == "unchanged":
        settings = len(decision.why) > 1  # who reads, how many versions stay
        return (
            f"unchanged since version {decision.previous.version}: {'no new version' if settings else 'nothing to do'}"
        )
    if decision.replaced is None:
        return f"version {target.version}: {decision.state}, nothing is published now"
    return f"version {target.version} replaces {decision.previous.version}: {decision.state}"
