"""The same answers as tools for agents, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from sqlanon._version import __version__
from sqlanon.errors import SqlanonError
from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.commands import Commands
from sqlanon.serve.queries import Queries, ServerState
from sqlanon.serve.refusals import ServeError, explain
from sqlanon.serve.texts import split
from sqlanon.serve.variables import BOUNDS, Variables

INSTRUCTIONS = (
    "Tables here are anonymized releases: rows of persons cannot be read. Ask aggregates in SQL against the columns "
    "that `describe` lists. Each number n is an estimate with the bounds n_low and n_high, which hold for every table "
    "that can have this release; report them with the estimate. The texts NaN, Infinity and -Infinity are numbers that "
    "JSON does not have. A refusal says why, and what to ask instead."
)
USER = "mcp"


@dataclass(frozen=True)
class Tools:
    """Implementation of the tools.

    Args:
        shared: answers over releases.
    """

    shared: ServerState

    def releases(self) -> list[dict[str, Any]]:
        """The releases that can be asked."""
        return [
            {
                "table": f"{released.schema}.{released.name}",
                "release": released.release,
                "version": released.version,
                "about": released.comment,
            }
            for released in self._list_served()
        ]

    def describe(self, table: str) -> dict[str, Any]:
        """A release's columns, how each was published, and the guarantees of an answer.

        Args:
            table: as `releases` names it, or without the schema.
        """
        matches = [
            released
            for released in self._list_served()
            if table in (released.name, f"{released.schema}.{released.name}")
        ]
        if len(matches) != 1:
            names = ", ".join(f"{released.schema}.{released.name}" for released in self._list_served())
            raise ToolError(f"{table[:200]} is not one table here; there are: {names or 'none'}")
        (released,) = matches
        return {
            "table": f"{released.schema}.{released.name}",
            "about": released.comment,
            "columns": [
                {"name": column.name, "type": column.type.name, "published": comment}
                for column, comment in zip(released.columns, released.comments, strict=True)
            ],
            "promised": "n_low and n_high hold for every source that can have this release; certain: the row is in the "
            "answer of each of them",
            "not_promised": "that the estimate is the truth, or that a published value belongs to a person",
        }

    def ask(self, sql: str) -> dict[str, Any]:
        """Ask one SELECT: for each aggregate n the estimate n, and the bounds n_low and n_high.

        Args:
            sql: one SELECT over one of the tables.
        """
        try:
            pieces = split(sql)
            if len(pieces) != 1:
                raise ToolError("one SELECT is wanted")
            variables = Variables(USER, "public", {BOUNDS: "on"})
            queries = Queries(self.shared, Commands(variables, lambda _: None), USER, "local", 0)
            prepared = queries.prepare(pieces[0])
            if prepared.served is None:
                raise ToolError("the query asks no release; `releases` lists the tables")
            result = queries.run(prepared, shape=lambda value: value)
        except (ServeError, SqlanonError) as error:
            raise ToolError(_format_error(explain(error))) from error
        names = [column.name for column in result.columns or ()]
        rows = [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in result.rows]
        return {"rows": rows, "notes": [notice.text for notice in result.notices]}

    def _list_served(self) -> tuple[ServedTable, ...]:
        try:
            return self.shared.asking.list_served()
        except SqlanonError as error:
            raise ToolError(_format_error(explain(error))) from error


def make_server(shared: ServerState) -> MCPServer[Any]:
    """A server with the three tools; ``run()`` serves them on standard input and output."""
    tools = Tools(shared)
    server: MCPServer[Any] = MCPServer("sqlanon", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")

    # In separate threads, so that a long query does not hold up the protocol.
    @server.tool(description=tools.releases.__doc__)
    async def releases() -> list[dict[str, Any]]:
        return await asyncio.to_thread(tools.releases)

    @server.tool(description=tools.describe.__doc__)
    async def describe(table: str) -> dict[str, Any]:
        return await asyncio.to_thread(tools.describe, table)

    @server.tool(description=tools.ask.__doc__)
    async def ask(sql: str) -> dict[str, Any]:
        return await asyncio.to_thread(tools.ask, sql)

    return server


def _format_error(error: ServeError) -> str:
    where = f" (at character {error.position})" if error.position else ""
    return f"refused: {error.message}{where}{f'; {error.hint}' if error.hint else ''}"


def _plain(value: object) -> object:
    """A value as JSON has it: numbers that it has not, as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
