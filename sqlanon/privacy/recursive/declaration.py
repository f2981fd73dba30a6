"""Recursive (c, l)-diversity."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.parameters import Recursive
from sqlanon.declared.records import ByColumn, Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number

RECURSIVE_CL = RequirementDeclaration(
    name="recursive_cl",
    about="Recursive (c, l)-diversity: the most frequent value of a sensitive column is rarer in a class than c times "
    "all values from the l-th most frequent one on, together. `{c: 3, l: 2}`.",
    code="sqlanon.privacy.recursive.requirement:RecursiveDiversity",
    value=ByColumn(
        Record(
            Recursive,
            {
                "c": Part(Number(Fraction(0), above=True), at_most=True),
                "l": Part(Number(Fraction(1), Fraction(1000), whole=True)),
            },
        )
    ),
    joint=True,
    of_persons=True,
)
