"""t-closeness."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.parameters import Closeness
from sqlanon.declared.records import ByColumn, Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number, OneOf
from sqlanon.privacy.declaration import NO_SHARES_WITHIN

T = RequirementDeclaration(
    name="t",
    about="t-closeness: the earth mover's distance between the values of a sensitive column in a class and in the "
    "release is at most t. `0.3`, or `{max: 0.2, distance: ordered}`; by column `{diagnosis: 0.3, cost: {max: "
    "0.2, distance: ordered}}`.",
    code="sqlanon.privacy.closeness.requirement:TCloseness",
    compares=True,
    joint=NO_SHARES_WITHIN,
    value=ByColumn(
        Record(
            Closeness,
            {
                "max": Part(Number(Fraction(0), Fraction(1)), at_most=True),
                "distance": Part(OneOf(("equal", "ordered", "hierarchical")), default="equal"),
            },
            "max",
        )
    ),
    at_most=True,
    of_persons=True,
)
