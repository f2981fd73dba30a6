"""The cost of a run for the engines: statements and bytes, as a whole and by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlanon.usage import Part, Usage


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of a stage of a run.

    Attributes:
        stage: name of the stage; ``outside``: locks, and the beginning and the end of transactions.
        seconds: duration; None: it is not measured, outside of the stages.
        statements: texts of SQL that were sent to the engines, each of one statement or of several.
        bytes_read, bytes_written, bytes_shuffled: as those of `RunCost`.
    """

    stage: str
    seconds: float | None
    statements: int
    bytes_read: int | None
    bytes_written: int | None
    bytes_shuffled: int | None


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of a run for the engines; docs/scale.md defines a byte for each of them.

    Attributes:
        statements: texts of SQL that are sent to the engines, each of one statement or of several.
        bytes_read: from tables and files; None: an engine does not say, or it would show how many rows there are.
        bytes_written: into tables and files.
        bytes_shuffled: written by tasks for other tasks; None: the engine has no such tasks, or does not say.
        stages: the same by stage, in the order of a run; empty for an estimate.
    """

    statements: int
    bytes_read: int | None
    bytes_written: int | None
    bytes_shuffled: int | None
    stages: tuple[StageCost, ...] = ()


OUTSIDE_STAGES = "outside"
"""Name of the part between the stages."""


def cost_of(parts: Mapping[Part, Usage], release: str, seconds: Mapping[str, float], *, shown: bool = True) -> RunCost:
    """The cost of a release's run.

    Args:
        parts: usage of the stages of all releases of the run.
        release: the release.
        seconds: of its stages.
        shown: without it bytes are None.
    """
    stages = []
    for part, usage in parts.items():
        if part.release in (release, ""):
            name = part.stage or OUTSIDE_STAGES
            amounts = (usage.read, usage.written, usage.shuffled) if shown else (None, None, None)
            stages.append(StageCost(name, seconds.get(name), usage.statements, *amounts))
    order = [*seconds, OUTSIDE_STAGES]
    stages.sort(key=lambda stage: order.index(stage.stage) if stage.stage in order else len(order))
    return RunCost(
        sum(stage.statements for stage in stages),
        _add(stage.bytes_read for stage in stages),
        _add(stage.bytes_written for stage in stages),
        _add_known(stage.bytes_shuffled for stage in stages),
        tuple(stages),
    )


def _add(amounts: Iterable[int | None]) -> int | None:
    """The sum; None where one is not known."""
    amounts = list(amounts)
    return None if any(amount is None for amount in amounts) else sum(amount or 0 for amount in amounts)


def _add_known(amounts: Iterable[int | None]) -> int | None:
    """The sum of the known amounts; None where none is."""
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) if numbers else None
