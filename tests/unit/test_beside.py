"""Which counts the rules compare with another release."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sqlanon.release.catalog.other_counts import are_beside
from sqlanon.release_kind import COUNTS, ROWS

OF_ROWS = {"statistics": {"neighbour": {"release": "rows", "version": 1}}}


def entry(kind: Any = COUNTS, report: Any = None) -> Any:
    return SimpleNamespace(kind=kind, release="counts", source="s", report=report or {"statistics": {}})


@pytest.mark.parametrize(
    ("version", "release", "source", "beside"),
    [
        (entry(), "other", "s", True),
        (entry(), "other", "t", False),
        (entry(), "counts", "s", False),
        (entry(kind=ROWS), "other", "s", False),
        (entry(), "rows", None, False),
        (entry(report=OF_ROWS), "rows", None, True),
        (entry(report=OF_ROWS), "other", None, False),
        (entry(report=OF_ROWS), "counts", None, False),
    ],
)
def test_counts_are_beside_those_of_their_source_and_the_rows_that_they_name(
    version: Any, release: str, source: str | None, beside: bool
) -> None:
    assert are_beside(version, release, source) == beside
