"""Entropy l-diversity."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.records import ByColumn
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number

ENTROPY_L = RequirementDeclaration(
    name="entropy_l",
    about="Entropy l-diversity: the entropy of a sensitive column in a class is at least that of l equally frequent "
    "values.",
    code="sqlanon.privacy.entropy.requirement:EntropyDiversity",
    value=ByColumn(Number(Fraction(1))),
    joint=True,
    of_persons=True,
)
