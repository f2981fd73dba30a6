"""Private tables of statistics that are changed before they are compared: the certificate refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sqlanon.statistics.private_tables import KeptTables

PAST = ("past_atoms", "past_cells", "past_witness")


def table_names(kept: KeptTables) -> dict[str, str]:
    """The quoted names of private tables by their parts; ``physical`` is the table to be published."""
    tables = {part: table.name for part, table in kept.parts().items()}
    stem = kept.cells.name.removesuffix("_cells")
    tables |= {"physical": stem} | {part: f"{stem}_{part}" for part in PAST}
    return {part: f'"_sqlanon"."{table}"' for part, table in tables.items()}


def tamper(
    patch: pytest.MonkeyPatch,
    module: Any,
    function: str,
    *statements: str,
    more: Callable[[], Mapping[str, object]] = dict,
) -> None:
    """Change the tables before a function of a module reads them.

    Args:
        patch: undoes it after the test.
        module: where the function is called.
        function: takes a workplace first, and `KeptTables` somewhere.
        statements: SQL with tables by their parts, as ``{atoms}``.
        more: further names in statements, known when these are executed.
    """
    compare = getattr(module, function)

    def change_first(scratch: Any, *arguments: Any) -> Any:
        (kept,) = (argument for argument in arguments if isinstance(argument, KeptTables))
        for statement in statements:
            scratch.engine.execute(statement.format(**table_names(kept), **more()))
        return compare(scratch, *arguments)

    patch.setattr(module, function, change_first)
