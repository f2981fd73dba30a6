"""Clusters divided around two far rows (Xu et al. 2006)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import (
    MethodDeclaration,
    Most,
)

TOPDOWN = MethodDeclaration(
    "topdown",
    "Clusters divided around two far rows (Xu et al. 2006).",
    "sqlanon.papers.topdown.method:TopDown",
    Cost(0.035, 2.3, rows=1.5, worst=9.0),
    executions=("kernel",),
    requirements=("k",),
    limits=(Most("rows", 50_000, "tree", "its cost is quadratic"),),
    after="mondrian",
)
