"""Declarations of methods of several families."""

from __future__ import annotations

from sqlanon.declared.method_options import Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import never, notimpl

DIVIDE = Word(
    "divide", ("values", "whole"), "Whether rows of equal quasi values may be divided by their sensitive value."
)

NO_POPULATION = notimpl("it divides the rows of the source alone")
NO_BOUND = notimpl("it keeps no bound on the loss")
NO_SQL = notimpl("it goes row by row, and is not written as SQL")
ROWS_ALONE = notimpl("it counts rows, whoever's they are")
BOXES_ALONE = never(
    "format anatomy publishes quasi values as they are, and it chooses what is published in their place"
)


def one_sensitive(request: Request) -> Refusal | None:
    """L is maximized for one sensitive column."""
    if request.maximize != "l" or request.sensitive == 1:
        return None
    what = f"{request.method} maximizes l of one sensitive column, the policy has {request.sensitive}"
    return Refusal(what, "publish each in a release of its own, or maximize k")


def refuse_judged_persons(request: Request) -> Refusal | None:
    """Levels are published as the method chose them, so that groups that fail over persons are not united."""
    if request.whole or not request.judged:
        return None
    what = f"{request.method} looks at rows alone, and would leave classes that fail {', '.join(request.judged)}"
    return Refusal(what, "use tree, hilbert or mondrian, or say persons: whole")
