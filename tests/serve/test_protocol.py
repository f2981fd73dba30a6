"""Bytes that are no protocol: half messages, wrong lengths, messages out of turn, many connections."""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from pygwire import FrontendConnection
from pygwire.constants import ConnectionPhase
from pygwire.messages import (
    AuthenticationSASL,
    AuthenticationSASLContinue,
    BackendKeyData,
    Bind,
    Close,
    DataRow,
    Describe,
    ErrorResponse,
    Execute,
    FunctionCall,
    Parse,
    PGMessage,
    Query,
    ReadyForQuery,
    SASLInitialResponse,
    SASLResponse,
    StartupMessage,
    Sync,
)
from scramp import ScramClient

from sqlanon.serve import server as served
from sqlanon.serve.server import Limits
from tests.serve.conftest import Place, Running, serving

STARTUP = StartupMessage(params={"user": "ann", "database": "x"}).to_wire()


HOSTILE_LISTS = [
    b"x",
    struct.pack("!iiI", 1, 0, 25),
    struct.pack("!iiI", 2, 0, 25) + bytes(16),
    struct.pack("!iiI", -1, 0, 25),
    struct.pack("!iiI", 0, 0, 23),
    struct.pack("!iiI", 0, 0, 25) + b"x",
    struct.pack("!iiIiii", 1, 0, 25, 1, 1, 2**31 - 1),
    struct.pack("!iiIiii", 1, 0, 25, 1, 1, -2),
    struct.pack("!iiIii", 1, 0, 25, 2**31 - 1, 1),
    struct.pack("!iiIii", 1, 0, 25, -1, 1),
    struct.pack("!iiIiii", 1, 0, 25, 1, 1, 1) + b"\xff",
]


class Raw:
    """A client that sends what it likes."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        self.state = FrontendConnection(strict=False)

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *messages: PGMessage) -> None:
        self.socket.sendall(b"".join(self.state.send(message) for message in messages))

    def until(self, kind: type[PGMessage]) -> list[PGMessage]:
        """What comes, up to a message of a kind or the end."""
        found: list[PGMessage] = []
        while True:
            data = self.socket.recv(65536)
            if not data:
                return found
            found += self.state.receive(data)
            if any(isinstance(message, kind) for message in found):
                return found

    def log_in(self, password: str = "secret") -> Raw:
        self.send(StartupMessage(params={"user": "ann"}))
        self.until(AuthenticationSASL)
        client = ScramClient(["SCRAM-SHA-256"], "ann", password)
        self.send(SASLInitialResponse(mechanism="SCRAM-SHA-256", data=client.get_client_first().encode()))
        found = self.until(AuthenticationSASLContinue)
        (answer,) = [one for one in found if isinstance(one, AuthenticationSASLContinue)]
        client.set_server_first(bytes(answer.data).decode())
        self.send(SASLResponse(data=client.get_client_final().encode()))
        self.until(ReadyForQuery)
        return self


def ended(port: int, data: bytes) -> bytes:
    """What the server sends before it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=600) as client:
        found = b""
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                found += part
        except ConnectionError:
            pass
        return found


def alive(running: Running) -> None:
    with running.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_garbage_before_a_login_ends_that_connection_alone(running: Running) -> None:
    draw = random.Random(7)
    cases = [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\0", b"\0\0\0\7", b"\xff" * 64, b"\0\0\0\x08\0\0\0\0"]
    cases += [STARTUP[:i] for i in range(1, len(STARTUP), 5)]
    cases += [STARTUP + bytes(draw.randrange(256) for _ in range(draw.randrange(40))) for _ in range(30)]
    cases += [struct.pack("!I", n) + b"\0\3\0\0" + b"a" * 20_000 for n in (2**31, 2**32 - 1, 10_001, 100_000)]
    cases += [struct.pack("!II", 8, 80877103) * 5, struct.pack("!II", 8, 80877104) * 5]
    cases += [StartupMessage(params={"database": "x"}).to_wire(), struct.pack("!II", 12, 0x00020000) + b"\0" * 4]
    cases += [STARTUP + kind + struct.pack("!I", 5) + b"x" for kind in (b"p", b"Q", b"X", b"d", b"\0")]
    for data in cases:
        found = ended(running.port, data)
        assert b"\0\0\0\x08\0\0\0\0" not in found  # AuthenticationOk
        assert b"secret" not in found
    alive(running)


def test_garbage_after_a_login_ends_that_connection_alone(running: Running) -> None:
    draw = random.Random(11)
    cases = [
        b"Q\0\0\0\0",
        b"Q\0\0\0\3",
        b"Q\xff\xff\xff\xff" + b"x" * 2_000_000,
        b"Q\0\x20\0\0" + b"x" * 2_200_000,
        b"Q\0\0\0\x08\xff\xfe\xfd\0",
        b"Q\0\0\0\x08abcd",
        b"D\0\0\0\4",
        b"D\0\0\0\5Z",
        b"B\0\0\0\x0e\0\0\xff\xff\0\0\0\0\0\0",
        b"P\0\0\0\x0aa\0b\0\xff\xff",
        b"d\0\0\0\4",
        b"p\0\0\0\4",
        b"\0" * 100,
    ]
    cases += [bytes(draw.randrange(256) for _ in range(draw.randrange(1, 60))) for _ in range(30)]
    for data in cases:
        with Raw(running.port).log_in() as client:
            try:
                client.socket.sendall(data)
                client.socket.shutdown(socket.SHUT_WR)
                while client.socket.recv(65536):
                    pass
            except OSError:
                pass
    alive(running)


def test_extended_messages_out_of_turn_are_errors_until_the_next_sync(running: Running) -> None:
    table = running.place.source
    with Raw(running.port).log_in() as client:
        for messages, code in (
            ([Bind(statement="nosuch")], "26000"),
            ([Execute(portal="nosuch")], "34000"),
            ([Describe(kind="P", name="nosuch")], "34000"),
            ([Parse(query="SELECT 1; SELECT 2")], "42601"),
            ([Parse(query="SELECT $1::int"), Bind(param_values=[])], "08P01"),
            ([Parse(query="SELECT $1::int"), Bind(param_values=[b"x"]), Execute()], "22P02"),
            ([Parse(query="SELECT $1::int"), Bind(param_formats=[1], param_values=[b"x"]), Execute()], "22P02"),
            *(
                ([Parse(query="SELECT $1::text[]"), Bind(param_formats=[1], param_values=[data]), Execute()], "22P02")
                for data in HOSTILE_LISTS
            ),
            (
                [Parse(query="SELECT $1::numeric"), Bind(param_formats=[1], param_values=[b"\0\x09"]), Execute()],
                "22P02",
            ),
            ([Parse(query="SELECT 1", param_types=[0] * 2000)], "54000"),
            ([Parse(query=f"SELECT count(*) FROM {table} LIMIT $1"), Bind(param_values=[None]), Execute()], "0A000"),
            ([FunctionCall(function_oid=1)], "0A000"),
        ):
            sync = [] if isinstance(messages[0], FunctionCall) else [Sync()]
            client.send(*messages, *sync)
            found = client.until(ReadyForQuery)
            errors = [one.code for one in found if isinstance(one, ErrorResponse)]
            assert errors == [code], messages
            assert not any(isinstance(one, DataRow) for one in found)
        client.send(Parse(statement="a", query="SELECT 7"), Parse(statement="a", query="SELECT 8"), Sync())
        assert [one.code for one in client.until(ReadyForQuery) if isinstance(one, ErrorResponse)] == ["42P05"]
        client.send(
            Close(kind="S", name="a"), Close(kind="P", name="nosuch"), Parse(query=""), Bind(), Execute(), Sync()
        )
        assert not any(isinstance(one, ErrorResponse) for one in client.until(ReadyForQuery))


@pytest.mark.thorough
def test_prepared_statements_and_portals_are_bounded(running: Running) -> None:
    with Raw(running.port).log_in() as client:
        client.send(*(Parse(statement=f"s{i}", query="SELECT 1") for i in range(600)), Sync())
        errors = [one for one in client.until(ReadyForQuery) if isinstance(one, ErrorResponse)]
        assert [one.code for one in errors] == ["54000"]
    with Raw(running.port).log_in() as client:
        client.send(Query(query_string="BEGIN"))
        client.until(ReadyForQuery)
        client.send(Parse(query="SELECT 1"), *(Bind(portal=f"p{i}") for i in range(20)), Sync())
        errors = [one for one in client.until(ReadyForQuery) if isinstance(one, ErrorResponse)]
        assert [one.code for one in errors] == ["54000"]
    with Raw(running.port).log_in() as client:
        long = f"SELECT '{'x' * 90_000}'"
        client.send(*(Parse(statement=f"s{i}", query=long) for i in range(20)), Sync())
        errors = [one for one in client.until(ReadyForQuery) if isinstance(one, ErrorResponse)]
        assert [one.code for one in errors] == ["54000"]


def test_rows_come_in_parts_when_the_client_asks_for_parts(running: Running) -> None:
    with Raw(running.port).log_in() as client:
        sql = f"SELECT ill, count(*) FROM {running.place.source} GROUP BY ill"
        client.send(Query(query_string="BEGIN"))
        client.until(ReadyForQuery)
        client.send(Parse(query=sql), Bind(), Execute(max_rows=2), Execute(max_rows=2), Execute(max_rows=2), Sync())
        kinds = [type(one).__name__ for one in client.until(ReadyForQuery)]
        assert [kind for kind in kinds if kind in ("DataRow", "PortalSuspended", "CommandComplete")] == [
            *("DataRow", "DataRow", "PortalSuspended", "DataRow", "CommandComplete", "CommandComplete")
        ]


def test_a_cancellation_needs_the_secret(running: Running) -> None:
    with Raw(running.port) as client:
        client.send(StartupMessage(params={"user": "ann"}))
        assert client.state.phase is not ConnectionPhase.READY
    with running.connect() as connection:
        pid = connection.info.backend_pid
        for key in (b"", b"\0\0\0\0", b"x" * 256):
            ended(running.port, struct.pack("!III", 12 + len(key), 80877102, pid) + key)
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert BackendKeyData(process_id=1, secret_key=b"1234").to_wire()


def test_more_clients_than_there_are_places_are_turned_away(place: Place) -> None:
    with serving(place, limits=Limits(5)) as running, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(running.connect())
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            running.connect()
        stack.close()
        until = time.monotonic() + 600
        while time.monotonic() < until:
            try:
                alive(running)
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        else:
            pytest.fail("the places were not given back")


def test_two_logins_at_once_do_not_take_the_same_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is counted when it is let in, not some time after."""
    begun = served.Session.__init__

    def slowly(*words: Any) -> None:
        time.sleep(0.2)
        begun(*words)

    monkeypatch.setattr(served.Session, "__init__", slowly)
    with serving(place, limits=Limits(4)) as running, ThreadPoolExecutor(12) as pool:

        def come(_: int) -> psycopg.Connection | None:
            try:
                return running.connect()
            except psycopg.OperationalError as error:
                assert "too many clients" in str(error)  # noqa: PT017
                return None

        found = [one for one in pool.map(come, range(12)) if one is not None]
        assert len(found) == 4
        for one in found:
            one.close()


def test_one_user_does_not_take_all_places(place: Place) -> None:
    with serving(place, limits=Limits(10, of_user=3)) as running, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(running.connect())
        with pytest.raises(psycopg.OperationalError, match="one user has at most 3"):
            running.connect()
        stack.enter_context(psycopg.connect(running.url("bea", "other%20word")))


def test_clients_that_say_nothing_keep_nobody_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LOGIN_SECONDS", 600.0)
    with serving(place, limits=Limits(5)) as running, ExitStack() as stack:
        before = threading.active_count()
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=600))
            for _ in range(served.MOST_LOGINS + 100)
        ]
        begun = time.monotonic()
        for _ in range(5):
            stack.enter_context(running.connect())
        assert time.monotonic() - begun < served.LOGIN_SECONDS
        assert silent[0].recv(10) == b""  # the oldest went
        while (
            threading.active_count() > before + served.MOST_LOGINS + 5 + 1
            and time.monotonic() - begun < served.LOGIN_SECONDS
        ):
            time.sleep(0.05)  # the threads of those that went
        assert threading.active_count() <= before + served.MOST_LOGINS + 5 + 1
        assert time.monotonic() - begun < served.LOGIN_SECONDS  # they were sent away, and did not wait for their time


def test_the_oldest_of_the_address_with_the_most_goes() -> None:
    waiting = served.Lobby(3)
    wires = [object() for _ in range(6)]
    places = ["a", "b", "b", "b", "c", "a"]
    gone = [waiting.enter(wire, place) for wire, place in zip(wires, places, strict=True)]  # type: ignore[arg-type]
    assert gone == [None, None, None, (wires[1], "b"), (wires[2], "b"), (wires[0], "a")]
    waiting.leave(wires[3])  # type: ignore[arg-type]
    assert waiting.enter(wires[0], "d") is None  # type: ignore[arg-type]


def test_a_client_that_says_nothing_keeps_no_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LOGIN_SECONDS", 0.3)
    with serving(place, limits=Limits(60, idle=0.5)) as running:
        with socket.create_connection(("127.0.0.1", running.port), timeout=600) as silent:
            silent.sendall(STARTUP[:6])
            assert silent.recv(100) == b""
        monkeypatch.setattr(served, "LOGIN_SECONDS", 600.0)
        with running.connect() as connection:
            assert select.select([connection.fileno()], [], [], 600)[0]  # what the server has to say
            with pytest.raises(psycopg.OperationalError, match="idle"):
                connection.execute("SELECT 1")


def test_hundreds_of_clients_come_and_go(running: Running) -> None:
    before = threading.active_count()

    def knock(number: int) -> None:
        for i in range(10):
            ended(running.port, STARTUP[: (number * 7 + i) % len(STARTUP)])

    threads = [threading.Thread(target=knock, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until = time.monotonic() + 600
    while threading.active_count() > before + 1 and time.monotonic() < until:
        time.sleep(0.05)
    assert threading.active_count() <= before + 1
    alive(running)
