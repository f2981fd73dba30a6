"""Method ``mdav`` (Domingo-Ferrer and Mateo-Sanz 2002)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.methods.clustering.declaration import BLOCK, CLUSTERED, WITH_BOXES
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE

MDAV = MethodDeclaration(
    "mdav",
    "Clusters around the rows farthest from the mean (Domingo-Ferrer and Mateo-Sanz 2002).",
    "sqlanon.papers.mdav.method:MDAV",
    Cost(0.02, 0.12, rows=1.6, columns=0.8, k=-0.3, worst=4.0, row_bytes=440, column_bytes=52, block="block"),
    (BLOCK,),
    pushdown=NO_SQL,
    maximizes=NO_BOUND,
    formats=WITH_BOXES,
    other_formats=BOXES_ALONE,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    limits=CLUSTERED,
    unites=True,
    after="kmember",
)
