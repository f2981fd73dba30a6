"""The better of two starts (ours): the classes of the cascade, or those of `tree` with ``refine: true``.

The cascade groups by values that are equal. Where hardly any are, classes that a tree makes of similar rows, and that
exchange rows afterwards, agree more often.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.declared.trials import count_trials
from sqlanon.methods.base import Assignment, Context
from sqlanon.privacy.base import least_rows, shapes_beyond_rows
from sqlanon.spec import MethodSpec, RefineSpec

if TYPE_CHECKING:
    from fractions import Fraction

    from sqlanon.methods.method import Method

MOST_ROWS = 20_000
"""Rows up to which the other start is tried."""
FAR = 2
"""A note says where a start hides so many times as many values as the other."""


def make_other_start() -> Method:
    """The method whose refined classes are compared with the cascade's."""
    from sqlanon.methods.method import make_method

    return make_method(MethodSpec("tree"))


def choose_better(context: Context, cascade: Assignment) -> Assignment:
    """The classes that hide fewer values, of equal ones the cascade's; the tables of the others are dropped.

    Args:
        context: the run; it suppresses no row, as only one class of the cascade can be capped.
        cascade: its classes.

    Cost: `tree` with the passes and trials of ``refine: true``, and two groupings of the rows by class.
    """
    from sqlanon.methods.best.loss import Losses

    requirements, encoded = context.requirements, context.encoded
    least = max([least_rows(requirements)] + [-(-shape.p // shape.q) for shape in shapes_beyond_rows(requirements)])
    refining = RefineSpec(search=count_trials(encoded.rows, least, len(encoded.quasi)))
    losses, scratch = Losses(context, "stars"), context.scratch
    cascade_loss = losses.of(cascade)
    # Methods call their tables alike, so that each has a place of its own.
    with scratch.beside() as place:
        inner = replace(context, scratch=place, execution="auto", refine=refining, listed=False, read_again=True)
        tree = make_other_start().assign(inner)
        tree_loss = losses.of(tree)
        notes = _describe(cascade_loss, tree_loss)
        if tree_loss >= cascade_loss:
            return replace(cascade, notes=(*cascade.notes, *notes))
        kept_table = scratch.table("better")
        scratch.execute("best/kept", kept=kept_table, origin=tree.table, columns=["rid", "class"])
    scratch.drop(cascade.table)
    # The phase says how the classes of TP came about; the bound holds for any classes.
    search = {name: figure for name, figure in cascade.search.items() if name != "phase"}
    return replace(
        tree,
        table=kept_table,
        execution=cascade.execution,
        notes=(*tree.notes, *notes),
        spans=None,
        shared=None,
        search=search,
    )


def _describe(cascade: Fraction, tree: Fraction) -> tuple[str, ...]:
    """What the owner should know of the two numbers of hidden values."""
    results = [(cascade, "the cascade"), (tree, "tree with refine")]
    (least, least_result), (most, other_result) = sorted(
        results, key=lambda pair: pair[0]
    )  # of equal ones the cascade is first
    far = most > least and most >= FAR * least
    if least_result == "the cascade" and not far:
        return ()
    times = f", {float(most / least):.1f} times as many" if far and least else ""
    return (f"suppress: {least_result} hides {least} values, and {other_result} {most}{times}",)
