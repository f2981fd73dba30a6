"""Anatomy (Xiao and Tao 2006)."""

from __future__ import annotations

from sqlanon.declared.asked import Asked, Refused
from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.lack import never
from sqlanon.methods.shared.declaration import NO_BOUND, NO_POPULATION, ROWS_ALONE

_BESIDE = "or use tree or mondrian (format: anatomy takes their classes as well)"


def groups_of_one_column(asked: Asked) -> Refused | None:
    """Groups are made of the values of one sensitive column."""
    if asked.sensitive == 1:
        return None
    what = f"anatomy is for one sensitive column, and there are {asked.sensitive}"
    return Refused(what, _BESIDE.removeprefix("or "))


def groups_of_l_rows(asked: Asked) -> Refused | None:
    """A group has l rows of l different values."""
    if asked.distinct_l is not None:
        what = "anatomy takes l, not distinct_l: l rows of a group have l different values"
        return Refused(what, f"ask for l: {asked.distinct_l}, {_BESIDE}")
    if asked.l is None:
        return Refused("anatomy makes groups of l rows", f"ask for l, such as l: 2, {_BESIDE}")
    if asked.l.denominator != 1 or asked.l < 2:
        what = f"anatomy makes groups of l rows, so that l is a whole number of at least 2, not {float(asked.l):g}"
        return Refused(what, f"ask for l: {max(-(-asked.l.numerator // asked.l.denominator), 2)}, {_BESIDE}")
    if asked.k > asked.l:
        what = f"anatomy makes groups of l = {asked.l} rows, fewer than k = {asked.k}"
        return Refused(what, f"ask for l: {asked.k}, {_BESIDE}")
    return None


ANATOMY = MethodDeclaration(
    "anatomy",
    "Random groups of l different sensitive values (Xiao and Tao 2006).",
    "sqlanon.methods.anatomy.method:Anatomy",
    Cost(0.02, 0.0075, columns=0.65),
    requirements=("k", "l"),
    other_requirements=never("a group is l rows of l different values"),
    maximizes=NO_BOUND,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    rules=(groups_of_one_column, groups_of_l_rows),
    instead="tree or mondrian (format: anatomy takes their classes as well)",
)
