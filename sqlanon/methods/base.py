"""What a method gets and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Requirement
from sqlanon.progress import Progress
from sqlanon.spec import Execution
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Context:
    """A run as a method sees it.

    Attributes:
        scratch: the engine and a place for scratch tables.
        encoded: the work table and its domains.
        requirements: what every class must meet.
        execution: which of the method's executions to use; ``auto`` lets it choose.
        memory: bytes that kernels may use.
        threads: threads that kernels may use.
        progress: where to tell how far it is.
        seed: for methods that draw at random.
    """

    scratch: Scratch
    encoded: Encoded
    requirements: Sequence[Requirement]
    execution: Execution
    memory: int
    threads: int
    progress: Progress
    seed: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """Row -> class, in a scratch table (rid integer, class integer); ``execution`` is what was really used."""

    table: TableRef
    execution: str


class Method(Protocol):
    """A published algorithm.

    Attributes:
        name: as policies name it.
        options: the options a policy may set, with their allowed values, the default first.
        executions: the executions it has; the contract tests read this.
    """

    name: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[str, ...]]]
    executions: ClassVar[tuple[Execution, ...]]

    def __init__(self, **options: str) -> None: ...

    def describe(self) -> str:
        """The method with its options, for reports."""

    def statements(self, context: Context) -> Sequence[str]:
        """The SQL that does not depend on the data, for ``plan``."""

    def assign(self, context: Context) -> Assignment:
        """Compute the assignment."""
