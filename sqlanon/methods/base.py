"""The interface of methods: arguments (`Context`) and results (`Assignment`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlanon.declared.method_options import Given
from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Requirement
from sqlanon.progress import Progress
from sqlanon.spec import Accuracy, Execution, RefineSpec, SuppressionSpec
from sqlanon.table.domain import Domain
from sqlanon.table.encode import EncodedTable
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs


@dataclass(frozen=True, slots=True)
class Problem:
    """The requirements and options of a method, known before anything is encoded.

    Attributes:
        requirements: of every class; with ``accuracy``, the least that is accepted.
        accuracy: the dual problem's bound, or None.
        quasi, sensitive: the columns.
        rows: rows of the table.
        execution: the requested execution.
        occurrences: asks the table for the rows of every value of a column.
        finite: asks the table whether an ordered column holds neither infinities nor NaN.
        memory: bytes that kernels may use.
        persons: the counted identifiers, where a requirement counts persons.
    """

    requirements: Sequence[Requirement]
    accuracy: Accuracy | None
    quasi: Sequence[Domain]
    sensitive: Sequence[Domain]
    rows: int
    execution: Execution = "auto"
    occurrences: Callable[[Domain], Sequence[int]] = lambda domain: [domain.top]
    finite: Callable[[Domain], bool] = lambda _: True
    memory: int = sys.maxsize
    persons: Sequence[Domain] = ()

    @property
    def counted(self) -> int:
        """Number of columns with codes that requirements count."""
        return len(self.sensitive) + len(self.persons)

    def lacks(self, needed: int) -> str | None:
        """The remedy where ``needed`` bytes are more than kernels may use; None where they are not."""
        if needed <= self.memory:
            return None
        least = (needed >> 20) + 1
        return (
            f"needs {least} MiB of memory for {self.rows} rows and may use {self.memory >> 20}: raise memory to "
            f"{least}MiB"
        )


@dataclass(frozen=True, slots=True)
class Context:
    """A run as a method sees it.

    Attributes:
        scratch: the engine and a place for scratch tables.
        encoded: the work table and the domains.
        requirements: of every class.
        execution: the execution to use; ``auto`` lets the method choose.
        memory: bytes that kernels may use.
        threads: threads that kernels may use.
        progress: gets counts of finished units, and notes.
        seed: for methods that draw at random.
        accuracy: the dual problem's bound, or None.
        suppression: the policy's rules for suppressed rows; None: none.
        most_unassigned: rows that may be suppressed, at most, left out or starred.
        refine: the local pass after the method; None: no pass.
        format: the name of the format of published classes.
        search_seed: for the search of ``refine``: the same in every run where the policy has no seed.
        listed: the assignment may be `Assignment.listed`; set by callers that read no table (rid, class).
        read_again: somebody may read the codes after the method; otherwise it need not leave the work table.
        secret: the key of the release's hashes, for choices that must be random to readers and the same in every run; a
            method that makes boxes of their own gets a key derived from it, which is not the key of the draw.
        release: the name of the release.
    """

    scratch: Scratch
    encoded: EncodedTable
    requirements: Sequence[Requirement]
    execution: Execution
    memory: int
    threads: int
    progress: Progress
    seed: int
    accuracy: Accuracy | None = None
    suppression: SuppressionSpec | None = None
    most_unassigned: int = 0
    refine: RefineSpec | None = None
    format: str = "ranges"
    search_seed: int = 0
    listed: bool = False
    read_again: bool = True
    secret: str = field(default="", repr=False)
    release: str = ""


@dataclass(frozen=True, slots=True)
class Matches:
    """A graph of rows and boxes, the result of a method with boxes of their own.

    The assignment of boxes to rows is drawn afterwards.

    Which of the rows of equal quasi values have which of their places in ``boxes`` the method does not decide: they are
    dealt out by a keyed hash.

    Attributes:
        rid: int32[n], the row ids, in the method's order.
        boxes: int[k, n], k boxes from 0 to n - 1 of each of these rows, no box twice; every box has k rows.
    """

    rid: Ints
    boxes: Ints | Longs


@dataclass(frozen=True, slots=True)
class Assignment:
    """Row -> class, in a scratch table (rid integer, class integer).

    Attributes:
        table: the scratch table; similar classes have near numbers, where the method has an order. With ``matches``
            nobody reads it.
        execution: the execution that was used.
        notes: notes for the owner on the search.
        search: figures of the search, by name, for reports: numbers that hold no value of a cell.
        spans: the boxes of the classes as recode/spans makes them, where a kernel had them at hand; None: recode makes
            them.
        wider: ``spans`` reach further than the rows of their classes.
        divided: rows of equal codes may be in more than one class, or some of them in none; False where the method
            knows that none are.
        shared: with ``divided``, a scratch table (rid integer) that has all rows of every such group of equal codes;
            None: the method does not know.
        unassigned: rows that are not in ``table`` are left out of the release on purpose; otherwise a missing row is an
            error.
        starred: the class of the suppressed rows that are published: every quasi column hidden. It meets every
            requirement as any other class does, and none of the rows is in another class. None: no such class.
        levels: a scratch table of the levels at which classes are published: class integer, then one smallint for each
            quasi code column, of the same name. Level 0 is the value itself, the hierarchy's height the root (``*``); a
            column without hierarchy has level 0 (all rows of the class agree) and 1 (``*``). A NULL level, a class
            without a row, and None: the class's least common node. A class of more leaves than a node at this
            level covers is an error that verify finds.
        refined: the local pass that the context asks for is done.
        listed: ``table`` has one row instead, the classes of all rows in the order of their rid: classes integer[].
        packed: ``table`` has the codes of the rows too, as `sqlanon.table.work.Work.select_packed` makes them.
        matches: every row has a box of its own. None: classes.
    """

    table: TableRef
    execution: str
    notes: tuple[str, ...] = ()
    spans: TableRef | None = None
    wider: bool = False
    divided: bool = True
    shared: TableRef | None = None
    unassigned: bool = False
    starred: int | None = None
    levels: TableRef | None = None
    refined: bool = False
    listed: bool = False
    packed: bool = False
    matches: Matches | None = None
    search: Mapping[str, int] = field(default_factory=dict)


class Algorithm(Protocol):
    """The code of a method; `sqlanon.declared` has the facts that are known without running it.

    It is constructed with all the options of the declaration by name, each with an allowed value.
    """

    def __init__(self, **options: Given) -> None: ...

    def refusal(self, problem: Problem) -> str | None:
        """Reason why this method cannot solve a problem of these data, and an alternative; None if it can.

        Reasons that follow from the policy alone are declared, and not repeated here.
        """

    def assign(self, context: Context) -> Assignment:
        """Compute the assignment."""
