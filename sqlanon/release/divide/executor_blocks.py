"""Classes made where the rows are: in the workers of an engine, block by block.

Of the rows a sample of codes comes to this process, at most `MOST_SAMPLED` rows. Blocks are the leaves of a tree of
cuts, which the query goes down that reads the rows. For the methods along an order the tree is that of the sample, with
leaves of near and about equally many rows. Of Mondrian they are the open partitions below the upper levels of the
method's own tree, so that classes are those of the whole table. Codes of a row are sent in few integers, and beside
them the link, where it cannot be made of the codes: staged rows need not be joined with their classes. In a worker a
block is a separate table, in a database in memory, which the method divides as it does any other, with refinement and
search. No class has rows of two blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import TableRef, Work, Workers
from sqlanon.errors import DatabaseError, InfeasibleError
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import beyond_rows, least_rows
from sqlanon.release.divide.block_solver import Solver, SolverOfOpen
from sqlanon.release.divide.block_tree import MOST_LEVELS, BlockTree, cut_sample
from sqlanon.release.divide.division import DividedRows, Division, DivisionKeys, of_classes
from sqlanon.table.class_rows import list_carried
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    from sqlanon.methods.mondrian.worker_levels import Levels
    from sqlanon.table.work import Packing

MOST_NAMES = (1 << 31) - 1
"""Most names of blocks and classes together, which are integers of 32 bits."""
BLOCKS_OF_PARTITION, MOST_OF_PARTITION = 4, 20
"""Open partitions of Mondrian have at most the rows of so many blocks: each level above them is a scan of all rows.

They have more than the first number only where there are as many partitions as tasks, and never more than the second.
"""
CLASSES_OF_BLOCK = 10
"""Blocks are of at least so many times the least rows of a class."""
SAMPLED = 1000
"""So many rows of the sample are in a block: 0.2 % of blocks have a tenth more or fewer rows than is wanted."""
MOST_SAMPLED = 1 << 20
"""Rows of a sample, at most."""


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
    encoded = context.encoded
    least = CLASSES_OF_BLOCK * least_rows(context.requirements)
    blocks = max(encoded.rows // max(workers.block, least), 1)
    tree = _cut_sample(context, blocks)
    step = MOST_NAMES // tree.blocks
    tree.name = [name * step for name in tree.name]
    context.progress.update(1, 2, "steps: borders of blocks")
    staged, rows = encoded.staged, context.scratch.once("packed")
    context.scratch.execute_all([staged.select_packed(rows, list_carried(encoded))])
    table = _solve(context, workers, rows, tree, Solver.of(context, method, step))
    context.scratch.drop(rows)
    spans = _spans(context, table)
    unsolved = _count_unsolved(context, spans)
    if unsolved:
        raise InfeasibleError(
            f"{unsolved} of {blocks} blocks of near rows cannot meet the requirements by themselves; ask for less, or "
            "use method mondrian"
        )
    context.progress.update(2, 2, "steps: classes")
    notes = (
        (f"{blocks} blocks of near rows are divided each by itself: no class reaches over a border",)
        if blocks > 1
        else ()
    )
    return Assignment(table, "kernel", notes, spans=spans, refined=True, packed=True)


def _cut_sample(context: Context, blocks: int) -> BlockTree:
    """The tree of so many blocks, of the rows of a sample.

    Cost: a scan that joins one row in so many with the domains, and the cost of `cut_sample`.
    """
    import numpy as np

    from sqlanon.methods.onedim.axes import make_axes
    from sqlanon.methods.shared.kernel_input import make_geometry

    encoded, staged = context.encoded, context.encoded.staged
    if blocks == 1:
        return cut_sample(np.zeros((len(encoded.quasi), 0), np.int32), [], 1)
    one_in = max(encoded.rows // blocks // SAMPLED, encoded.rows // MOST_SAMPLED, 1)
    words = staged.packing.words
    _, *sample = context.scratch.fetch_arrays(staged.select_packed(one_in=one_in), ["int32"] + ["int64"] * len(words))
    codes = np.stack(staged.packing.codes(sample)[: len(encoded.quasi)])  # type: ignore[arg-type]
    return cut_sample(codes, make_axes(context, make_geometry(context)), blocks)


def _count_fitting(rows: int, workers: Workers) -> int:
    """Most rows of a partition that a worker divides."""
    least, most = (blocks * workers.block for blocks in (BLOCKS_OF_PARTITION, MOST_OF_PARTITION))
    return min(max(rows // workers.tasks, least), most)


def _below_levels(context: Context, method: Method, workers: Workers) -> Assignment:
    """Mondrian with frequency sets of the upper levels counted by workers.

    If these would be large, or do not suffice, SQL cuts the upper levels.
    """
    from sqlanon.methods.mondrian.worker_levels import can_count

    fits = _count_fitting(context.encoded.rows, workers)
    if method.options["cut"] == "loss" and can_count(context, fits):
        return _assign_below(context, method, workers, fits)
    scratch, algorithm = context.scratch, method.algorithm
    finished, parts, parts_left = algorithm.levels(context, fits)  # type: ignore[attr-defined]
    if not parts_left:
        return Assignment(finished, "pushdown")
    packed, solved, table = (scratch.table(name) for name in ("packed", "solved", "assign_blocks"))
    columns = _pack(context, packed).words
    rows = scratch.sql("blocks/parted", work=packed, parts=parts, columns=columns)
    classes = [("rid", "integer"), ("class", "integer"), *_type_columns(columns)]
    workers.map_arrays(
        rows, Solver.of(context, method), solved, classes, by="block", groups=context.encoded.rows // fits
    )
    _refuse_unsolved(scratch.numbers("blocks/solved", solved=solved, counted=False)[1])
    scratch.execute("blocks/finished", assigned=table, done=finished, solved=solved)
    for scratch_table in (packed, finished, parts, solved):
        scratch.drop(scratch_table)
    return Assignment(table, "pushdown+kernel")


def _assign_below(context: Context, method: Method, workers: Workers, fits: int) -> Assignment:
    from sqlanon.methods.mondrian.worker_levels import grow_levels

    scratch, encoded = context.scratch, context.encoded
    packed = scratch.table("packed")
    _pack(context, packed)
    levels = grow_levels(context, workers, packed, fits, MOST_LEVELS)
    tree = _place_partitions(levels, encoded.rows // fits + 1)
    table = _solve(context, workers, packed, tree, SolverOfOpen(Solver.of(context, method)))
    scratch.drop(packed)
    spans = _spans(context, table)
    _refuse_unsolved(_count_unsolved(context, spans))
    return Assignment(table, "kernel", spans=spans, packed=True)


def _place_partitions(levels: Levels, others: int) -> BlockTree:
    """The tree that places rows: the block is the name of the partition, if that is open.

    Rows of other partitions, which may be large, are in blocks of any rows, with numbers less than 0. The name of the
    partition goes with each row.

    Args:
        levels: the tree.
        others: number of blocks of rows of partitions that are not open.
    """
    import numpy as np

    tree, part = levels.tree, levels.begin
    name, spread = np.where(levels.open, part, -others), np.where(levels.open, 1, others)
    return BlockTree.of(tree.attribute, tree.cut, tree.left, name, spread, part)


def _count_unsolved(context: Context, spans: TableRef) -> int:
    """How many blocks a worker could not divide, of the boxes of the classes.

    Raises:
        DatabaseError: the classes have fewer or more rows than were staged.
    """
    solved_rows, unsolved = context.scratch.numbers("blocks/solved", solved=spans, counted=True)
    check_rows(context.encoded.rows, solved_rows)
    return unsolved


def _refuse_unsolved(unsolved: int) -> None:
    """Refuse a partition that a worker could not divide: it meets the requirements, as both halves of every cut do."""
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


def _solve(context: Context, workers: Workers, rows: TableRef, tree: BlockTree, solve: Work) -> TableRef:
    """Divide each block in a worker; the table of classes has the columns that are sent with the rows, too.

    Args:
        context: the run.
        workers: of the engine.
        rows: row ids, words and carried columns.
        tree: places rows in blocks.
        solve: divides the rows of a block.
    """
    scratch, sent = context.scratch, _list_sent(context)
    table = scratch.table("assign_blocks")
    placed = tree.read_placed(scratch, rows, sent, context.encoded.staged.packing)
    classes = [("rid", "integer"), ("class", "integer"), *_type_columns(sent)]
    workers.map_arrays(placed, solve, table, classes, by="block", groups=tree.blocks)
    return table


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
