"""Requirements declared as `monotone`: a union of classes that meet one meets it.

All classes of few rows are tried.
"""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.privacy.base import Shape
from sqlanon.testing.monotone import counterexamples

ASKED = ["1/3", "2/5", "1/2", "2/3", "1", "3/2", "2", "5/2", "3"]
RECORDS = {
    "t": ["0", "1/4", "1/3 ordered", "1/2", "0.6 ordered"],
    "beta": ["basic=1/2", "basic=1", "enhanced=1/2", "enhanced=1"],
    "delta_disclosure": ["0.4", "1", "3/2", "1/2 ignored", "1 ignored", "3/2 ignored"],
    "recursive_cl": ["c=1/2,l=1", "c=1,l=2", "c=3/2,l=2", "c=2,l=1", "c=3,l=2"],
}
"""What is asked of requirements that take no number alone."""


def found_of(db: Any, name: str) -> dict[Any, int]:
    """The counterexamples of a requirement of the registry."""
    return counterexamples(db, REQUIREMENTS[name], RECORDS.get(name, ASKED))


@pytest.mark.cover
@pytest.mark.parametrize("name", [name for name, one in REQUIREMENTS.items() if not one.population])
def test_unions_meet_what_is_monotone(shared_db: Any, name: str) -> None:
    found = found_of(shared_db, name)
    assert len(found) >= 3
    declared = REQUIREMENTS[name]
    for asked, pairs in found.items():
        assert not declared.unites(declared.value.read(str(asked))) or not pairs


@pytest.mark.parametrize("p", [1, 2, 3])
def test_what_every_row_meets_is_trivial(p: int) -> None:
    assert Shape("rows", p).trivial == Shape("frequency", p).trivial == Shape("distinct", p).trivial == (p == 1)
    assert Shape("frequency", 2, 2).trivial
    assert not Shape("frequency", 3, 2).trivial
    assert not Shape("other").trivial
