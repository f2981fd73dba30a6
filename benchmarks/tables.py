"""What the report's tables share: cells, the line under a table, reading results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Result = dict[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def source(result: Result) -> str:
    """Where figures come from: command, date, versions, machine."""
    machine, versions = result["machine"], result["versions"]
    engine = {"postgres": "psycopg", "spark": "pyspark"}.get(result.get("engine", ""), "duckdb")
    return (
        f"`{result['command']}`, {result['date']}, Python {versions['python']}, {engine} {versions[engine]}, "
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB."
    )


def read(folder: Path, name: str) -> Result | None:
    """A result file, None where there is none yet."""
    file = folder / f"{name}.json"
    return dict(json.loads(file.read_text())) if file.is_file() else None


def figures(folder: Path, name: str, head: Sequence[str], rows: Callable[[Result], Iterable[Sequence[object]]]) -> str:
    """The section of one result file: its table, and where the figures come from. Empty where there is no file yet."""
    result = read(folder, name)
    return "" if result is None else f"{table(head, rows(result))}\n\n{source(result)}"


def number(value: float | None, form: str) -> str:
    """A figure, a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


def contender(one: Result) -> str:
    """The method of a line of loss.json."""
    return str(one.get("contender") or f"mondrian {one['variant']} {one['cut']}")
