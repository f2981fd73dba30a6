"""What requirements declare as `monotone`: unions of classes that meet it meet it. All classes of few rows are tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.privacy.base import Grouped, Shape, Values
from sqlanon.privacy.requirements import class_of
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

ROWS = tuple(product((0, 1), (0, 1), (0, 1)))
"""Every row there can be: two sensitive columns and a person, of two values each."""
SMALL, LARGE = 3, 6
CLASSES = [kind for n in range(1, LARGE + 1) for kind in combinations_with_replacement(range(len(ROWS)), n)]
"""Every class of up to six rows, as sorted numbers of its rows."""
ASKED = [Fraction(text) for text in ("1/3", "2/5", "1/2", "2/3", "1", "3/2", "2", "5/2", "3")]
RECORDS = {
    "t": ["0", "1/4", "1/3 ordered", "1/2", "0.6 ordered"],
    "beta": ["basic=1/2", "basic=1", "enhanced=1/2", "enhanced=1"],
    "delta_disclosure": ["0.4", "1", "3/2", "1/2 ignored", "1 ignored", "3/2 ignored"],
    "recursive_cl": ["c=1/2,l=1", "c=1,l=2", "c=3/2,l=2", "c=2,l=1", "c=3,l=2"],
}
"""What is asked of requirements that take no number alone."""


def counterexamples(db: Any, name: str) -> dict[Any, int]:
    """Per value that the requirement takes, the pairs of classes of up to three rows that meet it while their union does not."""
    declared = REQUIREMENTS[name]
    number = {kind: i for i, kind in enumerate(CLASSES)}
    small = [kind for kind in CLASSES if len(kind) <= SMALL]
    unions = [(number[a], number[b], number[tuple(sorted(a + b))]) for a in small for b in small if a <= b]
    pairs = np.array(unions).T
    held = np.array([row for kind in CLASSES for row in (ROWS[at] for at in kind)], np.int32).T
    found: dict[Any, int] = {}
    with Scratch(db.engine) as scratch:
        table = scratch.table("classes")
        columns = dict(zip(("s1", "s2", "p1"), held, strict=True))
        classes = np.repeat(np.arange(len(CLASSES), dtype=np.int32), [len(kind) for kind in CLASSES])
        db.engine.load_arrays(table, {"class": classes, **columns})
        whole = [np.bincount(column).astype(np.int64) for column in held[:2]]
        known = [Values(("0", "1"), (0, 1), ordered=True)] * 2
        rows = Grouped(table, ("class",), ("s1", "s2"), None, table, ("s1", "s2"), ("p1",), whole, known)
        for joint in (False, True) if declared.joint else (False,):
            for asked in RECORDS.get(name, ASKED):
                try:
                    value = declared.value.read(str(asked))
                except ValueError:
                    continue
                spec = PrivacySpec.of({name: value}, joint=joint)
                meets = np.ones(len(CLASSES), np.bool_)
                for one in class_of(declared).asked_by(spec, ("s1", "s2"), ("p",)):
                    below = scratch.table("below")
                    one.below(scratch, below, rows)
                    failing = scratch.engine.fetch(f'SELECT class FROM "{below.name}"', max_rows=10_000)
                    meets[[int(str(row[0])) for row in failing]] = False
                    measured = one.measure(db.engine, Grouped(table, ("class",), ("s1", "s2"), persons=("p1",)))
                    assert (measured.failing > 0) == bool(failing)
                    scratch.drop(below)
                a, b, union = (meets[at] for at in pairs)
                found[asked] = found.get(asked, 0) + int(np.count_nonzero(a & b & ~union))
    return found


@pytest.mark.cover
@pytest.mark.parametrize("name", [name for name, one in REQUIREMENTS.items() if not one.population])
def test_unions_meet_what_is_monotone(shared_db: Any, name: str) -> None:
    found = counterexamples(shared_db, name)
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
