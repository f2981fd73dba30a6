"""A client's byte stream as messages: pygwire reads and writes them, and this bounds their size and time."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Iterator

from pygwire import FrontendMessageDecoder
from pygwire.messages import ErrorResponse, NoticeResponse, PGMessage
from pygwire.state_machine import BackendStateMachine

from sqlanon.serve.notices import Notice
from sqlanon.serve.refusals import BAD_PROTOCOL, DisconnectedError, ServeError

STARTUP_BYTES = 10_000
"""Of the messages before a login, as PostgreSQL has it."""
MESSAGE_BYTES = 1 << 20
"""Of a message."""
_SEND = 1 << 16
"""Bytes that wait before they are sent."""
_SEND_SECONDS = 30.0
"""Seconds that a client may take to read."""


class Wire:
    """Messages from and to a client.

    Args:
        connection: the accepted socket.
        seconds: that the client may take to log in.
    """

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._socket = connection
        self._decoder = FrontendMessageDecoder()
        self._state = BackendStateMachine()
        self._waiting = bytearray()
        self.most = STARTUP_BYTES
        self.seconds = seconds
        self.until = time.monotonic() + seconds
        """When the client has to be done; infinite after the login."""

    def receive(self) -> PGMessage:
        """The next message.

        Raises:
            ServeError: the bytes are no message of the protocol, none for this moment, or too long.
            DisconnectedError: the client is gone.
            TimeoutError: nothing came.
        """
        self.flush()
        while True:
            try:
                message = next(self._decoder, None)
                if message is not None:
                    self._state.receive(message)  # type: ignore[arg-type]
                    self._decoder.phase = self._state.phase
                    return message
            except Exception as error:  # lengths, numbers and texts of a hostile client break a decoder in many ways
                raise ServeError(BAD_PROTOCOL, "protocol violation: this is no message that can come here") from error
            if self._decoder.buffered > self.most:
                raise ServeError(BAD_PROTOCOL, f"a message has at most {self.most:,} bytes")
            self._decoder.feed(self._read())

    @property
    def unread(self) -> int:
        """Bytes that came and were not asked for yet."""
        return int(self._decoder.buffered)

    def _read(self) -> bytes:
        try:
            self._socket.settimeout(max(min(self.seconds, self.until - time.monotonic()), 0.001))
            data = self._socket.recv(_SEND)
        except TimeoutError:
            raise
        except OSError as error:
            raise DisconnectedError from error
        if not data:
            raise DisconnectedError
        return data

    def send(self, *messages: PGMessage) -> None:
        """Queue messages; they go out when many wait, or with `flush`."""
        for message in messages:
            self._state.send(message)  # type: ignore[arg-type]
            self._decoder.phase = self._state.phase
            self._waiting += message.to_wire()
        if len(self._waiting) > _SEND:
            self.flush()

    def send_rows(self, rows: Iterator[bytes]) -> None:
        """Queue rows of an answer that are written already."""
        for row in rows:
            self._waiting += row
            if len(self._waiting) > _SEND:
                self.flush()

    def flush(self) -> None:
        """Send the waiting bytes.

        Raises:
            DisconnectedError: the client is gone, or reads nothing.
        """
        if not self._waiting:
            return
        data = bytes(self._waiting)
        self._waiting.clear()
        try:
            self._socket.settimeout(_SEND_SECONDS)
            self._socket.sendall(data)
        except OSError as error:
            raise DisconnectedError from error

    def fail(self, error: ServeError) -> None:
        """Send an error."""
        fields = {"S": "ERROR", "V": "ERROR", "C": error.code, "M": error.message.replace("\0", "")}
        if error.hint:
            fields["H"] = error.hint.replace("\0", "")
        if error.position:
            fields["P"] = str(error.position)
        self.send(ErrorResponse(fields=fields))

    def leave(self, error: ServeError) -> None:
        """Send an error that ends the connection, whatever the client may expect now."""
        with contextlib.suppress(Exception):
            self.flush()
            fields = {"S": "FATAL", "V": "FATAL", "C": error.code, "M": error.message}
            self._waiting += ErrorResponse(fields=fields).to_wire()
            self.flush()

    def note(self, notice: Notice) -> None:
        """Send a notice of an answer: always, also to clients that ask for less by ``client_min_messages``."""
        code = "00000" if notice.severity == "NOTICE" else "01000"
        fields = {"S": notice.severity, "V": notice.severity, "C": code, "M": notice.text.replace("\0", "")}
        self.send(NoticeResponse(fields=fields))

    def secure(self, context: ssl.SSLContext) -> None:
        """Continue with TLS.

        Raises:
            DisconnectedError: the client does not speak it.
        """
        try:
            self._socket.settimeout(self.seconds)
            self._socket = context.wrap_socket(self._socket, server_side=True)
        except OSError as error:
            raise DisconnectedError from error

    def interrupt(self) -> None:
        """End the connection from another thread: the reading thread finds the end of the stream, and closes it.

        To close it here would take the number of the socket from that thread, which would wait for a timeout.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection, in the thread that reads it."""
        self.interrupt()
        with contextlib.suppress(OSError):
            self._socket.close()
