"""Markers of lacking abilities of engines, methods, formats and requirements, each with the reason.

The markers are in the declarations, and nowhere else: the errors that refuse a policy quote them, docs/what-works.md
and ``sqlanon methods`` are made of them (`sqlanon.report.abilities`), and tests/contract/test_lacks.py executes each of
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["notimpl", "notyet", "never"]
KINDS: dict[Kind, str] = {
    "notimpl": "sqlanon could have it and does not",
    "notyet": "what it needs is missing elsewhere: in the database",
    "never": "it would mean nothing there, or help nobody",
}
"""Meaning of each kind of marker."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A marker; it is false, so that a declaration has it in place of True.

    Attributes:
        kind: see `KINDS`.
        why: the reason, and an alternative where there is one; for people, without a full stop.
    """

    kind: Kind
    why: str

    def __bool__(self) -> Literal[False]:
        return False


Able = Literal[True] | Lack
"""Whether something has an ability: True, or the marker."""


def notimpl(why: str) -> Lack:
    """The marker of an ability that sqlanon could have and does not."""
    return Lack("notimpl", why)


def notyet(why: str) -> Lack:
    """The marker of an ability that a database would have to have first."""
    return Lack("notyet", why)


def never(why: str) -> Lack:
    """The marker of an ability that would mean nothing, or help nobody."""
    return Lack("never", why)


UNDECLARED = notimpl("its declaration does not promise it")
"""Marker for abilities that the declaration of an extension does not mention.

The package's own declarations have a reason instead.
"""
