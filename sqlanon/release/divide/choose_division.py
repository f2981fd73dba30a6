"""The division that a policy asks for on an engine: the only place that asks."""

from __future__ import annotations

from sqlanon.engines.base import Workers
from sqlanon.release.divide.division import Division
from sqlanon.release.divide.executor_blocks import ExecutorBlocks
from sqlanon.release.divide.own_boxes import OwnBoxes
from sqlanon.release.divide.persons_whole import PersonsWhole
from sqlanon.release.divide.token_blocks import TokenBlocks
from sqlanon.spec import ReleaseSpec


def division_of_run(spec: ReleaseSpec, workers: Workers | None) -> Division:
    """The division of a release; ``workers``: those of the engine."""
    if spec.token is not None:
        return TokenBlocks(spec.token.name)
    if spec.privacy.whole:
        return PersonsWhole()
    if spec.privacy.own_boxes:
        return OwnBoxes(spec)
    return Division() if workers is None else ExecutorBlocks(workers)
