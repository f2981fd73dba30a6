"""Unions of classes that meet a requirement: all small classes of few different rows are tried."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement, product

from sqlanon.database import Database
from sqlanon.declared import RequirementDeclaration
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Grouped, Values
from sqlanon.privacy.requirements import class_of
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

ROWS = tuple(product((0, 1), (0, 1), (0, 1)))
"""Every row there can be: two sensitive columns and a person, of two values each."""
SMALL, LARGE = 3, 6
CLASSES = [kind for n in range(1, LARGE + 1) for kind in combinations_with_replacement(range(len(ROWS)), n)]
"""Every class of up to six rows, as sorted numbers of its rows."""


def counterexamples(db: Database, declared: RequirementDeclaration, levels: Iterable[object]) -> dict[object, int]:
    """Pairs of classes that meet a requirement while their union does not, counted for each asked value.

    The classes have up to three rows.

    Args:
        db: any database.
        declared: the requirement.
        levels: values as policies write them; those that it does not take are left out.
    """
    import numpy as np

    number = {kind: i for i, kind in enumerate(CLASSES)}
    small = [kind for kind in CLASSES if len(kind) <= SMALL]
    unions = [(number[a], number[b], number[tuple(sorted(a + b))]) for a in small for b in small if a <= b]
    pairs = np.array(unions).T
    codes = np.array([row for kind in CLASSES for row in (ROWS[row] for row in kind)], np.int32).T
    divided_pairs: dict[object, int] = {}
    with Scratch(db.engine) as scratch:
        table = scratch.table("classes")
        columns = dict(zip(("s1", "s2", "p1"), codes, strict=True))
        classes = np.repeat(np.arange(len(CLASSES), dtype=np.int32), [len(kind) for kind in CLASSES])
        db.engine.load_arrays(table, {"class": classes, **columns})
        whole = [np.bincount(column).astype(np.int64) for column in codes[:2]]
        values = [Values(("0", "1"), (0, 1), ordered=True)] * 2
        rows = Grouped(table, ("class",), ("s1", "s2"), None, table, ("s1", "s2"), ("p1",), whole, values)
        for joint in (False, True) if declared.joint else (False,):
            for requirement_text in levels:
                try:
                    value = declared.value.read(requirement_text)
                except ValueError:
                    continue
                spec = PrivacySpec.of({declared.name: value}, joint=joint)
                meets = np.ones(len(CLASSES), np.bool_)
                for requirement in class_of(declared).from_policy(spec, ("s1", "s2"), ("p",)):
                    below = scratch.table("below")
                    requirement.below(scratch, below, rows)
                    failing = scratch.fetch("blocks/rows", table=below, columns=["class"])
                    meets[[read_integer(row[0]) for row in failing]] = False
                    measured = requirement.measure(db.engine, Grouped(table, ("class",), ("s1", "s2"), persons=("p1",)))
                    assert (measured.failing > 0) == bool(failing), "below and measure find other classes"
                    scratch.drop(below)
                a, b, union = (meets[pair] for pair in pairs)
                divided_pairs[requirement_text] = divided_pairs.get(requirement_text, 0) + int(
                    np.count_nonzero(a & b & ~union)
                )
    return divided_pairs
