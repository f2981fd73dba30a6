"""Nominal columns whose sets fill words of bits just so: kernel and pushdown still make the same cuts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case, multiset, release_rows
from tests.oracle.requirements import Privacy

SIZES = [
    (100, 10),
    (100, 28),
    (200, 40),
    (64, 6),
    (63, 1),
    (65, 64, 3),
    (256, 6),
    (257, 5),
    (0, 5),
    (0, 70),
    (30, 34, 2),
]


@pytest.mark.cover
@pytest.mark.parametrize("nulls", [False, True], ids=["filled", "nulls"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_kernel_equals_pushdown(shared_db: Any, sizes: tuple[int, ...], nulls: bool, tmp_path: Path) -> None:
    """A column of 0 values is all NULL."""
    drawn = random.Random(f"{sizes} {nulls}")
    columns = {f"c{i}": "TEXT" for i in range(len(sizes))} | {"n": "INTEGER"}

    def value(size: int) -> str | None:
        if size == 0 or (nulls and drawn.random() < 0.02):
            return None
        return f"v{min(int(drawn.expovariate(3 / size)), size - 1):03}"

    rows = tuple((*(value(size) for size in sizes), drawn.randrange(9)) for _ in range(700))
    quasi = {name: QI("nominal") for name in columns if name != "n"} | {"n": QI()}
    case = Case("sets", columns, rows, quasi, (), Privacy(k=4))
    found = [release_rows(shared_db, case, tmp_path, execution=execution) for execution in ("kernel", "pushdown")]
    assert found[0][1].classes > 20
    assert multiset(found[0][0]) == multiset(found[1][0])


def test_labels_of_more_values_than_an_integer_has_bits(shared_db: Any, tmp_path: Path) -> None:
    """70 words, four rows each: one class of all of them, or a class a word."""
    words = [f"w{i:02}" for i in range(70)]
    rows = tuple((word,) for word in words for _ in range(4))
    for k, labels in ((280, {"{" + ", ".join(words) + "}"}), (4, set(words))):
        case = Case("words", {"w": "TEXT"}, rows, {"w": QI("nominal")}, (), Privacy(k=k))
        shown, _ = release_rows(shared_db, case, tmp_path, method="mondrian:cut=loss", format="labels")
        assert {row["w"] for row in shown} == labels
        assert len(shown) == 280
