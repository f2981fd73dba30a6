"""A server from options: users and certificate are read, the reader is checked, the address is taken."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sqlanon.errors import PolicyError
from sqlanon.serve.access import AccessLog
from sqlanon.serve.client_tables import Reader
from sqlanon.serve.login import Tls
from sqlanon.serve.queries import ServerState
from sqlanon.serve.query_connections import ReleaseQuestions
from sqlanon.serve.server import Limits, Server
from sqlanon.serve.users import open_secret, read_users

if TYPE_CHECKING:
    from sqlanon.database.database import Database

MOST_ROWS = 10_000
"""Rows of an answer, unless the caller passes another number."""
WORKERS = 4
"""Connections to the database, unless the caller passes another number."""


@dataclass(frozen=True)
class Options:
    """Options of a server.

    Attributes:
        reader: the reader with the rights of every query.
        users: the file with users; None: a variable of the environment.
        certificate, key: files of TLS, both or none.
        seconds: most seconds of a query.
        rows: most rows of an answer.
        workers: queries that are answered at once.
        limits: limits of connections.
        log: the access log; None: there is none.
        texts: the log has the queries.
        bounds: sessions begin with the bounds of answers on.
    """

    reader: Reader
    users: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    seconds: float = 60.0
    rows: int = MOST_ROWS
    workers: int = WORKERS
    limits: Limits = field(default_factory=Limits)
    log: TextIO | None = None
    texts: bool = False
    bounds: bool = False


def make_server(url: str, opening: Callable[[], Database], options: Options) -> Server:
    """A server that listens nowhere yet.

    Args:
        url: URL of the database.
        opening: opens a connection to it that only reads.
        options: how.

    Raises:
        PolicyError: the reader may read more than releases, or users or files of TLS are not as they should be.
        DatabaseError: the database cannot be read.
    """
    shared = make_shared(url, opening, options)
    try:
        return Server(shared, read_users(options.users), _tls(options.certificate, options.key), options.limits)
    except BaseException:
        shared.close()
        raise


def make_shared(url: str, opening: Callable[[], Database], options: Options) -> ServerState:
    """The shared objects that answer queries, without a server around them; see `make_server`."""
    asking = ReleaseQuestions(opening, url, options.reader, options.workers, options.seconds)
    try:
        asking.list_served()
        return ServerState(asking, options.rows, AccessLog(options.log, texts=options.texts), bounds=options.bounds)
    except BaseException:
        asking.close()
        raise


def address(text: str) -> tuple[str, int]:
    """Host and port of ``127.0.0.1:5433``, ``[::1]:5433`` or ``5433``.

    Raises:
        PolicyError: it is none of these.
    """
    host, _, port = text.rpartition(":")
    if not port.isdigit() or not port.isascii() or int(port) > 65535:
        raise PolicyError(f"--listen {text}: host:port is wanted, such as 127.0.0.1:5433")
    return host.strip("[]") or "127.0.0.1", int(port)


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise PolicyError("--tls-cert and --tls-key belong together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        with open_secret(key) as file:
            opened = Path(f"/dev/fd/{file.fileno()}")  # the file that was checked, whatever the name means now
            # Without a password, so that none is asked for on the terminal.
            context.load_cert_chain(certificate, opened if opened.exists() else key, password="")
        return Tls(context, certificate.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise PolicyError(
            f"{certificate} and {key} are no certificate and its key, as PEM without a password"
        ) from error
