"""(alpha, k)-anonymity."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.kinds import LISTING
from sqlanon.declared.parameters import Alpha
from sqlanon.declared.records import ByColumn, Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number

ALPHA = RequirementDeclaration(
    name="alpha",
    about="(alpha, k)-anonymity: no value of a sensitive column, or none of those that are listed, makes up more than "
    "this share of a class. `0.5`, or `{max: 0.5, values: [HIV]}`.",
    code="sqlanon.privacy.alpha.requirement:Alpha",
    value=ByColumn(
        Record(
            Alpha,
            {
                "max": Part(Number(Fraction(0), Fraction(1), above=True), at_most=True),
                "values": Part(LISTING, default=()),
            },
            "max",
        )
    ),
    at_most=True,
    joint=True,
    of_persons=True,
)
