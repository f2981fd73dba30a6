"""l-diversity, by frequency and by different values."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Integer, Number

L = RequirementDeclaration(
    name="l",
    about="Frequency l-diversity: no value of a sensitive column makes up more than 1/l of a class. "
    'A number of at least 1 or a fraction such as "5/2".',
    code="sqlanon.privacy.diversity.requirement:FrequencyDiversity",
    value=Number(Fraction(1)),
    joint=True,
)

DISTINCT_L = RequirementDeclaration(
    name="distinct_l",
    about="Different values of each sensitive column in a class, at least.",
    code="sqlanon.privacy.diversity.requirement:DistinctDiversity",
    value=Integer(1),
    joint=True,
)
