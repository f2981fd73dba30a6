"""``sqlanon serve``: answer PostgreSQL clients over releases."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from sqlanon.cli.confirmation_options import collect_confirmations
from sqlanon.cli.options import Db, FromVariables, PolicyFile, find_policy, find_url, flag, option
from sqlanon.cli.screen import Screen
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError, UnsupportedError

if TYPE_CHECKING:
    from sqlanon.database import Database

Role = Annotated[str | None, option("--as", "ROLE", "PostgreSQL: the role whose rights every query has.")]
Owner = Annotated[bool, flag("--owner", "Confirm that the role, or whoever opens this file, may read sources.")]
Releases = Annotated[list[str] | None, option("--release", "NAME", "Only this view; may be repeated.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of a query.")]


def serve(
    screen: Screen,
    role: Role = None,
    owner: Owner = False,
    releases: Releases = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Beyond this machine with TLS only.")
    ] = "127.0.0.1:5433",
    users: Annotated[
        Path | None,
        option(
            "--users",
            "FILE",
            "Lines name:password, or name:verifier of SCRAM-SHA-256 (default: the variable SQLANON_SERVE_USERS).",
        ),
    ] = None,
    tls_cert: Annotated[Path | None, option("--tls-cert", "FILE", "Certificate, as PEM.")] = None,
    tls_key: Annotated[Path | None, option("--tls-key", "FILE", "Its key, as PEM.")] = None,
    timeout: Timeout = 60.0,
    max_rows: Annotated[int, typer.Option("--max-rows", metavar="N", min=1, help="Rows of an answer.")] = 10_000,
    connections: Annotated[int, typer.Option("--connections", metavar="N", min=1, help="Clients at once.")] = 50,
    user_connections: Annotated[
        int, typer.Option("--user-connections", metavar="N", min=1, help="Clients at once of one user.")
    ] = 20,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Queries at once.")] = 4,
    bounds: Annotated[
        bool, flag("--bounds", "Sessions begin with sqlanon.bounds = on: answers have their bounds.")
    ] = False,
    log: Annotated[
        str | None, option("--log", "FILE", "Access log, a JSON object a line; - is stderr. It has no values.")
    ] = None,
    log_text: Annotated[bool, flag("--log-text", "Write the queries into the access log as well.")] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Serve releases to clients of PostgreSQL: psql, DBeaver, SQLAlchemy, JDBC.

    Tables have the names and columns of the sources; answers are estimates, with bounds after SET sqlanon.bounds = on.
    Ends with Ctrl-C or SIGTERM.
    """
    where = find_url(db, find_policy(db, policy))
    try:
        from sqlanon.serve.client_tables import Reader
        from sqlanon.serve.server import Limits
        from sqlanon.serve.start import Options, address, make_server
    except ImportError as error:
        raise make_missing_error("serve", error) from error
    host, port = address(listen)
    with _stream(log) as stream:
        options = Options(
            Reader(role, owner, tuple(releases or ())),
            users,
            tls_cert,
            tls_key,
            timeout,
            max_rows,
            workers,
            Limits(connections, of_user=user_connections),
            stream,
            log_text,
            bounds,
        )
        server = make_server(where, lambda: open_served(where, screen), options)
        try:
            bound = server.listen(host, port)
            screen.emit({"host": bound[0], "port": bound[1]})
            screen.show(f"serving on {bound[0]}:{bound[1]}; stop with Ctrl-C")
            sys.stdout.flush()
            server.serve()
        finally:
            server.close()
    return None


def open_served(where: str, screen: Screen) -> Database:
    """A connection that only reads; an error shows no value of a variable that the URL was made of."""
    from sqlanon import connect

    confirmed: dict[str, Any] = dict(collect_confirmations(where, screen.confirmed))
    try:
        return connect(where, read_only=True, **confirmed)
    except SqlanonError as error:
        if not isinstance(where, FromVariables):
            raise
        raise DatabaseError(
            f"the database of connection: {where.written} cannot be opened; {error.__class__}"
        ) from None


def make_missing_error(extra: str, error: ImportError) -> UnsupportedError:
    """The error of a command with packages that are not installed."""
    return UnsupportedError(f"{extra} needs the package {error.name}: pip install 'sqlanon[{extra}]'")


@contextmanager
def _stream(log: str | None) -> Iterator[TextIO | None]:
    if log is None or log == "-":
        yield None if log is None else sys.stderr
        return
    from sqlanon.serve.access import open_log

    try:
        stream = open_log(Path(log))
    except OSError as error:
        raise PolicyError(f"--log {log}: cannot be written") from error
    with stream:
        yield stream
