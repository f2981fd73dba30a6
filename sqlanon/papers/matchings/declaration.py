"""Matchings of rows with boxes by other solvers (Doka et al. 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.declared.cost import Cost
from sqlanon.declared.method_options import Whole, Word
from sqlanon.methods.freeform.declaration import FREEFORM, MOST_BLOCK, ORDER


def together(options: Mapping[str, object], rows: int, k: int) -> int:
    """Rows that are matched together; the solver `ring` divides a block into classes of fewer than 2 k rows."""
    block = options.get("block", rows)
    assert isinstance(block, int)
    return 2 * k if options.get("solver") == "ring" else block or rows


MATCHINGS = replace(
    FREEFORM,
    name="matchings",
    about="A box of its own for every row as freeform has it, by the other solvers of the paper (Doka et al. 2015).",
    code="sqlanon.papers.matchings.method:Matchings",
    cost=Cost(
        0.25,
        27.0,
        rows=2.0,
        columns=1.3,
        k=1.1,
        worst=4.0,
        column_bytes=12,
        k_bytes=48,
        pair_bytes=16,
        sized=together,
        slower=(("solver", "flow", 8.0),),
    ),
    options=(
        Word("solver", ("greedy", "sortgreedy", "flow", "ring", "mip"), "How rows are matched."),
        ORDER,
        Whole("block", 0, MOST_BLOCK, 0, "Rows that are matched together, at least 2 k; 0: the whole table."),
    ),
    after="freeform",
    replaces=("solver",),
)
