"""The methods that the paper compares, as policies name them, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Contender:
    """A method under the paper's name.

    Attributes:
        exact: it publishes exact values, so that no loss of a class is measured.
        marker: how pictures draw it.
    """

    name: str
    method: str
    marker: str
    exact: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


TOPDOWN_ROWS = 50_000
HILB = Contender("Hilb", "hilbert", "o-")
HILB_SAMPLE = Contender("Hilb, TopDown's rows", "hilbert", "o:")
TOPDOWN = Contender("TopDown", "topdown", "x-")
MONDRIAN = Contender("Mondrian", "mondrian:variant=strict,cut=median", "s-")
LOSS_CUT = Contender("Mondrian, loss cut (ours)", "mondrian:variant=strict,cut=loss", "s:")
TREE = Contender("tree (ours)", "tree", "D:")
IDIST = Contender("iDist", "idistance", "^-")

ANONYMOUS = (
    HILB,
    Contender("HilbFast", "hilbert_fast", "o--"),
    IDIST,
    Contender("iDistFast", "idistance_fast", "^--"),
    MONDRIAN,
    LOSS_CUT,
    TREE,
)
"""k-anonymity, Figures 22 to 24. TopDown joins them on a sample, beside Hilb on the same rows."""

DIVERSE = (
    HILB,
    IDIST,
    MONDRIAN,
    LOSS_CUT,
    TREE,
    Contender("Anatomy", "anatomy", "x-", exact=True, more={"format": "anatomy"}),
)
"""l-diversity, Figures 25 to 27 and 29 to 31. Anatomy's exact values have no GCP; its time and its PM compare."""

CORRELATED = DIVERSE[:5]
"""Figure 28."""

DUAL = (
    Contender("AC", "hilbert:solver=ac", "o-"),
    Contender("AC, repaired (ours)", "hilbert", "D:"),
    Contender("AC, iDist", "idistance:solver=ac", "^-"),
    Contender("IPCSD-1D", "hilbert:solver=ipcsd", "o--"),
    Contender("IPCSD-Mondrian", "mondrian:variant=strict,cut=median", "s-"),
)
"""The dual problem, Figures 32 to 34."""
