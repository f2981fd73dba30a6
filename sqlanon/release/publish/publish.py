"""Publishes the versions of a run: writes, verifies and shows them, and adds the catalog rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.errors import PolicyError
from sqlanon.release.catalog.state import read_state
from sqlanon.release.publish.deliveries import DELIVERIES
from sqlanon.release.publish.new_version import NewVersion, make_room
from sqlanon.release.publish.reconcile import clean_up
from sqlanon.results import RunReport


def put_in(parts: Sequence[NewVersion]) -> list[RunReport]:
    """Write, verify and show the version of a release, or those of the tables of one: all of them or none.

    Returns:
        the reports as the catalog has them.

    Raises:
        PrivacyViolation: the written tables fail, or a decision of people refuses them; readers have what they had.
        PolicyError: tables that are published together go to places of different kinds.
    """
    engine, kind = parts[0].state.engine, parts[0].target.kind
    if any(part.target.kind != kind for part in parts):
        raise PolicyError(
            f"{parts[0].state.spec.name}: tables that are published together go to places of one kind, as all into "
            "lake tables or none"
        )
    for part in parts:
        with part.watch.stage("state"):
            state = part.state
            if part is not parts[0]:  # objects made by an earlier part exist now
                now = read_state(engine, state.spec)
                state = replace(state, found=now.found, fresh=now.fresh)
            make_room(state, part.target, part.content.secret)
    delivery = DELIVERIES[kind]
    try:
        return delivery.put(parts)
    except BaseException:
        if delivery.in_steps(engine):
            for part in parts:
                clean_up(engine, part.state.spec.name)
        raise
