"""Classes made where the rows are: in the workers of an engine, block by block.

Nothing that grows with the rows comes to this process. Blocks along the Hilbert curve are of equally many rows, and
their borders are exact: keys are computed in the workers, places by SQL. Of Mondrian the blocks are the open partitions
below the upper levels of the tree, so that classes are those of the whole table. Codes of a row are sent in few
integers, and beside them the link, where it cannot be made of the codes: staged rows need not be joined with their
classes. In a worker a block is a separate table, in a database in memory, which the method divides as it does any
other, with refinement and search. No class has rows of two blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Statement, TableRef, Workers
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError, InfeasibleError
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import beyond_rows
from sqlanon.release.divide.block_solver import Keys, Solver
from sqlanon.release.divide.division import DividedRows, Division, DivisionKeys, of_classes
from sqlanon.table.class_rows import list_carried
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    from sqlanon.table.work import Packing


def assign_blocks(context: Context, method: Method, workers: Workers) -> Assignment:
    """The method's assignment, computed in the engine's workers if possible, otherwise here.

    Raises:
        InfeasibleError: a block alone cannot meet the requirements.
    """
    # Rows in memory of this process are not where the workers are.
    if (
        context.scratch.engine.workers is None
        or context.encoded.rows <= workers.above
        or not _divisible(context, method)
    ):
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
        and all(requirement.shape.kind != "other" for requirement in beyond_rows(context.requirements))
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
            requirement.compares or requirement.reads_values or requirement.across or requirement.of_population
            for requirement in context.requirements
        )
    )


def _along_curve(context: Context, method: Method, workers: Workers) -> Assignment:
    from sqlanon.methods.onedim.curves import Hilbert

    scratch, encoded = context.scratch, context.encoded
    packing, keys, columns = encoded.staged.packing, Hilbert().keys(context), _list_sent(context)
    names = [f"key{i}" for i in range(keys.words)]
    keyed, places, table = scratch.table("keyed"), scratch.small("places"), scratch.table("assign_blocks")
    workers.map_arrays(
        encoded.staged.select_packed(carried=list_carried(encoded)),
        Keys(keys, packing, len(encoded.quasi)),
        keyed,
        [("rid", "integer"), *_type_columns(columns), ("part", "integer"), *((name, "bigint") for name in names)],
    )
    context.progress.update(1, 3, "steps: keys")
    blocks = max(encoded.rows // workers.block, 1)
    size = -(-encoded.rows // blocks)
    scratch.execute("blocks/places", places=places, keyed=keyed, size=size)
    context.progress.update(2, 3, "steps: blocks")
    rows = scratch.sql("blocks/along", keyed=keyed, places=places, keys=names, columns=columns, size=size)
    _solve(context, method, workers, rows, table, columns)
    for scratch_table in (keyed, places):
        scratch.drop(scratch_table)
    solved_rows, unsolved = scratch.numbers("blocks/solved", solved=table)
    check_rows(encoded.rows, solved_rows)
    if unsolved:
        raise InfeasibleError(
            f"{unsolved} of {blocks} blocks of near rows cannot meet the requirements by themselves; ask for less, or "
            "use method mondrian"
        )
    context.progress.update(3, 3, "steps: classes")
    notes = (
        (f"{blocks} blocks of near rows are divided each by itself: no class reaches over a border",)
        if blocks > 1
        else ()
    )
    return Assignment(table, "kernel", notes, spans=_spans(context, table), refined=True, packed=True)


def _below_levels(context: Context, method: Method, workers: Workers) -> Assignment:
    """Mondrian with frequency sets of the upper levels counted by workers.

    If these would be large, or do not suffice, SQL cuts the upper levels.
    """
    from sqlanon.methods.mondrian.worker_levels import can_count

    if method.options["cut"] == "loss" and can_count(context, workers.block):
        return _assign_below(context, method, workers)
    scratch, algorithm = context.scratch, method.algorithm
    finished, parts, parts_left = algorithm.levels(context, workers.block)  # type: ignore[attr-defined]
    if not parts_left:
        return Assignment(finished, "pushdown")
    packed, solved, table = (scratch.table(name) for name in ("packed", "solved", "assign_blocks"))
    columns = _pack(context, packed).words
    rows = scratch.sql("blocks/parted", work=packed, parts=parts, columns=columns)
    _solve(context, method, workers, rows, solved, columns)
    _check_solved(context, solved)
    scratch.execute("blocks/finished", assigned=table, done=finished, solved=solved)
    for scratch_table in (packed, finished, parts, solved):
        scratch.drop(scratch_table)
    return Assignment(table, "pushdown+kernel")


def _assign_below(context: Context, method: Method, workers: Workers) -> Assignment:
    from sqlanon.methods.mondrian.worker_levels import PartitionPlacement, grow_levels

    scratch = context.scratch
    packed, placed, solved, table = (scratch.table(name) for name in ("packed", "placed", "solved", "assign_blocks"))
    packing, columns = _pack(context, packed), _list_sent(context)
    levels = grow_levels(context, workers, packed, workers.block)
    workers.map_arrays(
        scratch.sql("blocks/rows", table=packed, columns=["rid", *columns]),
        PartitionPlacement(packing, levels, len(context.encoded.quasi)),
        placed,
        [("rid", "integer"), *_type_columns(columns), ("block", "integer"), ("open", "integer")],
    )
    scratch.drop(packed)
    _solve(context, method, workers, scratch.sql("blocks/open", placed=placed, words=columns), solved, columns)
    _check_solved(context, solved)
    if not levels.finished:
        scratch.drop(placed)
        return Assignment(solved, "kernel", spans=_spans(context, solved), packed=True)
    scratch.execute("blocks/closed", assigned=table, placed=placed, solved=solved, words=columns)
    for scratch_table in (placed, solved):
        scratch.drop(scratch_table)
    return Assignment(table, "kernel", spans=_spans(context, table), packed=True)


def _check_solved(context: Context, solved: TableRef) -> None:
    """Refuse a partition that a worker could not divide: it meets the requirements, as both halves of every cut do."""
    unsolved = read_integer(context.scratch.fetch("blocks/solved", solved=solved)[0][1])
    if unsolved:
        raise DatabaseError(
            f"executors could not divide {unsolved} partitions; nothing was published. This is a defect of sqlanon"
        )


def _pack(context: Context, packed: TableRef) -> Packing:
    """Make the table of the codes of all rows in words, with the carried columns."""
    staged = context.encoded.staged
    context.scratch.execute_all([staged.select_packed(packed, list_carried(context.encoded))])
    check_rows(context.encoded.rows, context.scratch.count("table/count", source=packed))
    return staged.packing


def _list_sent(context: Context) -> tuple[str, ...]:
    """The columns of a row that go through workers unchanged: the words of the codes, and carried columns."""
    return (*context.encoded.staged.packing.words, *list_carried(context.encoded))


def _type_columns(columns: Sequence[str]) -> list[tuple[str, str]]:
    return [(column, "bigint") for column in columns]


def _solve(
    context: Context, method: Method, workers: Workers, rows: Statement, table: TableRef, sent: Sequence[str]
) -> None:
    """Divide each block in a worker; the table of classes has the columns that are sent with the rows, too."""
    solver = Solver.of(context, method)
    workers.map_arrays(
        rows, solver, table, [("rid", "integer"), ("class", "integer"), *_type_columns(sent)], by="block"
    )


def _spans(context: Context, table: TableRef) -> TableRef:
    """The boxes of classes, from the words of their rows."""
    encoded, spans = context.encoded, context.scratch.table("spans")
    parts = encoded.staged.parts
    context.scratch.execute(
        "recode/spans",
        spans=spans,
        classed=table,
        columns=[domain.code for domain in encoded.quasi],
        sets=[domain.code for domain in encoded.quasi if domain.fits_bits],
        packed=[parts[domain.code] for domain in encoded.quasi],
    )
    return spans


class ExecutorBlocks(Division):
    """Blocks of rows are divided in the engine's ``workers``, where the table is large and the method can."""

    title: ClassVar[str] = "blocks of rows in executors"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def divide(self, context: Context, method: Method, keyed: DivisionKeys) -> DividedRows:
        return DividedRows(of_classes(method, assign_blocks(context, method, self._workers)))
