"""beta-likeness."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.parameters import Beta, Likeness
from sqlanon.declared.records import ByColumn, Part
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number, OneOf
from sqlanon.privacy.declaration import NO_SHARES_WITHIN

BETA = RequirementDeclaration(
    name="beta",
    about="beta-likeness: no value's share of a class exceeds its share of the release by more than beta times that "
    "share (`{basic: 2}`), nor by more than -ln of it (`{enhanced: 2}`).",
    code="sqlanon.privacy.beta.requirement:BetaLikeness",
    compares=True,
    joint=NO_SHARES_WITHIN,
    value=ByColumn(
        Likeness(
            Beta,
            {"kind": Part(OneOf(("enhanced", "basic"))), "max": Part(Number(Fraction(0), above=True), at_most=True)},
        )
    ),
    at_most=True,
    of_persons=True,
)
