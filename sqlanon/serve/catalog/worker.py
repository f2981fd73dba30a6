"""The process that has the catalog: a database in memory, with no secret, no other connection, and bounded memory.

It reads a JSON object per line of the input, and writes another per line. It imports nothing of sqlanon, so that it
starts fast.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
from typing import Any

import duckdb

MEMORY = 3 << 29
"""Bytes of address space that the process may have; DuckDB's own limit does not count every text."""

LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0B",
    "temp_directory": "",  # nothing is written into the folder that the server was started in
    "threads": "1",
}

_ZONED = "TIMESTAMP WITH TIME ZONE"
_MOST = 1 << 23
"""Characters of an answer: fifty sessions may keep five each."""


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = duckdb.connect(":memory:", config=LOCKED)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "statements" in request:
                for text, values in request["statements"]:
                    connection.execute(text, values)
                connection.execute("SET TimeZone = 'UTC'")
                connection.execute("SET lock_configuration = true")
                answer: dict[str, Any] = {}
            else:
                answer = _fetch(connection, request["text"], request["seconds"], request["rows"])
        except duckdb.InterruptException:
            answer = {"late": True}
        except (duckdb.FatalException, duckdb.InternalException, MemoryError):
            # The database cannot be used any more: the server starts another process for the next question.
            answer = {"error": "it took too much memory, or met a defect of the database", "ended": True}
        except (duckdb.Error, ValueError) as error:
            answer = {"error": str(error).partition("\n")[0][:300]}
        reply = json.dumps(answer, default=str)
        if len(reply) > _MOST:
            reply = json.dumps({"error": "the answer is too large"})
        sys.stdout.write(reply + "\n")
        sys.stdout.flush()


def _fetch(connection: duckdb.DuckDBPyConnection, text: str, seconds: float, rows: int) -> dict[str, Any]:
    stop = threading.Timer(seconds, connection.interrupt)
    stop.start()
    try:
        connection.execute(text)
        columns = [[str(name), str(kind)] for name, kind, *_ in connection.description or []]
        if any(kind == _ZONED for _, kind in columns):  # DuckDB gives such values with another package only
            names = [f"c{i}" for i in range(len(columns))]
            plain = [
                f"CAST({name} AS TIMESTAMP)" if kind == _ZONED else name
                for name, (_, kind) in zip(names, columns, strict=True)
            ]
            connection.execute(f"SELECT {', '.join(plain)} FROM ({text}) AS zoned({', '.join(names)})")  # noqa: S608
        return {"columns": columns, "rows": connection.fetchmany(rows + 1)}
    finally:
        stop.cancel()


if __name__ == "__main__":
    main()
