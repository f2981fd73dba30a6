"""Models of values as tests ask them with `person`, each with its definitions over persons and over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.oracle import models as over_rows
from tests.oracle import person_models as over_persons

F = Fraction


@dataclass(frozen=True)
class Model:
    """What is asked of column s, and its definitions over persons and over rows."""

    name: str
    asked: Any
    persons: over_persons.Meets
    rows: Any
    column: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}:{self.asked}{self.column}"

    def policy(self, folder: Path) -> dict[str, Any]:
        """The arguments that ask for it, with the order or hierarchy of s that it needs."""
        asked: dict[str, Any] = {self.name: self.asked}
        if self.column == " by hierarchy":
            file = folder / "s.csv"
            file.write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n", encoding="utf-8")
            asked["hierarchies"] = {"s": file}
        elif self.column:
            asked["ordered"] = {"s": "alphabetical" if self.column == " by bytes" else list(ORDER)}
        return asked


ORDER = "cadb"
LEVELS = {"a": ("a", "ab", "*"), "b": ("b", "ab", "*"), "c": ("c", "cd", "*"), "d": ("d", "cd", "*")}


def as_listed(values: Sequence[Any]) -> Callable[[Any, Any], Fraction]:
    """Ordered distance where the values are in the order of `ORDER`, NULL first."""
    place = {None: None, **{value: i for i, value in enumerate(ORDER)}}
    distance = over_rows.ordered([place[value] for value in values])
    return lambda one, other: distance(place[one], place[other])


def near(most: Fraction, distance: Any) -> tuple[Any, Any]:
    """The definitions of t over persons and over rows."""
    return over_persons.near(most, distance), over_rows.close(most, distance)


MODELS = (
    Model("entropy_l", "5/2", over_persons.entropy(F(5, 2)), over_rows.entropy(F(5, 2))),
    Model("entropy_l", 2, over_persons.entropy(F(2)), over_rows.entropy(F(2))),
    Model("recursive_cl", {"c": 3, "l": 2}, over_persons.recursive(F(3), 2), over_rows.recursive(F(3), 2)),
    Model("recursive_cl", {"c": "1/2", "l": 1}, over_persons.recursive(F(1, 2), 1), over_rows.recursive(F(1, 2), 1)),
    Model("alpha", "1/2", over_persons.alpha(F(1, 2)), over_rows.alpha(F(1, 2))),
    Model(
        "alpha",
        {"max": "2/5", "values": ["b", "d"]},
        over_persons.alpha(F(2, 5), ("b", "d")),
        over_rows.alpha(F(2, 5), ("b", "d")),
    ),
    Model("t", "3/10", over_persons.close(F(3, 10)), over_rows.close(F(3, 10), lambda _: over_rows.equal)),
    Model("t", "1/5 ordered", *near(F(1, 5), over_rows.ordered), " by bytes"),
    Model("t", "1/6 ordered", *near(F(1, 6), as_listed), " as listed"),
    Model("t", "1/4 hierarchical", *near(F(1, 4), lambda _: over_rows.hierarchical(LEVELS)), " by hierarchy"),
    Model("beta", {"basic": 1}, over_persons.beta(F(1), enhanced=False), over_rows.beta(F(1), enhanced=False)),
    Model(
        "beta", {"enhanced": "3/2"}, over_persons.beta(F(3, 2), enhanced=True), over_rows.beta(F(3, 2), enhanced=True)
    ),
    Model(
        "delta_disclosure", "3/2", over_persons.delta(F(3, 2), ignored=False), over_rows.delta(F(3, 2), ignored=False)
    ),
    Model("delta_disclosure", "1 ignored", over_persons.delta(F(1), ignored=True), over_rows.delta(F(1), ignored=True)),
)
