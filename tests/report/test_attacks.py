"""The owner's report with attacks: their figures against rows that were counted by hand, and what promises nothing."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.errors import PolicyError
from tests.report.pages import Read, number, released

ROWS = [(1, 20, "a", "flu"), (2, 21, "a", "cold"), (3, 30, "b", "flu"), (4, 31, "b", "flu")]
"""Classes {1, 2} and {3, 4} by k = 2: each known value leaves two candidates."""


def test_figures_of_two_classes(shared_db: Any) -> None:
    name = released(shared_db, ROWS, k=2, l=None)
    assert "Success of attacks" not in Read(shared_db.report(name)).tables
    page = Read(shared_db.report(name, attack=True))
    for attack in ("linkage: 1 value known", "linkage: 2 values known"):
        for title in ("mean", "highest", "promised"):
            assert number(page.column("Success of attacks", title)[attack]) == 0.5
        assert page.column("Success of attacks", "fewest candidates")[attack] == "2 rows"
        assert page.column("Success of attacks", "result")[attack] == "held"
    guess = "homogeneity: ill by class"
    assert number(page.column("Success of attacks", "mean")[guess]) == 0.75
    assert number(page.column("Success of attacks", "highest")[guess]) == 1.0
    assert page.column("Success of attacks", "promised")[guess] == "none"
    gain = "What a class says beyond the table"
    assert number(page.column(gain, "a class adds, mean")["ill"]) == 0.25
    assert page.column(gain, "likelier, at most")["ill"] == "2 times"
    assert number(page.column("Guesses by naive Bayes", "by the table alone")["ill"]) == 0.75
    assert "An attack exceeds" not in page.text


def test_an_altered_view_is_a_warning(shared_db: Any) -> None:
    """A row that is gone from the view leaves one candidate for the other of its class."""
    name = released(shared_db, ROWS, k=2, l=None)
    shared_db.engine.execute(f"CREATE TABLE release.kept_{name} AS SELECT * FROM release.{name}")
    shared_db.engine.execute(f"DELETE FROM release.kept_{name} WHERE ill = 'cold'")
    shared_db.engine.execute(f"DROP VIEW release.{name}")
    shared_db.engine.execute(f"CREATE VIEW release.{name} AS SELECT * FROM release.kept_{name}")
    page = Read(shared_db.report(name, attack=True))
    assert page.column("Success of attacks", "result")["linkage: 2 values known"] == "EXCEEDED"
    assert number(page.column("Success of attacks", "highest")["linkage: 2 values known"]) == 1.0
    assert "An attack exceeds what is promised" in page.text


def test_readers_attack_nothing(shared_db: Any) -> None:
    name = released(shared_db, ROWS, k=2, l=None)
    with pytest.raises(PolicyError, match="a report for readers has no attacks: they need the source"):
        shared_db.report(f"release.{name}", audience="readers", attack=True)
