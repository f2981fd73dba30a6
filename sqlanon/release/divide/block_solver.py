"""Tasks of workers on the rows of a block: a method on a table of the block alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines import open_in_worker
from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.methods.base import Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import least_rows
from sqlanon.progress import SilentProgress
from sqlanon.table.domain import Domain
from sqlanon.table.encode import by_code
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.table.work import Packing

    Arrays = Sequence[npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class _Column:
    """Input of methods from a domain: codes, number of rows of each, and positions where codes have an order."""

    domain: Domain
    rows: Longs
    places: Ints

    def load(self, scratch: Scratch) -> Domain:
        import numpy as np

        table = scratch.table(f"domain_{self.domain.code}")
        code = np.arange(len(self.rows), dtype=np.int32)
        scratch.engine.load_arrays(table, {"code": code, "n": self.rows, "pos": self.places})
        return replace(self.domain, table=table)


class _LoadedDomains:
    """The domains of a task's columns in the worker's DuckDB, which all blocks of the task read."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._columns: Sequence[_Column] = ()
        self._scratch: Scratch | None = None
        self._domains: list[Domain] = []

    def load(self, columns: Sequence[_Column]) -> tuple[Scratch, list[Domain]]:
        """The scratch tables of the domains, which replace those of the task before."""
        if self._scratch is None or self._columns is not columns:
            if self._scratch is not None:
                self._scratch.__exit__(None, None, None)
            self._scratch = Scratch(open_in_worker()).__enter__()
            self._domains, self._columns = [column.load(self._scratch) for column in columns], columns
        return self._scratch, self._domains

    def forget(self) -> None:
        """Close the database: the next task of the worker begins anew."""
        open_in_worker().close()
        open_in_worker.cache_clear()
        self._scratch = None


_DOMAINS = _LoadedDomains()


@dataclass(frozen=True, slots=True)
class Solver:
    """A block's name, row ids, words and carried columns -> row ids, classes, words, carried columns.

    The names of two blocks differ by at least as much as the blocks have classes, so that the sum of a name and a
    number of each class within the block is a class of the block alone. Less than 0: the block cannot meet the
    requirements, and has that number for itself.

    Attributes:
        context: the run, without the engine.
        method: name and options of the method.
        columns: of the quasi columns, then of the sensitive columns.
        packing: places of the codes.
        step: the least difference of two names; 0: a block is named by the number of rows before it.
    """

    context: Context
    method: Method
    columns: Sequence[_Column]
    packing: Packing
    step: int

    @classmethod
    def of(cls, context: Context, method: Method, step: int = 0) -> Solver:
        """The method of a run, as it can be sent to workers."""
        import numpy as np

        encoded = context.encoded
        domains = (*encoded.quasi, *encoded.sensitive)
        rows = [np.zeros(domain.codes, np.int64) for domain in domains]
        places = [np.zeros(domain.codes, np.int32) for domain in domains]
        for column, (code, n) in zip(
            rows, by_code(context.scratch, "table/domain_counts", domains, "int64"), strict=True
        ):
            column[code] = n
        lines = [i for i, domain in enumerate(domains) if domain.reading.treatment == "ordered"]
        positions = by_code(context.scratch, "table/domain_positions", [domains[i] for i in lines], "int32")
        for i, (code, pos) in zip(lines, positions, strict=True):
            places[i][code] = pos
        nowhere: Any = None  # a worker has its own
        task_context = replace(
            context,
            scratch=nowhere,
            encoded=replace(encoded, coded=encoded.stage, roles=nowhere, population=None),
            progress=SilentProgress(),
            threads=1,
            listed=False,
            read_again=True,
            secret="",
            release="",
        )
        return cls(
            task_context,
            method,
            [_Column(*column) for column in zip(domains, rows, places, strict=True)],
            encoded.staged.packing,
            step,
        )

    def __call__(self, columns: Arrays) -> Arrays:
        """Divide the rows of a block, and give them in the order of their classes.

        Whoever joins or groups the rows by class then finds a class where the one before was.
        """
        import numpy as np

        block, rid = (column.astype(np.int32, copy=False) for column in columns[:2])
        codes = self.packing.codes(columns[2:])  # type: ignore[arg-type]
        order = np.argsort(rid)
        classes = np.full(len(rid), -1, np.int32)
        classes[order] = self._classes([column[order] for column in codes])
        if self.step and int(classes.max()) >= self.step:
            raise OverflowError("a block has more classes than there are numbers between its name and the next one")
        labels = np.where(classes < 0, -1 - block, block + classes)
        by_class = np.argsort(labels, kind="stable")
        return [column[by_class] for column in (rid, labels, *columns[2:])]

    def _classes(self, codes: list[Ints]) -> Ints:
        import numpy as np

        n, encoded = len(codes[0]), self.context.encoded
        if n < least_rows(self.context.requirements):  # a kernel would not end
            return np.full(n, -1, np.int32)
        try:
            outer, domains = _DOMAINS.load(self.columns)
            with outer.beside() as scratch:
                work: TableRef = scratch.table("work")
                code_arrays = {domain.code: column for domain, column in zip(domains, codes, strict=True)}
                scratch.engine.load_arrays(work, {"rid": np.arange(n, dtype=np.int32), **code_arrays})
                d = len(encoded.quasi)
                encoded_block = replace(
                    encoded, coded=work, rows=n, numbers=0, quasi=tuple(domains[:d]), sensitive=tuple(domains[d:])
                )
                assignment = self.method.assign(replace(self.context, scratch=scratch, encoded=encoded_block))
                statement = scratch.sql("blocks/rows", table=assignment.table, columns=["rid", "class"])
                rows, labels = scratch.fetch_arrays(statement, ["int32", "int32"])
        except (AssertionError, InfeasibleError):  # first errors of kernels
            return np.full(n, -1, np.int32)
        except BaseException:
            _DOMAINS.forget()
            raise
        classes = np.full(n, -1, np.int32)
        classes[rows] = np.unique(labels, return_inverse=True)[1].reshape(-1)
        return classes


@dataclass(frozen=True, slots=True)
class SolverOfOpen:
    """As `Solver`, for rows that have beside the carried columns the name of their partition.

    In a block of a name less than 0 are rows of partitions that cannot be cut: each partition is a class.
    """

    solver: Solver

    def __call__(self, columns: Arrays) -> Arrays:
        """Divide the rows of a block, or take their partitions."""
        block, rid, *sent, part = columns
        return (rid, part, *sent) if block[0] < 0 else self.solver([block, rid, *sent])
