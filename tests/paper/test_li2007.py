"""t-closeness.

The salaries and the taxonomy of diseases of Li, Li and Venkatasubramanian 2007 (sections 3 and 4), measured by the
product.
"""

from __future__ import annotations

import uuid
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.declared import REQUIREMENTS
from sqlanon.privacy.base import Grouped
from sqlanon.privacy.closeness.requirement import TCloseness
from tests.engines import create_table

SALARIES = [3, 4, 5, 6, 11, 8, 7, 9, 10]
"""Table 3, in thousands: row 1 to 9."""
DISEASES = Hierarchy(
    "diseases",
    tuple(
        (disease, kind, system, "respiratory and digestive system diseases")
        for disease, kind, system in (
            ("flu", "respiratory infection", "respiratory system diseases"),
            ("pneumonia", "respiratory infection", "respiratory system diseases"),
            ("bronchitis", "respiratory infection", "respiratory system diseases"),
            ("pulmonary edema", "vascular lung diseases", "respiratory system diseases"),
            ("pulmonary embolism", "vascular lung diseases", "respiratory system diseases"),
            ("gastric ulcer", "stomach diseases", "digestive system diseases"),
            ("stomach cancer", "stomach diseases", "digestive system diseases"),
            ("gastritis", "stomach diseases", "digestive system diseases"),
            ("colitis", "colon diseases", "digestive system diseases"),
            ("colon cancer", "colon diseases", "digestive system diseases"),
        )
    ),
)


def measured(
    db: Any, rows: list[tuple[int, Any]], kind: str, asked: str, diseases: Hierarchy = DISEASES
) -> tuple[Fraction, int]:
    """The distance of the farthest class (first column) of a table, and how many are farther than asked."""
    name = f"li_{uuid.uuid4().hex[:10]}"
    create_table(db, name, {"class": "INTEGER", "s": kind}, rows)
    value = REQUIREMENTS["t"].value.read(asked)
    one = TCloseness(
        value.max,
        "s",
        0,
        (),
        value.distance,
        ColumnSpec("s", "sensitive", hierarchy=diseases if kind == "TEXT" else None),
    )
    found = one.measure(db.engine, Grouped(db.engine.relation(name).ref, ("class",), ("s",)))
    return found.reached, found.failing


def classes(*members: list[int]) -> list[tuple[int, int]]:
    """Rows of classes; the salaries that are in none are a class by themselves."""
    rest = [salary for salary in SALARIES if not any(salary in own for own in members)]
    return [(i, salary) for i, own in enumerate([*members, rest]) for salary in own]


def test_ordered_distance_of_salaries(shared_db: Any) -> None:
    """D[{3k, 4k, 5k}, Q] = 0.375 and D[{6k, 8k, 11k}, Q] = 0.167, section 4."""
    assert measured(shared_db, classes([3, 4, 5]), "INTEGER", "3/8 ordered") == (Fraction(3, 8), 0)
    assert measured(shared_db, classes([3, 4, 5]), "INTEGER", "0.374 ordered") == (Fraction(3, 8), 1)
    assert measured(shared_db, classes([6, 8, 11]), "INTEGER", "1/6 ordered") == (Fraction(1, 6), 0)


def test_the_release_of_table_5_is_0167_close_in_salary(shared_db: Any) -> None:
    rows = classes([3, 5, 9], [6, 11, 8], [4, 7, 10])
    assert measured(shared_db, rows, "INTEGER", "1/6 ordered") == (Fraction(1, 6), 0)


@pytest.mark.parametrize(
    ("other", "distance"),
    [("bronchitis", Fraction(1, 3)), ("pulmonary embolism", Fraction(2, 3)), ("stomach cancer", Fraction(1))],
)
def test_hierarchical_distance_of_diseases(shared_db: Any, other: str, distance: Fraction) -> None:
    """From flu: of two classes of one disease each, half of each class's rows are at this distance from the table's."""
    rows = [(0, "flu"), (1, other)]
    assert measured(shared_db, rows, "TEXT", "1 hierarchical") == (distance / 2, 0)


TABLE_5 = (
    ("gastric ulcer", "stomach cancer", "pneumonia"),
    ("gastritis", "flu", "bronchitis"),
    ("gastritis", "bronchitis", "stomach cancer"),
)
"""The diseases of its three classes."""


def test_the_diseases_of_table_5_by_the_distances_of_section_4(shared_db: Any) -> None:
    """7/27, 8/27 and 5/27 by hand.

    The caption's 0.278 is what the second class has where siblings are 1/4 apart, and not 1/3 as in section 4.

    Of the second class 2/9 go from the digestive to the respiratory system, at 1, and 2/9 to a sibling: 2/9 + 2/9 / 3 =
    0.296, but 2/9 + 2/9 / 4 = 0.278.
    """
    own = [(i, disease) for i, diseases in enumerate(TABLE_5) for disease in diseases]
    assert measured(shared_db, own, "TEXT", "8/27 hierarchical") == (Fraction(8, 27), 0)
    assert measured(shared_db, own, "TEXT", "7/27 hierarchical") == (Fraction(8, 27), 1)
    assert measured(shared_db, own, "TEXT", "5/27 hierarchical") == (Fraction(8, 27), 2)
    fifth = Hierarchy(
        "diseases", tuple((d, kind, system, f"{system}, all", top) for d, kind, system, top in DISEASES.levels)
    )
    assert measured(shared_db, own, "TEXT", "5/18 hierarchical", fifth) == (Fraction(5, 18), 0)
    assert float(Fraction(5, 18)) == pytest.approx(0.278, abs=0.0005)
