"""Method ``agglomerative`` (Gionis and Tassa 2007)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.methods.clustering.declaration import BLOCK, CLUSTERED, WITH_BOXES

AGGLOMERATIVE = MethodDeclaration(
    "agglomerative",
    "The two clusters whose union costs least unite first, until the requirements hold (Gionis and Tassa 2007).",
    "sqlanon.papers.agglomerative.method:Agglomerative",
    Cost(
        0.02,
        1.5,
        rows=2.0,
        columns=0.8,
        k=0.3,
        worst=10.0,
        row_bytes=440,
        column_bytes=52,
        block="block",
        flat=6.0,
    ),
    (BLOCK,),
    executions=("kernel",),
    formats=WITH_BOXES,
    limits=CLUSTERED,
    unites=True,
    after="kmember",
)
