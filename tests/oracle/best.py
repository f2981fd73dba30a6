"""Method best, naively: the classes of every method that takes what is asked, the first that loses least."""

from __future__ import annotations

from tests.oracle.divisions import gcp
from tests.oracle.domains import Table
from tests.oracle.lattice import local
from tests.oracle.requirements import Privacy

Classes = list[list[int]]


def best(table: Table, privacy: Privacy, tree: Classes, hilbert: Classes) -> Classes:
    """Of the default methods. With more than k asked no class divides rows of equal codes by sensitive value."""
    diverse = bool(table.sensitive) and ((privacy.l or 1) > 1 or (privacy.distinct_l or 1) > 1)
    levels = local(table, privacy, "whole" if diverse else "values")
    return min((tree, hilbert, levels), key=lambda classes: gcp(table, classes))
