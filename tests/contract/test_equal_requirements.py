"""Equal requirements are solved alike: (alpha, k)-anonymity of all values is l-diversity with l = 1 / alpha."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.declared.parameters import Alpha
from sqlanon.privacy.base import beyond_rows
from sqlanon.privacy.requirements import make_requirements
from sqlanon.spec import PrivacySpec

WAYS = (
    {"method": "tree"},
    {"method": "hilbert"},
    {"method": "mondrian"},
    {"method": "mondrian", "execution": "pushdown"},
    {"method": "fulldomain:search=local"},
    {"method": "kmember"},
    {"method": "tree", "refine": True},
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: ",".join(map(str, way.values())))
def test_alpha_of_all_values_gives_the_classes_of_l(shared_db: Any, way: dict[str, Any]) -> None:
    rng = random.Random(4)
    rows = ", ".join(f"({rng.randint(0, 99)}, {rng.randint(0, 9)}, '{rng.choice('aabc')}')" for _ in range(300))
    shared_db.engine.execute("DROP TABLE IF EXISTS equal_asked")
    shared_db.engine.execute("CREATE TABLE equal_asked (x integer, y integer, s varchar(1))")
    shared_db.engine.execute(f"INSERT INTO equal_asked VALUES {rows}")

    def lost(**asked: Any) -> tuple[float, int]:
        found = shared_db.anonymize(
            "equal_asked", quasi=["x", "y"], sensitive="s", k=4, allow_weaker=True, **asked, **way
        )
        assert all(one.satisfied for one in found.report.requirements)
        return found.report.loss.gcp, found.report.classes

    assert lost(l="1.25") == lost(alpha="0.8") == lost(l="1.25", alpha="0.8") == lost(l="1.2", alpha="0.8")


def test_of_bounds_on_the_most_frequent_value_the_strictest_is_left() -> None:
    def left(**asked: Any) -> list[str]:
        more = {"alpha": asked.pop("alpha")} if "alpha" in asked else {}
        return [one.name for one in beyond_rows(make_requirements(PrivacySpec(k=2, **asked, more=more), ("s", "r")))]

    half, third = Alpha(Fraction(1, 2)), Alpha(Fraction(1, 3))
    assert left(l=Fraction(2)) == ["l", "l"]
    assert left(l=Fraction(2), alpha={"s": third}) == ["l", "alpha"]
    assert left(l=Fraction(2), alpha={"s": half, "r": half}) == ["l", "l"]
    assert left(l=Fraction(5, 2), alpha={"s": half, "r": third}) == ["l", "alpha"]
    listed = Alpha(Fraction(1, 3), ("a",))
    assert left(l=Fraction(2), alpha={"s": listed}) == ["l", "l", "alpha"]
    assert left(l=Fraction(2), distinct_l=3) == ["l", "l", "distinct_l", "distinct_l"]
