"""A box of its own for every row (Doka et al. 2015)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import Whole, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import never, notimpl
from sqlanon.methods.shared.declaration import NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE

MOST_BLOCK = 4096
"""Rows of a block of matchings, at most, unless 2 k is more: the cost of a matching is up to their cube."""
BLOCK = 512
"""Rows of a block where none are asked, unless 2 k is more."""


def size_of(block: int, k: int) -> int:
    """Rows of a block: as asked, or by k; 0: not asked.

    >>> size_of(0, 10), size_of(0, 3000), size_of(64, 10)
    (512, 6000, 64)
    """
    return block or max(BLOCK, 2 * k)


def count_matched_together(options: Mapping[str, object], rows: int, k: int) -> int:
    """Rows that are matched together."""
    block = options.get("block", rows)
    assert isinstance(block, int)
    return size_of(block, k)


def block_of_k(request: Request) -> Refusal | None:
    """Fewer than 2 k rows leave the matchings of a block hardly a choice."""
    block = int(request.options["block"])
    if block == 0 or block >= 2 * request.k:
        return None
    what = f"blocks of {block} rows have fewer than 2 k = {2 * request.k}"
    return Refusal(what, f"say {2 * request.k} or more, or leave it out", "block")


ORDER = Word(
    "order",
    ("tree", "hilbert", "lexicographic"),
    "What rows are cut into blocks along; lexicographic: by the columns in ascending number of values, as the paper "
    "does.",
)
CLASSES_ALONE = never("they are about classes, and it makes a box for each row")
ENDS_ALONE = notimpl("its boxes are published as ends and sets")

FREEFORM = MethodDeclaration(
    "freeform",
    "A box of its own for every row, k matchings, one of them drawn by a secret (Doka et al. 2015).",
    "sqlanon.methods.freeform.method:Freeform",
    Cost(
        0.25,
        9.0,
        rows=2.0,
        columns=1.3,
        k=1.1,
        worst=4.0,
        column_bytes=12,
        k_bytes=48,
        pair_bytes=16,
        sized=count_matched_together,
        times="passes",
        once=1,
    ),
    (
        ORDER,
        Whole(
            "block", 0, MOST_BLOCK, 0, "Rows that are matched together, at least 2 k; 0: 512, or 2 k if that is more."
        ),
        Whole("passes", 0, 100, 2, "How often each matching is taken out and made anew."),
    ),
    pushdown=NO_SQL,
    requirements=("k",),
    other_requirements=CLASSES_ALONE,
    maximizes=NO_BOUND,
    formats=("ranges", "labels"),
    other_formats=ENDS_ALONE,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    own_boxes=True,
    rules=(block_of_k,),
    instead="tree",
)
