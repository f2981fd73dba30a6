"""Methods ``idistance`` and ``idistance_fast``, along centres and distances (Ghinita et al. 2009)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration, SizeLimit
from sqlanon.declared.method_options import Whole
from sqlanon.methods.onedim.declaration import FRAMEWORK, OF_EXTENTS, OPTIONS, RULES, list_fast_rules, most_of_sum
from sqlanon.methods.shared.declaration import NO_POPULATION, ROWS_ALONE

MOST_CENTRES = 50_000
"""Centres, at most: as many as the rows that they are found from."""

_CENTRES = Whole("centres", 1, MOST_CENTRES, 512, "Centres that rows are assigned to (the paper's default).")

_AXES = SizeLimit("quasi columns", 127, "tree or hilbert")
"""Squared distances of more columns do not fit 64 bits."""

IDISTANCE = MethodDeclaration(
    "idistance",
    f"Along centres and distances, exact loss ({FRAMEWORK}).",
    "sqlanon.papers.idistance.method:IDistance",
    Cost(0.025, 0.075),
    (*OPTIONS, _CENTRES),
    maximizes=("k", "l"),
    population=NO_POPULATION,
    limits=(_AXES, most_of_sum("minimize=gcp or idistance_fast")),
    rules=RULES,
    persons=True,
    whole=True,
    in_blocks="curve",
    after="hilbert_fast",
)


IDISTANCE_FAST = MethodDeclaration(
    "idistance_fast",
    f"Along centres and distances, extents of distances ({FRAMEWORK}).",
    "sqlanon.papers.idistance.method:IDistanceFast",
    Cost(0.03, 0.065, rows=1.05),
    (*OPTIONS, _CENTRES),
    requirements=("k", "l"),
    other_requirements=OF_EXTENTS,
    maximizes=OF_EXTENTS,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    limits=(_AXES,),
    rules=(*list_fast_rules("idistance"), *RULES),
    instead="idistance",
    in_blocks="curve",
    after="idistance",
)
