"""``sqlanon mcp``: releases as tools for agents."""

from __future__ import annotations

from sqlanon.cli.commands.serve import Owner, Releases, Role, Timeout, make_missing_error, open_served
from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url
from sqlanon.cli.screen import Screen


def mcp(
    screen: Screen,
    role: Role = None,
    owner: Owner = False,
    releases: Releases = None,
    timeout: Timeout = 60.0,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Serve releases to agents by the Model Context Protocol, on standard input and output.

    The tools are releases, describe and ask; none reaches a source.
    """
    where = find_url(db, find_policy(db, policy))
    try:
        from sqlanon.serve.client_tables import Reader
        from sqlanon.serve.mcp import make_server
        from sqlanon.serve.start import Options, make_shared
    except ImportError as error:
        raise make_missing_error("mcp", error) from error
    options = Options(Reader(role, owner, tuple(releases or ())), seconds=timeout)
    shared = make_shared(where, lambda: open_served(where, screen), options)
    try:
        make_server(shared).run("stdio")
    finally:
        shared.close()
    return None
