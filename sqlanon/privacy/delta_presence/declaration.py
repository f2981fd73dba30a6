"""delta-presence."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.kinds import A_TABLE
from sqlanon.declared.parameters import Presence
from sqlanon.declared.records import Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number
from sqlanon.privacy.declaration import NO_TALLY_OF_POPULATIONS, OF_ROWS

DELTA_PRESENCE = RequirementDeclaration(
    name="delta_presence",
    about="delta-presence: for every row of a population table the probability of being in the source is from min to "
    "max. `{min: 0.1, max: 0.5, population: public.register}`; min is 0 where it is left out.",
    code="sqlanon.privacy.delta_presence.requirement:DeltaPresence",
    value=Record(
        Presence,
        {
            "min": Part(Number(Fraction(0), Fraction(1)), default=Fraction(0)),
            "max": Part(Number(Fraction(0), Fraction(1), above=True), at_most=True),
            "population": Part(A_TABLE),
        },
    ),
    sensitive=0,
    joint=OF_ROWS,
    tally=NO_TALLY_OF_POPULATIONS,
    population=True,
)
