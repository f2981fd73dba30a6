"""Method ``mdav`` (Domingo-Ferrer and Mateo-Sanz 2002)."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.declared.cost import Cost
from sqlanon.methods.clustering.declaration import BLOCK, KMEMBER

MDAV = replace(
    KMEMBER,
    name="mdav",
    about="Clusters around the rows farthest from the mean (Domingo-Ferrer and Mateo-Sanz 2002).",
    code="sqlanon.papers.mdav.method:MDAV",
    cost=Cost(0.02, 0.12, rows=1.6, columns=0.8, k=-0.3, worst=4.0, row_bytes=440, column_bytes=52, block="block"),
    options=(BLOCK,),
    after="kmember",
)
