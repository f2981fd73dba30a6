"""Which kind of versions a policy asks for: the only place that asks."""

from __future__ import annotations

from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.divide.division import Division
from sqlanon.release.frozen.choose_lineage import lineage_of_run
from sqlanon.release.stages.work import Version
from sqlanon.release.versions.full import Full
from sqlanon.release.versions.lineage import OfLineage


def version_of_run(state: ReleaseState, division: Division, *, new_lineage: bool = False) -> Version:
    """The kind of the next version.

    Args:
        state: the release.
        division: how rows are divided.
        new_lineage: a new lineage is asked for.

    Raises:
        PolicyError, GuardError, UnsupportedError: see `lineage_of_run`.
    """
    found = lineage_of_run(state, division, anew=new_lineage)
    return Full() if found is None else OfLineage(*found)
