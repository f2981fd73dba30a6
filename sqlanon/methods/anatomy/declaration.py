"""Anatomy (Xiao and Tao 2006)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import never
from sqlanon.methods.shared.declaration import NO_BOUND, NO_POPULATION, ROWS_ALONE

_BESIDE = "or use tree or mondrian (format: anatomy takes their classes as well)"


def groups_of_one_column(request: Request) -> Refusal | None:
    """Groups are made of the values of one sensitive column."""
    if request.sensitive == 1:
        return None
    what = f"anatomy is for one sensitive column, and there are {request.sensitive}"
    return Refusal(what, _BESIDE.removeprefix("or "))


def groups_of_l_rows(request: Request) -> Refusal | None:
    """A group has l rows of l different values."""
    if request.distinct_l is not None:
        what = "anatomy takes l, not distinct_l: l rows of a group have l different values"
        return Refusal(what, f"ask for l: {request.distinct_l}, {_BESIDE}")
    if request.l is None:
        return Refusal("anatomy makes groups of l rows", f"ask for l, such as l: 2, {_BESIDE}")
    if request.l.denominator != 1 or request.l < 2:
        what = f"anatomy makes groups of l rows, so that l is a whole number of at least 2, not {float(request.l):g}"
        return Refusal(what, f"ask for l: {max(-(-request.l.numerator // request.l.denominator), 2)}, {_BESIDE}")
    if request.k > request.l:
        what = f"anatomy makes groups of l = {request.l} rows, fewer than k = {request.k}"
        return Refusal(what, f"ask for l: {request.k}, {_BESIDE}")
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
