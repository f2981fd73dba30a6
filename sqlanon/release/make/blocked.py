"""Classes made where the rows are: in the workers of an engine, block by block.

Nothing that grows with the rows comes to this process. Blocks along the Hilbert curve are of equally many rows, and their borders are
exact: keys are computed in the workers, places by SQL. Of Mondrian the blocks are the open partitions below the levels that SQL has cut, so
that its classes are those of the whole table. In a worker a block is a table of its own, in a database in memory, which the method divides
as it does any other, with refinement and search. No class has rows of two blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines import connect
from sqlanon.engines.base import Statement, TableRef, Workers
from sqlanon.errors import InfeasibleError
from sqlanon.methods import Method
from sqlanon.methods.base import Assignment, Context
from sqlanon.privacy import beyond_rows
from sqlanon.progress import Silent
from sqlanon.table.encode import Domain, by_code
from sqlanon.table.scratch import Scratch
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Arrays = Sequence[npt.NDArray[np.generic]]

PARTS = 16
"""Rows are numbered in parts of the curve, 2^16 of them at most."""


def assigned(context: Context, method: Method) -> Assignment:
    """What the method assigns: in the engine's workers where that can be, otherwise here.

    Raises:
        InfeasibleError: a block alone cannot meet the requirements.
    """
    workers = context.scratch.engine.workers
    if workers is None or context.encoded.rows <= workers.above or not _divisible(context, method):
        return method.assign(context)
    if method.declaration.in_blocks == "levels":
        return _below_levels(context, method, workers)
    return _along_curve(context, method, workers)


def _divisible(context: Context, method: Method) -> bool:
    """Whether each block can be divided by itself: nothing is asked that the whole table decides."""
    from sqlanon.methods.mondrian.method import MOST_PUSHED

    way = method.declaration.in_blocks
    by_levels = (
        context.refine is None
        and len(context.encoded.quasi) <= MOST_PUSHED
        and all(one.shape.kind != "other" for one in beyond_rows(context.requirements))
    )
    return (
        way is not None
        and (way == "curve" or (by_levels and method.options["variant"] == "strict"))
        and context.execution != "pushdown"
        and context.accuracy is None
        and not context.most_unassigned
        and not context.encoded.persons
        and method.options.get("solver", "auto") == "auto"
        and not any(
            one.compares or one.reads_values or one.across or one.of_population
            for one in context.requirements
        )
    )


def _along_curve(context: Context, method: Method, workers: Workers) -> Assignment:
    from sqlanon.methods.onedim.curves import Hilbert

    scratch, encoded = context.scratch, context.encoded
    quasi = [domain.code for domain in encoded.quasi]
    columns = quasi + [domain.code for domain in encoded.sensitive]
    keys = Hilbert().keys(context)
    names = [f"key{i}" for i in range(keys.words)]
    keyed, places, table = (scratch.table(name) for name in ("keyed", "places", "assign_blocks"))
    workers.map_arrays(
        encoded.codes(),
        _Keys(keys, len(quasi)),
        keyed,
        [("rid", "integer"), *((code, "integer") for code in columns), ("part", "integer"), *((name, "bigint") for name in names)],
    )  # fmt: skip
    context.progress.update(1, 3, "steps: keys")
    blocks = max(encoded.rows // workers.block, 1)
    size = -(-encoded.rows // blocks)
    scratch.execute("blocks/places", places=places, keyed=keyed, size=size)
    context.progress.update(2, 3, "steps: blocks")
    rows = scratch.sql("blocks/along", keyed=keyed, places=places, keys=names, columns=columns, size=size)
    _solve(context, method, workers, rows, table, quasi)
    for used in (keyed, places):
        scratch.drop(used)
    found, unsolved = (int(str(cell)) for cell in scratch.fetch("blocks/solved", solved=table)[0])
    check_rows(encoded.rows, found)
    if unsolved:
        raise InfeasibleError(
            f"{unsolved} of {blocks} blocks of near rows cannot meet the requirements by themselves; ask for less, or use method mondrian"
        )
    spans = scratch.table("spans")
    scratch.execute(
        "recode/spans", spans=spans, classed=table, columns=quasi, sets=[domain.code for domain in encoded.quasi if domain.fits_bits]
    )  # fmt: skip
    context.progress.update(3, 3, "steps: classes")
    notes = (
        (f"{blocks} blocks of near rows are divided each by itself: no class reaches over a border",)
        if blocks > 1
        else ()
    )
    return Assignment(table, "kernel", notes, spans=spans, refined=True)


def _below_levels(context: Context, method: Method, workers: Workers) -> Assignment:
    scratch, encoded = context.scratch, context.encoded
    columns = [domain.code for domain in (*encoded.quasi, *encoded.sensitive)]
    algorithm: Any = method.algorithm
    done, parts, found = algorithm.levels(context, workers.block)
    if not found:
        return Assignment(done, "pushdown")
    solved, table = (scratch.table(name) for name in ("solved", "assign_blocks"))
    rows = scratch.sql("blocks/parted", work=encoded.work, parts=parts, columns=columns)
    _solve(context, method, workers, rows, solved)
    scratch.execute("blocks/finished", assigned=table, done=done, solved=solved)
    for used in (done, parts, solved):
        scratch.drop(used)
    return Assignment(table, "pushdown+kernel")


def _solve(
    context: Context, method: Method, workers: Workers, rows: Statement, table: TableRef, kept: Sequence[str] = ()
) -> None:  # fmt: skip
    """Divide each block in a worker; ``kept``: code columns that the table of classes has as well, the first of the rows'."""
    workers.map_arrays(
        rows,
        _Solver.of(context, method, len(kept)),
        table,
        [("rid", "integer"), ("class", "integer"), *((column, "integer") for column in kept)],
        by="block",
    )


@dataclass(frozen=True, slots=True)
class _Keys:
    """Row ids and codes -> the same, parts of the curve, keys.

    Attributes:
        quasi: how many of the codes the curve goes through, the first ones.
    """

    keys: Any
    quasi: int

    def __call__(self, columns: Arrays) -> Arrays:
        import numpy as np

        codes = np.stack([column.astype(np.int32, copy=False) for column in columns[1 : self.quasi + 1]])
        words = self.keys.of(codes, 1)
        return *columns, (words[0] >> max(self.keys.span.bit_length() - PARTS, 0)).astype(np.int32), *words


@dataclass(frozen=True, slots=True)
class _Column:
    """What methods read of a domain: its codes with the rows of each, and their positions where they have an order."""

    domain: Domain
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.int32]

    def load(self, scratch: Scratch) -> Domain:
        import numpy as np

        table = scratch.table(f"domain_{self.domain.code}")
        code = np.arange(len(self.rows), dtype=np.int32)
        scratch.engine.load_arrays(table, {"code": code, "n": self.rows, "pos": self.places})
        return replace(self.domain, table=table)


@dataclass(frozen=True, slots=True)
class _Solver:
    """A block's name, row ids and codes -> row ids, classes, the first of the codes.

    A block is named by the number of rows before it, and has at least as many rows as classes, so that the sum of its name and a number of
    each class within it is a class of its own. Less than 0: the block cannot meet the requirements, and has that number for itself.

    Attributes:
        context: the run, without its engine.
        method: its name and options.
        columns: of the quasi columns, then of the sensitive ones.
        kept: how many of the codes are given back.
    """

    context: Context
    method: Method
    columns: Sequence[_Column]
    kept: int

    @classmethod
    def of(cls, context: Context, method: Method, kept: int) -> _Solver:
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
        found = by_code(context.scratch, "table/domain_positions", [domains[i] for i in lines], "int32")
        for i, (code, pos) in zip(lines, found, strict=True):
            places[i][code] = pos
        nowhere: Any = None  # a worker has its own
        sent = replace(
            context, scratch=nowhere, encoded=replace(encoded, coded=encoded.stage, roles=nowhere, population=None),
            progress=Silent(), threads=1, listed=False, read_again=True, secret="", release="",
        )  # fmt: skip
        return cls(sent, method, [_Column(*one) for one in zip(domains, rows, places, strict=True)], kept)

    def __call__(self, columns: Arrays) -> Arrays:
        import numpy as np

        block, rid, *codes = (column.astype(np.int32, copy=False) for column in columns)
        order = np.argsort(rid, kind="stable")
        classes = np.full(len(rid), -1, np.int32)
        classes[order] = self._classes([column[order] for column in codes])
        return rid, np.where(classes < 0, -1 - block, block + classes), *codes[: self.kept]

    def _classes(self, codes: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
        import numpy as np

        n, encoded = len(codes[0]), self.context.encoded
        engine = connect("duckdb:///:memory:", threads=1)
        try:
            with Scratch(engine) as scratch:
                domains = [column.load(scratch) for column in self.columns]
                work: TableRef = scratch.table("work")
                named = {domain.code: column for domain, column in zip(domains, codes, strict=True)}
                engine.load_arrays(work, {"rid": np.arange(n, dtype=np.int32), **named})
                d = len(encoded.quasi)
                here = replace(
                    encoded, coded=work, rows=n, numbers=0, quasi=tuple(domains[:d]), sensitive=tuple(domains[d:])
                )  # fmt: skip
                made = self.method.assign(replace(self.context, scratch=scratch, encoded=here))
                read = scratch.sql("blocks/rows", table=made.table, columns=["rid", "class"])
                rows, found = scratch.fetch_arrays(read, ["int32", "int32"])
        except (AssertionError, InfeasibleError):  # what kernels find out first
            return np.full(n, -1, np.int32)
        finally:
            engine.close()
        classes = np.full(n, -1, np.int32)
        classes[rows] = np.unique(found, return_inverse=True)[1].reshape(-1)
        return classes


__all__ = ["assigned"]
