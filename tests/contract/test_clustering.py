"""Methods that cluster rows: what their blocks do, and tables that are too large. Else they are in the suites of all methods."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import METHODS, too_many_rows
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.clustering import blocks
from sqlanon.policy import release as spec_of
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.contract.samples import DIVERSE, JOINT, MIXED, NUMBERS, TREES
from tests.oracle.clustering import agglomerative, clustered, kmember, mdav
from tests.oracle.recode import released
from tests.oracle.requirements import Privacy

WAYS = {
    "kmember:grow=cluster,": partial(kmember, grow="cluster"), "kmember:grow=centre,": partial(kmember, grow="centre"), "mdav:": mdav,
    "agglomerative:": agglomerative,
}  # fmt: skip
ALIKE = Case(
    "alike", {"p": "INTEGER", "s": "TEXT"}, tuple((i, "xyz"[i // 8] if i < 20 else "xyz"[i % 3]) for i in range(26)),
    {"p": QI()}, ("s",), Privacy(k=2, l=2),
)  # fmt: skip
"""Stretches of rows that have one sensitive value: no block of a few rows meets l."""


@pytest.mark.cover("way block")
@pytest.mark.parametrize("case", [MIXED, NUMBERS, TREES, JOINT, DIVERSE, ALIKE], ids=lambda case: case.name)
@pytest.mark.parametrize("block", [1, 7, 16])
@pytest.mark.parametrize("way", list(WAYS))
def test_blocks_equal_oracle(shared_db: Any, case: Case, way: str, block: int, tmp_path: Path) -> None:
    """A block that does not meet the requirements joins the next; the last one joins the one before it."""
    rows, report = release_rows(shared_db, case, tmp_path, method=f"{way}block={block}")
    classes = clustered(case.table, case.privacy, WAYS[way], block)
    assert multiset(rows) == multiset(released(case.table, classes, "ranges"))
    assert report.method == f"{way}block={block}"


def test_blocks_that_fail_one_after_another_are_refused_in_the_end(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their cost is the square of the rows that they have together."""
    monkeypatch.setattr(blocks, "MOST_CLUSTERED", 8)
    with pytest.raises(InfeasibleError, match=r"blocks of 2 rows .* of at most 8; use a larger block"):
        release_rows(shared_db, ALIKE, tmp_path, method="mdav:block=2")


@pytest.mark.parametrize("method", ["kmember", "mdav", "agglomerative"])
def test_large_tables_are_refused_without_blocks(method: str) -> None:
    refused = too_many_rows(METHODS[method], {}, 50_001)
    assert str(refused) == (
        f"{method}: block=50000 takes at most 50000 rows, its cost is quadratic, and the table has 50001; use block=4096, or tree with refine and its search"
    )
    assert too_many_rows(METHODS[method], {}, 50_000) is None
    assert too_many_rows(METHODS[method], {"block": "4096"}, 5_000_000) is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "kmember:grow=far"}, "allowed are cluster, centre"),
        ({"method": "kmember:block=50001"}, "whole numbers from 1 to 50000"),
        ({"method": "kmember:block=-1"}, "whole numbers from 1 to 50000"),
        ({"method": "kmember", "k": None, "maximize": "k", "max_loss": 0.5, "at_least": {"k": 2}}, "kmember"),
        (
            {"method": "kmember", "format": "anatomy", "sensitive": "s", "l": 2, "presence": "disclosed"},
            "cannot be published in the format anatomy",
        ),
        ({"method": "mdav:grow=centre"}, "mdav has no such option"),
        (
            {"method": "mdav", "format": "anatomy", "sensitive": "s", "l": 2, "presence": "disclosed"},
            "in the format anatomy",
        ),
        ({"method": "kmember", "suppression": {"limit": 0.1}}, "kmember suppresses no rows"),
    ],
)
def test_what_is_refused_before_a_database_is_read(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        spec_of(source="t", **{"quasi": "q", "k": 2, **asked})
