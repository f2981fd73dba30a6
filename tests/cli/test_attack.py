"""``sqlanon attack``: what it prints, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def released(cli: Any, policy: Any) -> Any:
    """A release of people."""
    assert cli("run").code == 0
    return policy


@pytest.mark.usefixtures("released")
def test_text_and_json(cli: Any) -> None:
    report = cli("attack", "--json").json
    assert report["release"] == "people@1"
    assert report["source"] == "main.people"
    right = [one["known"] for one in report["linkage"] if not one["errors"]]
    assert right == list(range(1, len(report["quasi"]) + 1))
    assert all(one["highest"] <= one["promised"] and not one["exceeded"] for one in report["linkage"])
    text = cli("attack", "release.people")
    assert text.code == 0, text.err
    for word in (
        "people@1",
        "1 known value",
        "columns by which most is found",
        "held",
        "disease by class",
        "1 known value, one wrong",
        "disease by naive Bayes",
    ):
        assert word in " ".join(text.out.split())


@pytest.mark.usefixtures("released")
def test_an_altered_view_ends_with_1(cli: Any, warehouse: str) -> None:
    import duckdb

    with duckdb.connect(warehouse.removeprefix("duckdb:///")) as connection:
        connection.execute("CREATE TABLE release.kept AS SELECT * FROM release.people LIMIT 1")
        connection.execute("CREATE OR REPLACE VIEW release.people AS SELECT * FROM release.kept")
    ended = cli("attack")
    assert ended.code == 1
    assert "EXCEEDED" in ended.out
    assert "An attack EXCEEDS its promise." in ended.out


@pytest.mark.usefixtures("released")
def test_what_ends_it(cli: Any) -> None:
    wrong = cli("attack", "nothing")
    assert (wrong.code, "neither a published release" in wrong.err) == (2, True)
    column = cli("attack", "--known", "none")
    assert (column.code, "no quasi column none" in column.err) == (2, True)
