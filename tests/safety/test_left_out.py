"""Rows that a release leaves out show nothing of theirs: not in the view, not in the metadata."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import create_table, quote

CANARY_NUMBER, CANARY_TEXT = 987654, "raredisease"
COLUMNS = {"id": "INTEGER", "income": "INTEGER", "city": "TEXT", "word": "TEXT", "s": "TEXT"}


def rows() -> list[tuple[Any, ...]]:
    """Every row has a ``word`` of its own, more than bits hold; the last row has what no other has."""
    ordinary = [(i, 20 + i % 4, "ab"[i % 2], f"w{i}", "klm"[i % 3]) for i in range(72)]
    return [*ordinary, (72, CANARY_NUMBER, CANARY_TEXT, CANARY_TEXT, "k")]


@pytest.mark.parametrize("form", ["ranges", "labels"])
@pytest.mark.parametrize(("quasi", "k"), [(["income", "city"], 20), (["income", "word"], 7)], ids=["bits", "members"])
def test_values_of_rows_that_are_left_out_are_nowhere(shared_db: Any, form: str, quasi: list[str], k: int) -> None:
    name = f"left_{form}_{quasi[1]}"
    create_table(shared_db, name, COLUMNS, rows())
    options = {
        "method": "fulldomain:search=global",
        "suppression": {"limit": "0.05", "rows": "left_out"},
        "format": form,
    }
    report = shared_db.anonymize(
        name,
        quasi=quasi,
        identifiers="id",
        sensitive="s",
        accept_unique=["s", "word"] if "word" in quasi else "s",
        rest="drop",
        k=k,
        seed=1,
        **options,
    ).report
    assert report.suppressed > 0
    fetched = [shared_db.engine.fetch(f"SELECT * FROM release.{quote(name + suffix)}") for suffix in ("", "_metadata")]
    assert len(fetched[0]) == 73 - report.suppressed
    for found in fetched:
        assert str(CANARY_NUMBER) not in repr(found)
        assert CANARY_TEXT not in repr(found)


def test_two_releases_of_which_one_leaves_a_row_out_can_be_subtracted(shared_db: Any) -> None:
    name = "left_subtracted"
    create_table(
        shared_db,
        name,
        {"id": "INTEGER", "q": "INTEGER", "s": "TEXT"},
        [(1, 7, "a"), (2, 7, "a"), (3, 7, "b"), (4, 7, "b"), (5, 50, "c")],
    )
    asked = {"quasi": "q", "identifiers": "id", "sensitive": "s", "accept_unique": "s", "k": 4, "l": 2, "seed": 1}
    first = shared_db.anonymize(
        name,
        **asked,
        name=f"{name}_first",
        publish=f"release.{name}_first",
        method="fulldomain:search=global",
        suppression={"limit": "0.2", "rows": "left_out"},
    ).report
    assert first.suppressed == 1
    shared_db.anonymize(name, **asked, name=f"{name}_second", publish=f"release.{name}_second", method="tree")
    together = shared_db.together(f"{name}_first", f"{name}_second")
    assert (together.k, together.unique_rows, together.matched, together.unmatched) == (1, 1, 4, 1)
