"""Places that releases are sent to (``publish_to``): URLs of databases without secrets, and names of lake tables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from sqlanon.lake_names import lake_of

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DUCKDB = re.compile(r"duckdb:///(.+)", re.DOTALL)
_POSTGRES = re.compile(r"postgres(ql)?://.*", re.DOTALL)
_SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")


def check_target(url: str) -> str:
    """The URL, or the name of a lake table, if it is one that rows can be sent to.

    >>> check_target("postgresql://sender:${PASSWORD}@host/analysts")
    'postgresql://sender:${PASSWORD}@host/analysts'
    >>> check_target("postgresql://sender:1234@host/analysts")
    Traceback (most recent call last):
    ValueError: a password in the URL

    Raises:
        ValueError: it is of another kind, or holds a password.
    """
    if _VARIABLE.fullmatch(url):
        return url
    if lake_of(url):
        if _VARIABLE.search(url):
            raise ValueError("a variable in the name of a lake table")
        return url
    if "\0" in url or not (_POSTGRES.fullmatch(url) or _names_file(url)):
        raise ValueError("not the URL of a database that rows are sent to")
    if _POSTGRES.fullmatch(url) and any(not _VARIABLE.fullmatch(secret) for secret in _list_secrets(url)):
        raise ValueError("a password in the URL")
    return url


def _list_secrets(url: str) -> list[str]:
    """The secrets of a URL of PostgreSQL as libpq reads it: ``#`` and ``?`` do not end the user and the password.

    >>> _list_secrets("postgresql://sender:12#4@host/analysts?application_name=a#b&sslpassword=5")
    ['12#4', '5']
    """
    rest = url.partition("://")[2]
    settings = [setting.partition("=") for setting in re.split("[?&]", rest)]
    secrets = [rest.partition("/")[0].rpartition("@")[0].partition(":")[2]]
    secrets += [value for name, _, value in settings if unquote(name).lower() in _SECRETS]
    return [secret for secret in secrets if secret]


def _names_file(url: str) -> bool:
    match = _DUCKDB.fullmatch(url)
    return match is not None and match[1] != ":memory:"


def place_of(url: str) -> str:
    """The URL with the path of a DuckDB file from the root: the same from every folder."""
    match = _DUCKDB.fullmatch(url)
    return url if match is None or "${" in url else f"duckdb:///{Path(match[1]).absolute()}"


def needs_environment(url: str) -> bool:
    """Whether the environment can decide which database a URL names: by variables of ours, or by those of libpq."""
    return _VARIABLE.search(url) is not None or _POSTGRES.fullmatch(url) is not None


def address_of(url: str, environ: Mapping[str, str] | None = None) -> str:
    """Server, port and database of a URL without variables; user, password and other settings are left out.

    Args:
        url: the URL.
        environ: where libpq looks for what the URL leaves out (``PGHOST`` and others); None: the process's.

    >>> address_of("postgres://sender:1234@HOST/analysts?sslmode=require", {})
    'postgresql://host:5432/analysts'
    >>> address_of("postgresql:///analysts?host=/run/postgresql", {"PGPORT": "5433"})
    'postgresql:///run/postgresql:5433/analysts'
    """
    if not _POSTGRES.fullmatch(url):
        return place_of(url)
    values = os.environ if environ is None else environ
    # As in `_list_secrets`: a password can have the characters that end a host elsewhere.
    server, slash, rest = url.partition("://")[2].partition("/")
    user = server.rpartition("@")[0].partition(":")[0]
    path, _, settings = rest.partition("?")
    if not slash:
        server, _, settings = server.partition("?")
    options = {
        unquote(name): unquote(value) for name, _, value in (part.partition("=") for part in settings.split("&"))
    }
    service = options.get("service") or values.get("PGSERVICE")
    if service and not server.rpartition("@")[2]:
        return f"service {service} {options.get('dbname', unquote(path))}"
    host, _, port = server.rpartition("@")[2].rpartition(":")
    if not port.isdigit():
        host, port = server.rpartition("@")[2].removesuffix(":"), ""
    address = options.get("hostaddr") or values.get("PGHOSTADDR")  # libpq connects to it, whatever the host
    host = address or options.get("host") or unquote(host).lower() or values.get("PGHOST", "")
    port = options.get("port") or port or values.get("PGPORT", "5432")
    database = options.get("dbname") or unquote(path) or values.get("PGDATABASE", "")
    database = database or options.get("user") or unquote(user) or values.get("PGUSER", "")
    return f"postgresql://{host}:{port}/{database}" + (f" service {service}" if service else "")


def read_variables(url: str, environ: Mapping[str, str] | None = None) -> str:
    """The URL with the values of the environment's variables.

    Raises:
        KeyError: a variable is not set.
    """
    values = os.environ if environ is None else environ
    return _VARIABLE.sub(lambda match: values[match[1]], url)
