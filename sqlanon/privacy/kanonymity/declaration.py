"""k-anonymity: rows in a class."""

from __future__ import annotations

from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Integer
from sqlanon.privacy.declaration import OF_ROWS

K = RequirementDeclaration(
    name="k",
    about="Rows in a class, at least; 1 publishes rows as they are. Required, except with `maximize` (see "
    "`at_least`), with the format anatomy, and beside a requirement over a population.",
    code="sqlanon.privacy.kanonymity.requirement:KAnonymity",
    value=Integer(1),
    sensitive=0,
    joint=OF_ROWS,
    nothing=1,
)
