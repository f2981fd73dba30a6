"""URLs of Spark that name a database with transactions as well, for ledgers of budgets: the parameter ``state``.

It is the last parameter, so that it needs no quoting.
"""

from __future__ import annotations

import re

OF_SPARK = ("sc", "spark+local")
"""Schemes of Spark."""
_LAST = re.compile(r"(.*?)[;?&]state=(.+)", re.DOTALL)


def is_spark(url: str) -> bool:
    """Whether a URL is of Spark."""
    return url.partition(":")[0].lower() in OF_SPARK


def split_state(url: str) -> tuple[str, str | None]:
    """A URL without the parameter, and the database that it names; None: it names none.

    >>> split_state("spark+local:///DIR?cores=2&state=duckdb:///state.duckdb")
    ('spark+local:///DIR?cores=2', 'duckdb:///state.duckdb')
    """
    match = _LAST.fullmatch(url) if is_spark(url) else None
    return (url, None) if match is None else (match[1].removesuffix("/"), match[2])


def add_state(url: str, state: str) -> str:
    """A URL with the parameter.

    >>> add_state("sc://host:15002", "postgresql://host/ledgers")
    'sc://host:15002/;state=postgresql://host/ledgers'
    >>> add_state("spark+local:///DIR", "duckdb:///state.duckdb")
    'spark+local:///DIR?state=duckdb:///state.duckdb'

    Raises:
        ValueError: the URL is not of Spark, or names a database for ledgers.
    """
    if not is_spark(url):
        raise ValueError("state: for Spark alone (sc://host:port, spark+local:///DIR), which has no transactions")
    if split_state(url)[1] is not None:
        raise ValueError("state: the connection names another such database")
    if url.lower().startswith("sc:"):
        mark = ";" if ";" in url else "/;"
        return f"{url.removesuffix('/')}{mark}state={state}"
    return f"{url}{'&' if '?' in url else '?'}state={state}"
