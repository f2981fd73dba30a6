"""The kinds of releases; differences of behaviour are tables of functions by kind, or rules of its versions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReleaseKind:
    """A kind of releases.

    Attributes:
        name: the kind.
        title: the kind in messages, after the release's name.
        has_rows: every published row is made of rows of the source.
        charged: every version is paid from a budget.
    """

    name: str
    title: str
    has_rows: bool = False
    charged: bool = False


ROWS = ReleaseKind("rows", "is a release of rows", has_rows=True)
COUNTS = ReleaseKind("counts", "is a release of counts (statistics)")
NOISY = ReleaseKind("noisy", "has differentially private statistics", charged=True)
KINDS = (ROWS, COUNTS, NOISY)


def kind_of(*, statistics: object, noisy: object) -> ReleaseKind:
    """The kind of a release by the parts of its policy, in a specification or as the catalog has them."""
    return NOISY if noisy else COUNTS if statistics else ROWS
