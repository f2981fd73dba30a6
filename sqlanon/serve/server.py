"""The server: takes connections, gives each a thread, bounds their number, and ends them all."""

from __future__ import annotations

import itertools
import logging
import math
import secrets
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pygwire.messages import CancelRequest

from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from sqlanon.serve.login import Tls, log_in
from sqlanon.serve.queries import ServerState
from sqlanon.serve.refusals import BAD_PROTOCOL, DEFECT, TOO_MANY, DisconnectedError, ServeError, explain
from sqlanon.serve.session import Session, end
from sqlanon.serve.users import Users
from sqlanon.serve.wire import Wire

MOST_LOGINS = 50
"""Connections at once that have not logged in, beside those that have."""


class Lobby:
    """The connections of clients that have not logged in yet.

    Args:
        most: most connections at once.
    """

    def __init__(self, most: int = MOST_LOGINS) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._waiting: dict[Wire, str] = {}
        """With their addresses, the oldest first."""

    def enter(self, wire: Wire, address: str) -> tuple[Wire, str] | None:
        """Let a connection in.

        Returns:
            The connection to close in exchange, and its address: the oldest of the address with the most connections.
        """
        with self._guard:
            self._waiting[wire] = address
            if len(self._waiting) <= self._most:
                return None
            ((crowded, _),) = Counter(self._waiting.values()).most_common(1)
            oldest = next(connection for connection, where in self._waiting.items() if where == crowded)
            del self._waiting[oldest]
            return oldest, crowded

    def leave(self, wire: Wire) -> None:
        """The connection has logged in, or has ended."""
        with self._guard:
            self._waiting.pop(wire, None)


log = logging.getLogger("sqlanon.serve")

LOGIN_SECONDS = 10.0
"""Seconds that a login may take."""


@dataclass(frozen=True)
class Limits:
    """Limits of sessions.

    Attributes:
        connections: most clients that have logged in.
        idle: seconds that a session may be silent.
        of_user: most connections of a user.
    """

    connections: int = 50
    idle: float = 3600.0
    of_user: int = 20


class Server:
    """Serves releases to clients of PostgreSQL.

    Args:
        shared: answers.
        users: the users who may log in.
        tls: certificate and key; None: unencrypted, on this machine only.
        limits: limits of connections.
    """

    def __init__(self, shared: ServerState, users: Users, tls: Tls | None = None, limits: Limits | None = None) -> None:
        self._shared, self._users, self._tls = shared, users, tls
        self._limits = limits or Limits()
        self._guard = threading.Lock()
        self._lobby = Lobby()
        self._wires: set[Wire] = set()
        self._places: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._sessions: dict[int, tuple[bytes, Session]] = {}
        self._threads: set[threading.Thread] = set()
        self._listener: socket.socket | None = None
        self._closed = threading.Event()

    def listen(self, host: str, port: int) -> tuple[str, int]:
        """Bind an address; port 0 takes a free port. Returns the bound host and port.

        Raises:
            PolicyError: another machine could connect, and there is no certificate.
            DatabaseError: the address is not free, or not of this machine.
        """
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            if self._tls is None and not _is_local(str(address[0])):
                raise PolicyError(
                    f"--listen {host}: others on the network could read the answers; give --tls-cert and --tls-key, or "
                    "listen on 127.0.0.1"
                )
            listener = socket.create_server((str(address[0]), int(address[1])), family=family, backlog=128)
        except OSError as error:
            reason = (error.strerror or str(error)).partition(" (")[0]
            raise DatabaseError(f"cannot listen on {host}:{port}: {reason}") from error
        self._listener = listener
        bound = listener.getsockname()
        return str(bound[0]), int(bound[1])

    def serve(self) -> None:
        """Take connections until `close`."""
        assert self._listener is not None
        while not self._closed.is_set():
            try:
                connection, address = self._listener.accept()
            except OSError:
                if self._closed.wait(0.05):
                    return
                continue
            with suppress(OSError):  # of a client that is gone already
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = Wire(connection, LOGIN_SECONDS)
            gone = self._lobby.enter(wire, str(address[0]))
            if gone is not None:
                gone[0].interrupt()
                self._shared.log.write("refused", address=gone[1], code=TOO_MANY)
            thread = threading.Thread(target=self._handle, args=(wire, str(address[0])), daemon=True)
            with self._guard:
                self._wires.add(wire)
                self._threads.add(thread)
            try:
                thread.start()
            except RuntimeError:  # no more threads: this client is turned away, the others stay
                wire.leave(ServeError(TOO_MANY, "sorry, too many clients already"))
                self._forget(wire, thread)

    def close(self) -> None:
        """Cancel running statements, end all sessions, and wait for them."""
        self._closed.set()
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        with self._guard:
            sessions = [session for _, session in self._sessions.values()]
            wires, threads = list(self._wires), list(self._threads)
        for session in sessions:
            session.stop()
        for wire in wires:
            wire.interrupt()
        for thread in threads:
            thread.join(timeout=10.0)
        self._shared.close()

    def _handle(self, wire: Wire, address: str) -> None:
        try:
            self._converse(wire, address)
        except (DisconnectedError, TimeoutError):
            pass
        except ServeError as error:
            self._shared.log.write("refused", address=address, code=error.code)
            wire.leave(error)
        except SqlanonError as error:
            wire.leave(explain(error))
        except Exception as error:  # noqa: BLE001 - a client's trouble is nobody else's
            log.warning("a session ended by %s", type(error).__name__)
            wire.leave(ServeError(DEFECT, f"unexpected {type(error).__name__}: a defect of sqlanon"))
        finally:
            self._forget(wire, threading.current_thread())

    def _forget(self, wire: Wire, thread: threading.Thread) -> None:
        end(wire)
        self._lobby.leave(wire)
        with self._guard:
            self._wires.discard(wire)
            self._threads.discard(thread)

    def _converse(self, wire: Wire, address: str) -> None:
        login = log_in(wire, self._users, self._tls)
        if isinstance(login, CancelRequest):
            self._cancel(login)
            return
        if "replication" in login.settings:
            raise ServeError(BAD_PROTOCOL, "this server has no replication")
        with self._place_of(login.user):
            self._lobby.leave(wire)
            wire.seconds, wire.until = self._limits.idle, math.inf
            key = secrets.token_bytes(32 if login.long_keys else 4)
            pid = next(self._numbers)
            session = Session(wire, login, self._shared, address, (pid, key))
            with self._guard:
                self._sessions[pid] = (key, session)
            self._shared.log.write("login", user=login.user, address=address)
            try:
                session.serve()
            finally:
                with self._guard:
                    del self._sessions[pid]
                self._shared.log.write("leave", user=login.user, address=address)

    @contextmanager
    def _place_of(self, user: str) -> Iterator[None]:
        """A place among those that have logged in; two logins never take the same place."""
        with self._guard:
            if self._places.total() >= self._limits.connections:
                raise ServeError(TOO_MANY, "sorry, too many clients already")
            if self._places[user] >= self._limits.of_user:
                raise ServeError(TOO_MANY, f"one user has at most {self._limits.of_user:,} connections here")
            self._places[user] += 1
        try:
            yield
        finally:
            with self._guard:
                self._places -= Counter({user: 1})

    def _cancel(self, request: CancelRequest) -> None:
        with self._guard:
            key, session = self._sessions.get(request.process_id, (b"", None))
        if session is not None and secrets.compare_digest(key, request.secret_key):
            session.cancel()


def _is_local(address: str) -> bool:
    return address == "::1" or address.startswith("127.")
