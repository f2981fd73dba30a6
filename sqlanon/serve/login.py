"""From a new connection to a user: TLS, the startup message, SCRAM-SHA-256; or a request to cancel."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from pygwire.messages import (
    AuthenticationOk,
    AuthenticationSASL,
    AuthenticationSASLContinue,
    AuthenticationSASLFinal,
    CancelRequest,
    GSSEncRequest,
    GSSResponse,
    PGMessage,
    SASLInitialResponse,
    SASLResponse,
    SSLRequest,
    SSLResponse,
    StartupMessage,
)
from scramp import ScramException, ScramMechanism

from sqlanon.serve.refusals import BAD_LOGIN, BAD_PROTOCOL, DisconnectedError, ServeError
from sqlanon.serve.users import Users
from sqlanon.serve.wire import MESSAGE_BYTES, Wire

_PLAIN, _BOUND = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"


@dataclass(frozen=True)
class Tls:
    """The server's side of TLS.

    Attributes:
        context: certificate and key.
        certificate: the text of the certificate, which logins are bound to.
    """

    context: ssl.SSLContext
    certificate: str


@dataclass(frozen=True)
class Login:
    """A user who has logged in.

    Attributes:
        user: the name.
        settings: the other parameters of the startup message.
        long_keys: the client takes long keys for cancellations (protocol 3.2).
    """

    user: str
    settings: dict[str, str]
    long_keys: bool


def log_in(wire: Wire, users: Users, tls: Tls | None) -> Login | CancelRequest:
    """Read the messages of a client before the first query.

    Args:
        wire: the new connection.
        users: the users who may log in.
        tls: None: connections are not encrypted; else only encrypted connections are let in.

    Raises:
        ServeError: the login failed.
        DisconnectedError, TimeoutError: the client did not finish it.
    """
    secured = False
    for _ in range(4):
        message = wire.receive()
        if isinstance(message, GSSEncRequest):
            wire.send(GSSResponse(accepted=False))
        elif isinstance(message, SSLRequest) and not secured:
            if wire.unread:  # nobody may put a message in front of the encrypted ones
                raise ServeError(BAD_PROTOCOL, "data came before TLS was agreed on")
            wire.send(SSLResponse(accepted=tls is not None))
            wire.flush()
            if tls is not None:
                wire.secure(tls.context)
                secured = True
        elif isinstance(message, CancelRequest):
            return message
        elif isinstance(message, StartupMessage):
            if tls is not None and not secured:
                raise ServeError(
                    "28000", "this server takes encrypted connections only", "connect with sslmode=require"
                )
            return _start(wire, message, users, tls if secured else None)
        else:
            break
    raise ServeError(BAD_PROTOCOL, "a startup message is wanted")


def _start(wire: Wire, message: StartupMessage, users: Users, tls: Tls | None) -> Login:
    settings = dict(message.params)
    user = settings.pop("user", "")
    if not user:
        raise ServeError("28000", "the startup message names no user")
    try:
        _exchange(wire, user, users, tls)
    except ScramException as error:
        raise ServeError(BAD_LOGIN, "password authentication failed") from error
    wire.send(AuthenticationOk())
    wire.most = MESSAGE_BYTES
    return Login(user, settings, message.protocol_version & 0xFFFF >= 2)


def _exchange(wire: Wire, user: str, users: Users, tls: Tls | None) -> None:
    """The messages of RFC 5802, bound to the certificate where there is a certificate (RFC 5929)."""
    binding = None if tls is None else ("tls-server-end-point", tls.certificate)
    wire.send(AuthenticationSASL(mechanisms=[_PLAIN] if binding is None else [_BOUND, _PLAIN]))
    first = wire.receive()
    if not isinstance(first, SASLInitialResponse) or first.mechanism not in (_PLAIN, _BOUND):
        raise ServeError(BAD_PROTOCOL, "SCRAM-SHA-256 is wanted")
    if first.mechanism == _BOUND and binding is None:
        raise ServeError(BAD_PROTOCOL, "a login is bound to a certificate only over TLS")
    server = ScramMechanism(first.mechanism).make_server(lambda _: users.verifier(user), channel_binding=binding)
    text = _text(first.data)
    header, bare = _split(text)
    # As PostgreSQL does: the name is that of the startup message. libpq sends none here, which RFC 5802 forbids.
    server.set_client_first(f"{header}n=*,{bare.partition(',')[2]}" if bare.startswith("n=,") else text)
    server.client_first_bare = bare
    wire.send(AuthenticationSASLContinue(data=server.get_server_first().encode()))
    last = wire.receive()
    server.set_client_final(_text(_response(last)))
    wire.send(AuthenticationSASLFinal(data=server.get_server_final().encode()))


def _response(message: PGMessage) -> bytes:
    if not isinstance(message, SASLResponse):
        raise DisconnectedError
    return message.data


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeError as error:
        raise ServeError(BAD_PROTOCOL, "a message of SCRAM is text") from error


def _split(text: str) -> tuple[str, str]:
    """The header that names the binding, and the rest."""
    parts = text.split(",", 2)
    if len(parts) < 3:
        raise ServeError(BAD_PROTOCOL, "a message of SCRAM has a header")
    return f"{parts[0]},{parts[1]},", parts[2]
