"""Values of requirements in policies.

They may be wrong, by several columns, or joint; histories and audits have hashes of values.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.declared.parameters import Alpha
from sqlanon.errors import PolicyError
from sqlanon.policy import release
from tests.contract.value_models import COLUMNS, rows_of
from tests.engines import create_table, read_table
from tests.oracle import models


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"t": 1.5}, "t: too large; a number of at least 0 and at most 1, such as 0.3 or 3/10"),
        ({"t": {"max": -0.1}}, "t: too small"),
        ({"t": "0.2 nearly"}, "t: not a number and words that are known"),
        (
            {"t": "0.2 hierarchical"},
            "t: the column s has no hierarchy; give it a hierarchy, or use distance equal or ordered",
        ),
        ({"recursive_cl": {"c": 0, "l": 2}}, "recursive_cl: too small"),
        ({"recursive_cl": {"c": 3}}, "recursive_cl: l is missing"),
        ({"k_map": {"k": 5, "table": "register"}}, "k_map: unknown key"),
        ({"alpha": 0}, "alpha: too small"),
        ({"alpha": "1.1"}, "alpha: too large"),
        ({"entropy_l": 0.5}, "entropy_l: too small"),
        ({"beta": 2}, "beta: neither basic nor enhanced is said"),
        ({"delta_disclosure": 0}, "delta_disclosure: too small"),
        ({"beta": {"nowhere": 2}}, "beta: "),
    ],
    ids=str,
)
def test_wrong_values_are_one_clear_error(asked: dict[str, Any], message: str) -> None:
    """Refused before any database is opened."""
    with pytest.raises(PolicyError) as refused:
        release(source="t", quasi="q", sensitive="s", k=2, **asked)
    assert str(refused.value).startswith(message)
    assert len(str(refused.value).splitlines()) == 1


def test_values_without_an_order_and_values_that_are_nowhere_are_refused(shared_db: Any, table: str) -> None:
    asked = {"quasi": ["q", "w"], "rest": "drop", "k": 2}
    with pytest.raises(PolicyError, match="t of r: distance ordered needs an order of its values"):
        shared_db.anonymize(table, sensitive="r", t="0.5 ordered", **asked)
    with pytest.raises(
        PolicyError, match="t of r: distance ordered: 1 values are not in the list of ordered"
    ) as refused:
        shared_db.anonymize(table, sensitive="r", t="0.5 ordered", ordered={"r": ["x"]}, **asked)
    assert "'y'" not in str(refused.value)
    with pytest.raises(PolicyError, match="alpha of r: 1 of the listed values occur in no row"):
        shared_db.anonymize(table, sensitive="r", alpha={"max": 0.9, "values": ["x", "X"]}, **asked)
    for order in ("alphabetical", ["y", "x"]):
        found = shared_db.anonymize(
            table, sensitive="r", t="0.5 ordered", ordered={"r": order}, allow_weaker=True, **asked
        )
        assert found.report.classes > 1


def test_several_columns_and_joint(shared_db: Any, table: str) -> None:
    asked = {"quasi": ["q", "w"], "sensitive": ["s", "r"], "k": 2, "joint": True}
    given = {"entropy_l": "3/2", "recursive_cl": {"r": {"c": 9, "l": 1}}, "alpha": "9/10"}
    classes = defaultdict(list)
    found = shared_db.anonymize(table, method="mondrian", execution="pushdown", **asked, **given)
    rows = read_table(shared_db, ("release", table))
    for row in rows:
        classes[tuple(str(value) for name, value in row.items() if name not in ("s", "r"))].append((row["s"], row["r"]))
    assert len(classes) == found.report.classes
    for own in classes.values():
        for at in (0, 1):
            parts = [[one[at] for one in own if one[1 - at] == other] for other in {one[1 - at] for one in own}]
            for values in ([one[at] for one in own], *parts):
                assert models.entropy(Fraction(3, 2))(values, ())
                assert models.alpha(Fraction(9, 10))(values, ())
                assert at == 0 or models.recursive(Fraction(9), 1)(values, ())
    kernel = shared_db.anonymize(table, method="mondrian", execution="kernel", **asked, **given)
    assert kernel.report.requirements == found.report.requirements
    assert sorted(map(str, read_table(shared_db, ("release", table)))) == sorted(map(str, rows))


def test_histories_judge_hashes_of_values(shared_db: Any) -> None:
    """What versions reveal together is measured by a distance that is no smaller, without an order."""
    name = f"models_{uuid.uuid4().hex[:10]}"
    rows = [(*row, i) for i, row in enumerate(rows_of(3))]
    create_table(shared_db, name, {**COLUMNS, "id": "INTEGER"}, rows)
    asked = {
        "quasi": ["q", "w"],
        "sensitive": "s",
        "insensitive": "r",
        "identifiers": "id",
        "key": "id",
        "k": 3,
        "t": "1/4 ordered",
        "alpha": {"max": "0.9", "values": ["1"]},
    }
    shared_db.anonymize(name, **asked)
    shared_db.engine.execute(
        f"INSERT INTO {name} VALUES (3, 'p', 1, 'x', 900), (3, 'q', 1, 'x', 901), (4, 'q', 1, 'x', 902)"
    )
    second = shared_db.anonymize(name, **asked)
    assert second.report.history[0].arrived.failing == 3
    (reported,) = shared_db.history(name)
    assert reported.failing >= 3


def test_audits_do_not_hold_of_values_that_a_table_spells_otherwise(shared_db: Any) -> None:
    """A bound on the share of a listed value that occurs nowhere would be met by every table."""
    name = f"models_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, COLUMNS, rows_of(3))
    made = shared_db.anonymize(
        name, quasi=["q", "w"], sensitive="s", insensitive="r", k=3, alpha={"max": "0.9", "values": ["1"]}
    )
    assert shared_db.audit(f"release.{name}", spec=made.spec).satisfied
    other = replace(made.spec.privacy, more={"alpha": Alpha(Fraction(9, 10), ("1.0",))})
    found = shared_db.audit(f"release.{name}", spec=replace(made.spec, privacy=other))
    assert not found.satisfied
    assert [reason for reason in found.not_measured if "1 of the listed values occur in no row" in reason]
