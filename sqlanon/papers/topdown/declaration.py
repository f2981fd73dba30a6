"""Clusters divided around two far rows (Xu et al. 2006)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration, SizeLimit
from sqlanon.lack import notimpl
from sqlanon.methods.shared.declaration import NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE

TOPDOWN = MethodDeclaration(
    "topdown",
    "Clusters divided around two far rows (Xu et al. 2006).",
    "sqlanon.papers.topdown.method:TopDown",
    Cost(0.035, 2.3, rows=1.5, worst=9.0),
    pushdown=NO_SQL,
    requirements=("k",),
    other_requirements=notimpl("it looks at the sizes of its clusters alone"),
    maximizes=NO_BOUND,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    limits=(SizeLimit("rows", 50_000, "tree", "its cost is quadratic"),),
    after="mondrian",
)
