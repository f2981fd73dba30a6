"""The orders of messages of clients that are not all here: Npgsql, asyncpg, lib/pq; and asyncpg itself where it is."""

from __future__ import annotations

import asyncio
import datetime
import struct

import pytest
from pygwire.messages import (
    Bind,
    BindComplete,
    Close,
    CloseComplete,
    CommandComplete,
    DataRow,
    Describe,
    ErrorResponse,
    Execute,
    Flush,
    NoticeResponse,
    ParameterDescription,
    Parse,
    ParseComplete,
    PGMessage,
    PortalSuspended,
    Query,
    ReadyForQuery,
    RowDescription,
    Sync,
)

from tests.serve.conftest import Running
from tests.serve.test_protocol import Raw


def kinds(found: list[PGMessage]) -> str:
    """The messages by one character each, notices left out."""
    signs: dict[type[PGMessage], str] = {
        ParseComplete: "1",
        BindComplete: "2",
        CloseComplete: "3",
        ParameterDescription: "t",
        RowDescription: "T",
        DataRow: "D",
        CommandComplete: "C",
        PortalSuspended: "s",
        ErrorResponse: "E",
        ReadyForQuery: "Z",
    }
    return "".join(signs.get(type(one), "?") for one in found if not isinstance(one, NoticeResponse))


def test_npgsql_sends_a_batch_with_one_sync_and_reads_binary_values(file_running: Running) -> None:
    table = file_running.place.source
    with Raw(file_running.port).log_in() as client:
        client.send(
            Parse(query=f"SELECT count(*) FROM {table} WHERE cost < $1", param_types=[23]),
            Bind(param_formats=[1], param_values=[struct.pack("!i", 7)], result_formats=[1]),
            Describe(kind="P"),
            Execute(),
            Parse(query=f"SELECT ill FROM {table} GROUP BY ill ORDER BY ill"),
            Bind(result_formats=[1]),
            Describe(kind="P"),
            Execute(),
            Sync(),
        )
        found = client.until(ReadyForQuery)
        assert kinds(found) == "12TDC12TDDDCZ"
        rows = [one.columns for one in found if isinstance(one, DataRow)]
        assert rows == [[struct.pack("!d", 60.0)], [b"asthma"], [b"cough"], [b"flu"]]
        client.send(Query(query_string="SELECT version();SELECT 1;SELECT oid FROM pg_type WHERE typname = 'int4'"))
        assert kinds(client.until(ReadyForQuery)) == "TDCTDCTDCZ"
        # An error ends the batch up to its sync, and no later.
        client.send(Parse(query="SELECT nosuch("), Bind(), Execute(), Parse(query="SELECT 1"), Sync())
        client.send(Parse(query="SELECT 1"), Bind(), Execute(), Sync())
        found = client.until(ReadyForQuery)
        while kinds(found).count("Z") < 2:
            found += client.until(ReadyForQuery)
        assert kinds(found) == "EZ12DCZ"


def test_asyncpg_describes_before_it_binds_and_flushes_between(file_running: Running) -> None:
    table = file_running.place.source
    with Raw(file_running.port).log_in() as client:
        sql = f"SELECT cost, count(*) AS n FROM {table} WHERE age < $1 GROUP BY cost"
        client.send(Parse(statement="a", query=sql), Describe(kind="S", name="a"), Flush())
        found = client.until(RowDescription)
        assert kinds(found) == "1tT"
        assert [one.type_oids for one in found if isinstance(one, ParameterDescription)] == [[23]]
        client.send(Sync())
        client.until(ReadyForQuery)
        client.send(Query(query_string="BEGIN"))
        client.until(ReadyForQuery)
        value = struct.pack("!i", 100)
        bind = Bind(portal="p", statement="a", param_formats=[1], param_values=[value], result_formats=[1])
        client.send(bind, Sync())
        assert kinds(client.until(ReadyForQuery)) == "2Z"
        for wanted in ("DDDsZ", "DDDsZ", "DCZ"):
            client.send(Execute(portal="p", max_rows=3), Sync())
            assert kinds(client.until(ReadyForQuery)) == wanted
        client.send(Close(kind="P", name="p"), Close(kind="S", name="a"), Sync())
        assert kinds(client.until(ReadyForQuery)) == "33Z"


def test_asyncpg_asks(file_running: Running) -> None:
    asyncpg = pytest.importorskip("asyncpg")
    table = file_running.place.source

    async def run() -> None:
        connection = await asyncpg.connect(file_running.url().partition("?")[0])
        notes: list[str] = []
        connection.add_log_listener(lambda _, message: notes.append(message.message))
        try:
            rows = await connection.fetch(f"SELECT count(*) AS n FROM {table} WHERE cost = ANY($1)", [0, 1, 2])
            ((n,),) = rows
            assert n > 0
            assert await connection.fetchval("SELECT $1::int[]", [1, None, 2]) == [1, None, 2]
            assert await connection.fetchval("SELECT current_schemas(true)") == ["pg_catalog", "public"]
            now = await connection.fetchval("SELECT now()")
            assert abs((now - datetime.datetime.now(datetime.UTC)).total_seconds()) < 600
            with pytest.raises(asyncpg.FeatureNotSupportedError, match="rows of persons"):
                await connection.fetch(f"SELECT * FROM {table}")
            async with connection.transaction(readonly=True):
                found = [row async for row in connection.cursor(f"SELECT ill FROM {table} GROUP BY ill", prefetch=2)]
            assert len(found) == 3
            await connection.reset()
        finally:
            await connection.close()
        await asyncio.sleep(0)
        assert any(note.startswith("exact") for note in notes)

    asyncio.run(run())
