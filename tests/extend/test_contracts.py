"""The contract suites over registries that hold the extensions.

The same tests, with the parameters that extensions add.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Grouped, Measured
from sqlanon.table.scratch import Scratch
from tests.conftest import Connect
from tests.contract import test_audits, test_methods, test_monotone
from tests.contract.assigned import Sample
from tests.contract.axes import Way, contrasting, everywhere, walks
from tests.contract.cases import QI, Case
from tests.contract.samples import NUMBERS, TIES
from tests.contract.test_methods import encoded  # noqa: F401 - a fixture
from tests.engines import PAIR
from tests.extend import people
from tests.extend.installed import installed
from tests.oracle.requirements import Privacy
from tests.shelf import Shelf
from tests.unit import test_formats

DAYS = Case(
    "days",
    {"day": "DATE", "at": "TIMESTAMP"},
    tuple(
        (dt.date(2020, 1, 1 + i % 9) if i % 5 else None, dt.datetime(2021, 2, 3, i % 7, i, 1, 250_000))
        for i in range(30)
    ),
    {"day": QI(), "at": QI()},
    (),
    Privacy(k=3),
)
"""Columns of which the format publishes ends, with NULLs."""


@pytest.fixture(autouse=True)
def extended() -> Iterator[None]:
    """The extensions are there for a test."""
    with installed():
        yield


with installed():
    ASSIGNED = [one for one in everywhere() if one.values[1].method == "leading"]
    RUNS = [one for one in walks() if one.values[1].method == "leading"]


def test_the_suites_pick_the_method_up_on_both_engines() -> None:
    assert {one.values[0].family for one in RUNS} == {one.values[0].family for one in ASSIGNED}
    assert len({one.values[0].family for one in RUNS}) == 2


@pytest.mark.cover("engine way execution", "way sample")
@pytest.mark.parametrize(("engine", "way", "execution", "sample"), ASSIGNED)
def test_the_methods_assignment(
    encoded: Callable[..., Sample],  # noqa: F811 - the fixture
    engine: Any,
    way: Way,
    execution: str,
    sample: Case,
) -> None:
    test_methods.test_assignment_equals_oracle(encoded, engine, way, execution, sample)


@pytest.mark.parametrize(("engine", "way", "execution", "sample"), RUNS)
def test_the_methods_release_and_the_metric(
    connect_module: Any, engine: Any, sample: Case, way: Way, execution: str, tmp_path: Path
) -> None:
    test_methods.test_release_and_report_equal_oracle(connect_module, engine, sample, way, execution, tmp_path)


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_the_order_of_the_source_does_not_matter(
    encoded: Callable[..., Sample],  # noqa: F811 - the fixture
    engine: Any,
) -> None:
    test_methods.test_row_order_does_not_matter(encoded, engine, Way("leading"))


@pytest.mark.parametrize("sample", [NUMBERS, DAYS, TIES], ids=lambda case: case.name)
def test_the_formats_rows(shared_db: Any, sample: Case, tmp_path: Path) -> None:
    """By methods of the package and by that of the extension."""
    for way in (*contrasting()[:1], Way("leading")):
        test_methods.test_formats_equal_oracle(shared_db, sample, way, "ends", tmp_path)


def test_audits_of_the_format(shelf: Shelf, connect_module: Connect, tmp_path: Path) -> None:
    test_audits.test_audit_of_a_release(shelf, connect_module, NUMBERS, "ends", tmp_path)


def test_the_formats_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = [one for one in test_formats.cases("ends") if one[0] == "ordered"]
    monkeypatch.setattr(test_formats, "cases", lambda _: ordered)
    test_formats.test_names_are_found_again_from_the_published_columns("ends")
    test_formats.test_a_cell_is_sql_over_the_published_columns_alone("ends")
    test_formats.test_groups_are_those_of_the_release_or_of_its_second_table("ends")


class AtMost(people.People):
    """At most so many rows: no union of two classes of as many meets it."""

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        scratch.engine.execute(
            f'CREATE TEMPORARY TABLE "{failing.name}" AS SELECT class FROM "{rows.table.name}" GROUP BY class '
            f"HAVING COUNT(*) > {self.asked}"
        )

    def measure(self, *_: Any, **__: Any) -> Measured:
        return Measured(Fraction(1), 1)


def test_what_is_not_monotone_is_found(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = replace(people.DECLARED, code=AtMost, monotone=False)
    monkeypatch.setitem(REQUIREMENTS._known, "people", declared)
    found = test_monotone.found_of(shared_db, "people")
    # Of the 8 rows there can be: 36 pairs of classes of one row; of two rows the pairs but those.
    assert found["1"] == 36
    assert found["2"] == 44 * 45 // 2 - 36
