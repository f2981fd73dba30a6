"""Specification of a column of a release: role, hierarchy and recoding, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["identifier", "pseudonym", "quasi", "sensitive", "insensitive"]
RuleKind = Literal["steps", "calendar", "prefix", "mask"]

ROLES: tuple[Role, ...] = ("identifier", "pseudonym", "quasi", "sensitive", "insensitive")
MAX_WEIGHT = 1024
"""Weights of one release sum to at most this, so that rows x weight x extent fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A taxonomy tree over a column's values, read from a CSV in ARX's format, or built.

    Attributes:
        name: where it came from (a path, a table, a rule), for messages.
        levels: one tuple a leaf: ``(leaf, parent, ..., root)``, all of equal length, leaves in
            in-order traversal, so that every node covers consecutive leaves.
    """

    name: str
    levels: tuple[tuple[str, ...], ...]

    @property
    def shown(self) -> str:
        """For messages."""
        return self.name if self.name.startswith("hierarchy ") else f"hierarchy {self.name}"

    @property
    def height(self) -> int:
        """The level of the root; of a tree without leaves 1."""
        return len(self.levels[0]) - 1 if self.levels else 1


@dataclass(frozen=True, slots=True)
class Rule:
    """A hierarchy computed from the values that occur: a run makes a `Hierarchy`, and publishes the rule alone.

    Attributes:
        kind: ``steps``: intervals of a number or days of a date; ``calendar``: months, years, ..; ``prefix``: the first
            characters of a text; ``mask``: a text whose last characters are hidden, one more at each level.
        levels: from the leaves up, as text: the steps, the units, the lengths, or the side.
        origin: where steps begin, a number or a date as text; "": 0, or 1970-01-01.
    """

    kind: RuleKind
    levels: tuple[str, ...]
    origin: str = ""

    def __str__(self) -> str:
        text = f"{self.kind} {', '.join(self.levels)}"
        return f"{text} from {self.origin}" if self.origin else text


@dataclass(frozen=True, slots=True)
class HierarchyTable:
    """A hierarchy in a table of the source's database.

    The first column has a leaf, the others its parents, the last one the root.

    Every command that opens the database reads it first, so that all others see a `Hierarchy`.

    Attributes:
        table: ``table`` or ``schema.table`` (parts may be double-quoted).
    """

    table: str


@dataclass(frozen=True, slots=True)
class Recode:
    """Changes of a quasi column's values before anything else: rounding first, then coding at both ends.

    A hierarchy's substitute for other values is a change as well.

    Attributes:
        bottom, top: values below and above are published as these; None: no such end.
        round: values become the nearest multiple of it, halves the greater one; None: they stay.
        other: values that the column's hierarchy does not list become this leaf of it; None: there are none.
    """

    bottom: str | None = None
    top: str | None = None
    round: str | None = None
    other: str | None = None

    def to_metadata(self) -> dict[str, str]:
        """As metadata have it."""
        values = {"bottom": self.bottom, "top": self.top, "round": self.round, "other": self.other}
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column of the source and its role.

    Attributes:
        name: the column as the source spells it.
        role: use of the column.
        weight: weight in every loss, an integer >= 1 (quasi columns only).
        hierarchy: taxonomy tree, or its source.
        ordered: ``"alphabetical"`` (text by bytes), ``"declared"`` (an enum's own order) or the values in
            order; None lets the type decide: numbers, dates and booleans are ordered, text and enums nominal.
        recode: rounding and coding at both ends, and values that the hierarchy does not list (quasi columns only);
            None: values stay.
        accept_unique: the owner accepts that the column is nearly unique (quasi, sensitive, insensitive).
        accept_repeats: equal values of this identifier are not the same person (names, free text).
        scope: of the person's pseudonym: a name under which releases share tokens; None: the release's own.
        secret: of the person's pseudonym: the environment variable with the key of tokens; None: the
            private schema.
        because: the owner's reason for the role; printed, never interpreted.
    """

    name: str
    role: Role
    weight: int = 1
    hierarchy: Hierarchy | Rule | HierarchyTable | None = None
    ordered: Literal["alphabetical", "declared"] | tuple[str, ...] | None = None
    recode: Recode | None = None
    accept_unique: bool = False
    accept_repeats: bool = False
    scope: str | None = None
    secret: str | None = None
    because: str | None = None
