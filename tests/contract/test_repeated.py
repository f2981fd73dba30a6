"""Values that are written by number: the table is the one, row by row, that a sort of the values themselves gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.engines.base import TableRef
from sqlanon.release.publish import value_numbers
from sqlanon.sqltext import statement
from tests.contract.cases import release_rows
from tests.contract.samples import MIXED

PUBLISHED = [
    {"source": "r", "column": "lo", "name": "lo"},
    {"source": "r", "column": "of class", "name": "of class"},
    {"source": "s", "column": "s1", "name": "own", "kind": "integer"},
    {"source": "r", "column": "second", "name": "second"},
]


@pytest.mark.thorough
def test_many_rows_keep_their_order() -> None:
    """Enough rows for several threads, of classes that publish alike, and with arrays that are NULL or hold NULL."""
    with duckdb.connect(config={"threads": 4}) as connection:
        connection.execute("""
            CREATE TEMP TABLE released AS SELECT c AS _sqlanon_class, c // 2 AS _sqlanon_place, NULLIF(c // 8, 9) AS lo,
                CASE WHEN c // 2 % 7 > 0
                    THEN [CAST(c // 2 % 7 AS VARCHAR), 'and more than twelve bytes'] END AS "of class",
                [NULL, c // 2 % 3] AS second
            FROM range(20_000) AS t(c);
            CREATE TEMP TABLE classed AS SELECT hash(i) % 20_000 AS class, NULLIF(hash(i, 1) % 50, 0) AS s1
            FROM range(400_000) AS t(i)""")
        numbered = value_numbers.place_numbers(["of class", "lo", "second"], [6, 2500, 3])
        numbered["lo"] |= {"list": 0, "base": -1, "type": "BIGINT"}
        for name, places in (("plain", {}), ("numbered", numbered), ("spread", one_word_each(numbered))):
            made = statement(
                "publish/table",
                "duckdb",
                physical=TableRef(None, name),
                classed=TableRef(None, "classed"),
                released=TableRef(None, "released"),
                published=PUBLISHED,
                repeated=places,
                declared=False,
            )
            connection.execute(made.text)
        described = [connection.execute(f"DESCRIBE {name}").fetchall() for name in ("plain", "numbered", "spread")]
        assert described[0] == described[1] == described[2]
        for name in ("numbered", "spread"):
            pairs = connection.execute(f"""
                SELECT COUNT(*), COUNT(*) FILTER (a.lo IS NOT DISTINCT FROM b.lo
                    AND a."of class" IS NOT DISTINCT FROM b."of class"
                    AND a.own IS NOT DISTINCT FROM b.own AND a.second = b.second)
                FROM plain AS a JOIN {name} AS b ON a.rowid = b.rowid""").fetchone()
            assert pairs == (400_000, 400_000)


def one_word_each(places: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The same numbers, at the upper end of words of their own."""
    return {
        name: at | {"word": word, "shift": 62 - at["mask"].bit_length()}
        for word, (name, at) in enumerate(places.items(), 1)
    }


@given(st.lists(st.integers(0, value_numbers.FEW_VALUES), min_size=1, max_size=40))
def test_numbers_of_a_row_come_apart(counts: list[int]) -> None:
    """Every column's least and greatest number are read back, whatever the others are; no word is negative."""
    places = value_numbers.place_numbers([f"c{i}" for i in range(len(counts))], counts)
    for numbers in ([1] * len(counts), [count + 1 for count in counts]):
        words: dict[int, int] = {}
        for number, at in zip(numbers, places.values(), strict=True):
            words[at["word"]] = words.get(at["word"], 0) + (number << at["shift"])
        assert all(word < 2**62 for word in words.values())
        assert [(words[at["word"]] >> at["shift"]) & at["mask"] for at in places.values()] == numbers


@pytest.mark.parametrize("few", [0, value_numbers.FEW_VALUES])
def test_a_release_is_the_same(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    plain = release_rows(shared_db, MIXED, tmp_path, format="ranges")[0]
    monkeypatch.setattr(value_numbers, "MANY_ROWS", 0)
    monkeypatch.setattr(value_numbers, "FEW_VALUES", few)
    assert release_rows(shared_db, MIXED, tmp_path, format="ranges")[0] == plain
