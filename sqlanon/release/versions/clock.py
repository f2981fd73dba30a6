"""The due time of a new version, and the options that a kind of versions refuses; see `choose_version`.

Versions of noisy statistics are paid, so that the clock alone makes them, and exact answers are kept in no table.
"""

from __future__ import annotations

import datetime

from sqlanon.errors import PolicyError
from sqlanon.release.budget.charged import is_noisy_due
from sqlanon.release.catalog.refresh import is_due
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.frozen.choose_lineage import shows_erased_keys
from sqlanon.spec import ReleaseSpec


def waits_for_clock(spec: ReleaseSpec, *, spend: bool) -> bool:
    """Whether a run leaves a release alone that is not due, though it was not asked to."""
    return spec.noisy is not None and not spend


def is_version_due(state: ReleaseState) -> bool:
    """Whether the clock asks for a version, or something that an earlier run left."""
    if state.spec.noisy is not None:
        return is_noisy_due(state)
    entry = state.published
    moment = datetime.datetime.now(datetime.UTC)
    return entry is None or is_due(state.spec, entry, moment) or shows_erased_keys(state)


def refuse_kept_scratch(spec: ReleaseSpec) -> None:
    """Refuse to keep the tables of a run.

    Raises:
        PolicyError: they would have exact answers beside the noisy answers.
    """
    if spec.noisy is not None:
        raise PolicyError(f"{spec.name}: --keep-scratch would keep exact answers beside the noisy ones")
