"""Answers that wait to be read: rows come in parts, are dropped as they are sent, and take bounded memory."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from pygwire.messages import (
    Bind,
    Close,
    DataRow,
    ErrorResponse,
    Execute,
    Parse,
    PortalSuspended,
    Query,
    ReadyForQuery,
    Sync,
)

from sqlanon.serve import answer_buffer
from sqlanon.serve.answer_buffer import AnswerMemory, KeptAnswer
from sqlanon.serve.refusals import ServeError
from sqlanon.serve.values import INT4, TEXT, Column, Result
from tests.serve.conftest import Place, Running, serving
from tests.serve.test_protocol import Raw

COLUMNS = (Column("a", INT4), Column("b", TEXT))


def result(rows: int) -> Result:
    return Result(f"SELECT {rows}", COLUMNS, [[i, "x" * 100] for i in range(rows)])


def test_rows_are_counted_until_they_are_sent() -> None:
    room = AnswerMemory(10_000)
    found = KeptAnswer(result(20), [1, 0], room, "ann")
    assert 20 * 100 < room.taken < 20 * 400
    sent = list(found.send(5))
    assert sent == [DataRow(columns=[i.to_bytes(4), b"x" * 100]).to_wire() for i in range(5)]
    assert len(found) == 15
    before = room.taken
    found.drop()
    assert before > room.taken == 0
    assert list(found.send(5)) == []
    assert list(KeptAnswer(Result("SET"), [], room, "ann").send(5)) == []


def test_what_has_no_room_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_buffer, "_COUNTED", 100)
    room = AnswerMemory(10_000)
    first = KeptAnswer(result(15), [], room, "ann")
    taken = room.taken
    with pytest.raises(ServeError, match="too much memory") as caught:  # half of it is for others
        KeptAnswer(result(15), [], room, "ann")
    assert (caught.value.code, room.taken) == ("53200", taken)
    KeptAnswer(result(15), [], room, "bea")
    with pytest.raises(ServeError, match="too much memory"):
        KeptAnswer(result(30), [], room, "cid")
    with pytest.raises(ServeError, match="is no integer"):
        KeptAnswer(Result("", COLUMNS, [[1, "x"], ["no", "x"]]), [], room, "cid")
    first.drop()
    KeptAnswer(result(15), [], room, "ann")


@pytest.fixture
def suspended(place: Place) -> Iterator[tuple[Running, Raw]]:
    """A session within a transaction."""
    with serving(place) as running, Raw(running.port).log_in() as client:
        client.send(Query(query_string="BEGIN"))
        client.until(ReadyForQuery)
        yield running, client


def test_a_portal_keeps_what_was_not_sent_and_no_more(suspended: tuple[Running, Raw]) -> None:
    running, client = suspended
    room = running.server._shared.room
    sql = f"SELECT cost, count(*) FROM {running.place.source} GROUP BY cost ORDER BY cost"
    client.send(Parse(query=sql), Bind(portal="p"), Execute(portal="p", max_rows=3), Sync())
    found = client.until(ReadyForQuery)
    assert sum(isinstance(one, DataRow) for one in found) == 3
    assert any(isinstance(one, PortalSuspended) for one in found)
    taken = room.taken
    assert taken > 0
    client.send(Execute(portal="p", max_rows=3), Sync())
    client.until(ReadyForQuery)
    assert 0 < room.taken < taken
    client.send(Execute(portal="p"), Sync())
    client.until(ReadyForQuery)
    assert room.taken == 0


@pytest.mark.parametrize("ending", ["close", "commit", "again", "discard", "leave"])
def test_a_portal_that_ends_keeps_nothing(suspended: tuple[Running, Raw], ending: str) -> None:
    running, client = suspended
    room = running.server._shared.room
    sql = f"SELECT cost, count(*) FROM {running.place.source} GROUP BY cost"
    client.send(Parse(query=sql), Bind(portal="p"), Execute(portal="p", max_rows=3), Sync())
    client.until(ReadyForQuery)
    assert room.taken > 0
    if ending == "leave":
        client.socket.close()
        running.stop()
    else:
        client.send(
            *{
                "close": [Close(kind="P", name="p")],
                "commit": [Parse(query="COMMIT"), Bind(), Execute()],
                "again": [Parse(query="SELECT 1"), Bind(portal="p")],
                "discard": [Parse(query="DISCARD ALL"), Bind(), Execute()],
            }[ending],
            Sync(),
        )
        assert not any(isinstance(one, ErrorResponse) for one in client.until(ReadyForQuery))
    assert room.taken == 0


MEASURED = """
import gc, json
from pathlib import Path
from sqlanon.serve.answer_buffer import AnswerMemory, KeptAnswer
from sqlanon.serve.values import FLOAT8, TEXT, Column, Result

def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

room, columns = AnswerMemory(64 << 20), tuple(Column(f"c{i}", FLOAT8) for i in range(10))
before, found = resident(), []
try:
    while True:
        rows = [[i + j / 10 for j in range(10)] for i in range(10_000)]
        found.append(KeptAnswer(Result("", columns, rows), [], room, f"user{len(found) % 2}"))
except Exception as error:
    code = error.code
del rows
print(json.dumps([code, room.taken, resident() - before]))
"""


@pytest.mark.thorough
def test_what_is_counted_is_what_is_taken() -> None:
    gc.collect()
    ended = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    code, counted, grown = json.loads(ended.stdout)
    assert code == "53200"
    assert 50 << 20 < counted <= 64 << 20
    assert grown < 1.3 * counted
