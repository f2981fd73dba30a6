"""The sides of an evaluation: a view and the table that it was made of."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef


@dataclass(frozen=True, slots=True)
class Sides:
    """A release's name, view, and source."""

    name: str
    view: TableRef
    source: TableRef
