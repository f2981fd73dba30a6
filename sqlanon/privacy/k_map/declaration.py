"""k-map."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.kinds import A_TABLE
from sqlanon.declared.parameters import Map
from sqlanon.declared.records import Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number
from sqlanon.privacy.declaration import NO_TALLY_OF_POPULATIONS, OF_ROWS

K_MAP = RequirementDeclaration(
    name="k_map",
    about="k-map: every published cell holds at least k rows of a population table, in which the source is. "
    "`{k: 10, population: public.register}`.",
    code="sqlanon.privacy.k_map.requirement:KMap",
    value=Record(Map, {"k": Part(Number(Fraction(1), whole=True)), "population": Part(A_TABLE)}),
    sensitive=0,
    joint=OF_ROWS,
    tally=NO_TALLY_OF_POPULATIONS,
    population=True,
)
