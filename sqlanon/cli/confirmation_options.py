"""The options that confirm limits of Spark for a release: of every command with ``--db``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sqlanon.errors import PolicyError


@dataclass(frozen=True, slots=True)
class ConfirmedOption:
    """An option, the argument of `sqlanon.connect` that it sets, and the option's declaration for typer."""

    option: str
    name: str
    kind: Any


CONFIRMED = tuple(
    ConfirmedOption(
        option, option[2:].replace("-", "_"), Annotated[bool, typer.Option(option, help=says, rich_help_panel="Spark")]
    )
    for option, says in (
        ("--accept-shared", "Spark: confirm that others may be able to read the files of the private schema."),
        ("--temporary", "Spark: confirm that what is published may be gone with the session."),
    )
)


def collect_confirmations(where: str, options: Collection[str]) -> dict[str, bool]:
    """The arguments of `sqlanon.connect` that options set.

    Raises:
        PolicyError: an option is given, and the database is not Spark.
    """
    if options and where.partition(":")[0].lower() not in ("sc", "spark+local"):
        raise PolicyError(
            f"{' and '.join(options)}: for Spark alone (sc://host:port, spark+local:///DIR); leave it out"
        )
    return {option.name: True for option in CONFIRMED if option.option in options}
