"""Method ``agglomerative`` (Gionis and Tassa 2007)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.methods.clustering.declaration import BLOCK, CLUSTERED, WITH_BOXES
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE

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
