"""Method ``mdav`` (Domingo-Ferrer and Mateo-Sanz 2002)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.methods.clustering.declaration import BLOCK, CLUSTERED, WITH_BOXES

MDAV = MethodDeclaration(
    "mdav",
    "Clusters around the rows farthest from the mean (Domingo-Ferrer and Mateo-Sanz 2002).",
    "sqlanon.papers.mdav.method:MDAV",
    Cost(0.02, 0.12, rows=1.6, columns=0.8, k=-0.3, worst=4.0, row_bytes=440, column_bytes=52, block="block"),
    (BLOCK,),
    executions=("kernel",),
    formats=WITH_BOXES,
    limits=CLUSTERED,
    unites=True,
    after="kmember",
)
