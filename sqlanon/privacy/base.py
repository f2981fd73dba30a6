"""The shape of a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, Self

from sqlanon.engines.base import Engine, TableRef
from sqlanon.spec import PrivacySpec


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement as integers, for kernels and pushdown.

    Attributes:
        kind: ``rows`` (at least p of them), ``frequency`` (most frequent * p <= rows * q), ``distinct`` (>= p values).
        p, q: the bound.
        value: index of the sensitive column, or -1.
        within: indices of the sensitive columns whose every combination is checked by itself.
    """

    kind: Literal["rows", "frequency", "distinct"]
    p: int
    q: int = 1
    value: int = -1
    within: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many classes a table has, and the rows of the smallest and the largest."""

    classes: int
    smallest: int
    largest: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What a table reaches: the requirement's value over its worst class, and how many classes fail.

    ``sizes`` where the query counted them along the way (k-anonymity's does).
    """

    reached: Fraction
    failing: int
    sizes: Sizes | None = None


class Requirement(Protocol):
    """What every class must meet.

    ``monotone``: where two classes meet it, their union does. Methods that cut top-down rely on it.
    """

    @property
    def name(self) -> str:
        """As reports name it."""

    @property
    def column(self) -> str | None:
        """The sensitive column it is about, or None."""

    @property
    def asked(self) -> Fraction:
        """The value that was asked."""

    @property
    def monotone(self) -> bool:
        """Whether unions of classes that meet it meet it."""

    @classmethod
    def asked_by(cls, privacy: PrivacySpec, sensitive: tuple[str, ...]) -> Sequence[Self]:
        """The requirements of this kind in a policy."""

    def check(self) -> Check:
        """The requirement as integers."""

    def measure(
        self,
        engine: Engine,
        target: TableRef,
        classes: Sequence[str],
        names: Sequence[str],
        count: str | None = None,
    ) -> Measured:
        """Measure a table whose classes are the groups over ``classes``, by a query of its own.

        Args:
            engine: where the table is.
            target: any table with the class columns and the sensitive columns.
            classes: columns that make the classes; empty: the whole table is one class.
            names: what the sensitive columns are called in ``target``, in the policy's order.
            count: a column that says how many rows each row of ``target`` stands for; None: one.
        """
