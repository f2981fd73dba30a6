"""The tools for agents give what the server gives, and refuse what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.serve.client_tables import Reader
from sqlanon.serve.mcp import make_server
from sqlanon.serve.queries import ServerState
from sqlanon.serve.start import Options, make_shared
from tests.serve.conftest import FILE, Place


@pytest.fixture(scope="module")
def shared(place: Place) -> Iterator[ServerState]:
    """What answers."""
    made = make_shared(place.url, lambda: sqlanon.connect(place.url, read_only=True), Options(place.reader))
    yield made
    made.close()


def called(shared: ServerState, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of calls, by the protocol's own client; a text: the call failed."""

    async def run() -> list[Any]:
        async with Client(make_server(shared)) as client:
            listed = await client.list_tools()
            assert sorted(tool.name for tool in listed.tools) == ["ask", "describe", "releases"]
            found = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                texts = [str(getattr(part, "text", "")) for part in result.content]
                found.append(" ".join(texts) if result.is_error else result.structured_content)
            return found

    return asyncio.run(run())


def test_the_tools_list_describe_and_ask(shared: ServerState, place: Place) -> None:
    name = place.source
    sql = f"SELECT ill, count(*) AS n, avg(age) AS age FROM {name} WHERE age < 33 GROUP BY ill ORDER BY ill"
    listed, described, answered = called(shared, ("releases", {}), ("describe", {"table": name}), ("ask", {"sql": sql}))
    assert [(one["table"], one["version"]) for one in listed["result"]] == [(f"public.{name}", 1)]
    assert [column["name"] for column in described["columns"]] == ["age", "ill", "cost"]
    assert described["columns"][0]["published"] == "quasi, published as age_lo, age_hi"
    with sqlanon.connect(place.url, read_only=True) as db:
        wanted = db.query(sql, role=place.reader.role)
    assert answered["rows"] == [
        {
            "ill": row["ill"],
            **{
                key: value
                for column in ("n", "age")
                for key, value in (
                    (column, row[column].estimate),
                    (f"{column}_low", row[column].low),
                    (f"{column}_high", row[column].high),
                )
            },
            "certain": certain,
        }
        for row, certain in zip(wanted.rows, wanted.certain, strict=True)
    ]


def test_the_tools_refuse_with_the_reason(shared: ServerState, place: Place) -> None:
    name = place.source
    refused = called(
        shared,
        ("ask", {"sql": f"SELECT * FROM {name}"}),
        ("ask", {"sql": f"SELECT corr(age, cost) FROM {name}"}),
        ("ask", {"sql": "SELECT * FROM pg_class"}),
        ("ask", {"sql": "SELECT count(*) FROM nosuch"}),
        ("ask", {"sql": f"SELECT max(note) FROM {name}"}),
        ("ask", {"sql": f"SELECT 1; SELECT count(*) FROM {name}"}),
        ("ask", {"sql": f"DROP TABLE {name}"}),
        ("ask", {"sql": f"SELECT count(*) FROM _sqlanon.catalog JOIN {name} ON true"}),
        ("ask", {"sql": "SELECT 'x"}),
        ("describe", {"table": "_sqlanon.catalog"}),
    )
    assert all(isinstance(text, str) for text in refused), refused
    assert "rows of persons" in refused[0]
    assert "group by one column" in refused[1]
    assert "sesame" not in json.dumps(refused)


def test_numbers_that_json_has_not_are_texts(tmp_path: Path) -> None:
    with sqlanon.connect(FILE.fresh(tmp_path)) as db:
        values = "CASE i % 3 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' ELSE '-Infinity' END::DOUBLE"
        db.engine.execute(
            f"CREATE TABLE t AS SELECT i // 6 AS age, i % 3 AS kind, {values} AS v FROM range(18) AS r(i)"
        )
        options: dict[str, Any] = {"quasi": "age", "sensitive": "kind", "insensitive": "v", "k": 6}
        file = tmp_path / "made.duckdb"
        db.anonymize("t", **options, publish="release.t", publish_file=str(file))
    url = f"duckdb:///{file}"
    shared = make_shared(url, lambda: sqlanon.connect(url, read_only=True), Options(Reader(None)))
    try:
        (answered,) = called(shared, ("ask", {"sql": "SELECT v, count(*) AS n FROM t GROUP BY v"}))
    finally:
        shared.close()
    text = json.dumps(answered, allow_nan=False)  # ValueError: it is no JSON
    assert {row["v"] for row in json.loads(text)["rows"]} == {"NaN", "Infinity", "-Infinity"}


def test_a_reader_of_sources_gets_no_tools(place: Place) -> None:
    with pytest.raises(PolicyError, match="--as ROLE"):
        make_shared(place.url, lambda: sqlanon.connect(place.url, read_only=True), Options(Reader(None)))
