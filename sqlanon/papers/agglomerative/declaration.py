"""Method ``agglomerative`` (Gionis and Tassa 2007)."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.declared.cost import Cost
from sqlanon.methods.clustering.declaration import BLOCK, KMEMBER

AGGLOMERATIVE = replace(
    KMEMBER,
    name="agglomerative",
    about="The two clusters whose union costs least unite first, until the requirements hold (Gionis and Tassa 2007).",
    code="sqlanon.papers.agglomerative.method:Agglomerative",
    cost=Cost(
        0.02, 1.5, rows=2.0, columns=0.8, k=0.3, worst=10.0, row_bytes=440, column_bytes=52, block="block", flat=6.0
    ),
    options=(BLOCK,),
    after="kmember",
)
