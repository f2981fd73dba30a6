"""The four extensions in the registries, and what is expected of them in the oracles, for as long as a test runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

from sqlanon.declared import FORMATS, METHODS, METRICS, REQUIREMENTS
from tests.extend import crowd, ends, leading, share
from tests.oracle import losses, methods, recode
from tests.oracle.domains import Quasi, Table
from tests.oracle.requirements import Privacy, meets

SITE = Path(__file__).parent / "site"
"""A folder with the distribution ``toys`` as installers leave it: its metadata name the four entry points."""


def in_order(table: Table, privacy: Privacy, *_: object) -> list[list[int]]:
    """What the method ``leading`` is to give: by its definition, with the rows sorted as tuples."""
    rows = sorted(range(table.rows), key=lambda row: (*table.codes[row], *table.sa_codes[row]))
    classes: list[list[int]] = [[]]
    for row in rows:
        if classes[-1] and meets(table, classes[-1], privacy):
            classes.append([])
        classes[-1].append(row)
    while len(classes) > 1 and not meets(table, classes[-1], privacy):
        last = classes.pop()
        classes[-1] += last
    return classes


def from_to(column: Quasi, rows: Sequence[int]) -> recode.Row:
    """What the format ``ends`` is to publish of a class."""
    nulls = [row for row in rows if column.values[row] is None]
    known = sorted((column.values[row] for row in rows if column.values[row] is not None), key=column.key)
    row = {f"{column.name}_from": None, f"{column.name}_to": None}
    if not nulls:
        row = {f"{column.name}_from": known[0], f"{column.name}_to": known[-1]}
    state = "none" if not nulls else "some" if known else "all"
    return {**row, f"{column.name}_null": state} if column.has_null else row


def crowded(table: Table, classes: Sequence[Sequence[int]]) -> Fraction:
    """What the metric ``crowd`` is to be."""
    return Fraction(sum(len(rows) for rows in classes for _ in rows), table.rows)


ADDED = (
    (METHODS._known, leading.DECLARED),
    (REQUIREMENTS._known, share.DECLARED),
    (METRICS._known, crowd.DECLARED),
    (FORMATS._known, ends.DECLARED),
)


@contextmanager
def installed() -> Iterator[None]:
    """Add them, and take them out again."""
    assert METHODS  # asked once, so that what extensions of the package add is not taken out with these
    with ExitStack() as stack:
        for known, declared in ADDED:
            stack.enter_context(patch.dict(known, {declared.name: declared}))
        stack.enter_context(patch.dict(methods.ORACLES, {"leading": methods.Oracle(in_order)}))
        stack.enter_context(patch.dict(recode.FORMATS, {"ends": from_to}))
        stack.enter_context(patch.dict(losses.FURTHER, {"crowd": crowded}))
        yield
