"""A connection to a database, and the arguments of methods that several parts of it read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from sqlanon import policy
from sqlanon.engines.base import Engine
from sqlanon.progress import Progress
from sqlanon.release.divide.classes import Machine
from sqlanon.workload_spec import WorkloadSpec

if TYPE_CHECKING:
    from types import TracebackType

    from sqlanon.query.find import Names


class ConnectedDatabase:
    """A database that is connected to. A context manager."""

    def __init__(self, engine: Engine, progress: Progress, machine: Machine) -> None:
        self.engine = engine
        self._progress = progress
        self._machine = machine
        self._asked: Names | None = None
        self.namespace = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.engine.close()


def read_workload(workload: str | os.PathLike[str] | WorkloadSpec | None) -> WorkloadSpec | None:
    """A workload, or the contents of the file of this name."""
    return workload if workload is None or isinstance(workload, WorkloadSpec) else policy.load_workload(workload)


def to_sequence(names: str | Sequence[str] | None) -> Sequence[str] | None:
    """Names as a sequence: one name is a sequence of one."""
    return [names] if isinstance(names, str) else names
