"""The parameters of requirements that have more than one, as the code of the requirements reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlanon.declared.records import Record, read_pairs


@dataclass(frozen=True, slots=True)
class Alpha:
    """The parameters of (alpha, k)-anonymity; without ``values`` it is about every value."""

    max: Fraction
    values: tuple[str, ...] | str = ()


@dataclass(frozen=True, slots=True)
class Recursive:
    """The parameters of recursive (c, l)-diversity."""

    c: Fraction
    l: int  # noqa: E741 - the paper's symbol


@dataclass(frozen=True, slots=True)
class Beta:
    """The parameters of beta-likeness."""

    kind: str
    max: Fraction


@dataclass(frozen=True, slots=True)
class Delta:
    """The parameters of delta-disclosure privacy."""

    max: Fraction
    absent: str


@dataclass(frozen=True, slots=True)
class Closeness:
    """The parameters of t-closeness."""

    max: Fraction
    distance: str


@dataclass(frozen=True, slots=True)
class Map:
    """The parameters of k-map."""

    k: int
    population: str


@dataclass(frozen=True, slots=True)
class Presence:
    """The parameters of delta-presence: both bounds of the probability of being in the table."""

    min: Fraction
    max: Fraction
    population: str

    def __post_init__(self) -> None:
        if self.min > self.max:
            raise ValueError("min is more than max")


class Likeness(Record):
    """``{basic: x}`` or ``{enhanced: x}``, as the paper names the two."""

    __slots__ = ()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset({"basic", "enhanced", *self.parts})

    @property
    def allowed(self) -> str:
        return f"{{basic: x}} or {{enhanced: x}}, where x is {self.parts['max'].value.allowed}"

    @property
    def schema(self) -> Mapping[str, Any]:
        number = self.parts["max"].value.schema
        kinds = [
            {"type": "object", "properties": {kind: number}, "required": [kind], "additionalProperties": False}
            for kind in ("basic", "enhanced")
        ]
        return {"anyOf": [{"type": "string"}, *kinds]}

    def read(self, value: object) -> Any:  # noqa: ANN401 - see `Record.read`
        pairs = read_pairs(value) if isinstance(value, str) and "=" in value else value
        if isinstance(pairs, Mapping):
            parts = {str(key): item for key, item in pairs.items() if item is not None}
            if set(parts) == {"kind", "max"}:  # as the catalog keeps it
                return super().read(parts)
            if len(parts) == 1 and set(parts) <= {"basic", "enhanced"}:
                ((kind, most),) = parts.items()
                return self.make(kind=kind, max=self.parts["max"].value.read(most))
        raise ValueError("neither basic nor enhanced is said, or both are")
