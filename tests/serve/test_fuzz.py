"""Messages and texts that are changed at random, with fixed seeds: the server lives on, and nothing is a defect."""

from __future__ import annotations

import random
import re
import threading
import time

import psycopg
import pytest
from pygwire.messages import (
    Bind,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    FunctionCall,
    Parse,
    PGMessage,
    Query,
    ReadyForQuery,
    Sync,
)

from tests.serve.conftest import Running
from tests.serve.test_asked import TEXTS
from tests.serve.test_hostile import CATALOG
from tests.serve.test_protocol import HOSTILE_LISTS, Raw, alive

NAMES = ["", "a", "b", "\u00e9", "x" * 300]
VALUES = [None, b"", b"1", b"\0\0\0\1", b"{1,2}", b"\xff\xfe", b"NaN", b"2020-01-01 +00", b"9" * 400, *HOSTILE_LISTS]
NUMBERS = [-32768, -1, 0, 1, 2, 25, 23, 1009, 2**31 - 1]
RELEASED = [
    "SELECT count(*) FROM {t}",
    "SELECT ill, count(*) AS n, n_low, n_high FROM {t} WHERE age < $1 AND cost IN ($2,$3) GROUP BY ill",
    "SELECT avg(age) FROM {t} WHERE cost = ANY($1) LIMIT $2",
    "SELECT count(*) FROM {t} WHERE ill = $1 UNION ALL SELECT count(*) FROM {t} WHERE age BETWEEN $1 AND $2",
]


def message(draw: random.Random, table: str) -> PGMessage:
    """A message that a client may send, with parts of others."""
    text = draw.choice([*RELEASED, *TEXTS, "", ";", "SELECT $1,$2", "BEGIN", "ROLLBACK"]).replace("{t}", table)
    name, number = draw.choice(NAMES), draw.choice(NUMBERS)
    values = [draw.choice(VALUES) for _ in range(draw.randrange(4))]
    forms = [draw.choice([0, 1, 1, 7]) for _ in range(draw.randrange(4))]
    kinds = [draw.choice(NUMBERS[3:]) for _ in range(draw.randrange(4))]
    made: list[PGMessage] = [
        Query(query_string=text),
        Parse(statement=name, query=text, param_types=kinds),
        Parse(statement=name, query=text),
        Bind(portal=name, statement=draw.choice(NAMES), param_formats=forms, param_values=values, result_formats=forms),
        Bind(param_values=values),
        Describe(kind=draw.choice("SP"), name=name),
        Execute(portal=name, max_rows=max(number, 0)),
        Close(kind=draw.choice("SP"), name=name),
        Sync(),
        Flush(),
        FunctionCall(function_oid=1),
        CopyData(data=b"x"),
        CopyDone(),
        CopyFail(error_message="x"),
    ]
    return draw.choice(made)


def changed(draw: random.Random, data: bytes) -> bytes:
    """Some bytes of a stream changed, left out or doubled."""
    found = bytearray(data)
    for _ in range(draw.choice([0, 0, 1, 3])):
        if not found:
            break
        at = draw.randrange(len(found))
        if draw.random() < 0.6:
            found[at] = draw.randrange(256)
        elif draw.random() < 0.5:
            del found[at : at + draw.randrange(1, 9)]
        else:
            found[at:at] = found[at : at + draw.randrange(1, 9)]
    return bytes(found)


def check_messages(running: Running, seeds: range) -> None:
    before, lines = threading.active_count(), len(running.lines())
    for seed in seeds:
        draw = random.Random(seed)
        with Raw(running.port).log_in() as client:
            made = [message(draw, running.place.source) for _ in range(draw.randrange(1, 12))]
            data = changed(draw, b"".join(one.to_wire() for one in made)) + Sync().to_wire()
            try:
                client.socket.sendall(data)
                client.socket.settimeout(600)
                client.socket.shutdown(1)
                while client.socket.recv(65536):
                    pass
            except ConnectionError:
                pass
    until = time.monotonic() + 600
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.02)
    assert threading.active_count() <= before
    assert [line for line in running.lines()[lines:] if line.get("code") == "XX000"] == []
    assert running.server._shared.room.taken == 0
    alive(running)


def mutated(draw: random.Random, text: str) -> str:
    """A text with words of another one in place of some of its own."""
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    others = re.findall(r"\w+|[^\w\s]", draw.choice([*TEXTS, *CATALOG, *RELEASED]))
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(words))
        words[at : at + draw.choice([0, 1, 1, 2])] = [
            draw.choice([*others, "'", '"', "$1", "(", ")", "NULL", "::text"])
        ]
    return "".join(words)


def check_texts(running: Running, seeds: range) -> None:
    table, wrong = running.place.source, []
    with running.connect(options="-c statement_timeout=10000") as connection:
        for seed in seeds:
            draw = random.Random(seed)
            text = mutated(draw, draw.choice([*RELEASED, *TEXTS, *CATALOG])).replace("{t}", table).replace("\0", "")
            try:
                connection.execute(text.encode(), prepare=draw.random() < 0.5)
            except psycopg.Error as error:
                if error.sqlstate in ("XX000", "58000", None):
                    wrong.append((seed, text, str(error)))
            if connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
                connection.execute("ROLLBACK")
    assert not wrong


def test_changed_messages(file_running: Running) -> None:
    check_messages(file_running, range(40))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_changed_texts(file_running: Running) -> None:
    check_texts(file_running, range(60))


@pytest.mark.thorough
def test_many_changed_messages(running: Running) -> None:
    check_messages(running, range(1000, 2500))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.thorough
def test_many_changed_texts(running: Running) -> None:
    check_texts(running, range(1000, 4000))


def test_the_messages_reach_the_session(file_running: Running) -> None:
    """Most of what is drawn is a conversation, and not an error of the first byte."""
    kinds = {type(message(random.Random(seed), "t")).__name__ for seed in range(200)}
    assert len(kinds) == 12
    with Raw(file_running.port).log_in() as client:
        client.send(Query(query_string="SELECT 1"))
        assert client.until(ReadyForQuery)
