"""Which kind of versions a policy asks for: the only place that asks."""

from __future__ import annotations

from sqlanon.engines.lacks import NOISY, require
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.divide.division import Division
from sqlanon.release.frozen.choose_lineage import lineage_of_run
from sqlanon.release.stages.work import Version
from sqlanon.release.versions.full import Full
from sqlanon.release.versions.lineage import OfLineage
from sqlanon.release.versions.noisy import OfNoisy
from sqlanon.release.versions.statistics import OfStatistics


def version_of_run(
    state: ReleaseState,
    division: Division,
    *,
    new_lineage: bool = False,
    confirmed: bool = False,
    spend: bool = False,
) -> Version:
    """The kind of the next version.

    Args:
        state: the release.
        division: how rows are divided.
        new_lineage: a new lineage is asked for.
        confirmed: nobody has kept counts of the source that were withdrawn.
        spend: a version is paid whatever the clock says.

    Raises:
        PolicyError, GuardError, UnsupportedError: see `lineage_of_run`.
    """
    if spend and state.spec.noisy is None:
        raise PolicyError(f"{state.spec.name}: --spend is for statistics with a budget")
    if state.spec.noisy is not None:
        if new_lineage:
            raise PolicyError(f"{state.spec.name}: --new-lineage is for releases with refresh: {{mode: frozen}}")
        require(state.engine, NOISY, state.spec.name)
        return OfNoisy(spend=spend)
    if state.spec.statistics is not None:
        if new_lineage:
            raise PolicyError(f"{state.spec.name}: --new-lineage is for releases with refresh: {{mode: frozen}}")
        require(state.engine, "statistics", state.spec.name)
        return OfStatistics(state.spec.statistics, confirmed=confirmed)
    lineage_version = lineage_of_run(state, division, anew=new_lineage)
    return Full() if lineage_version is None else OfLineage(*lineage_version)
