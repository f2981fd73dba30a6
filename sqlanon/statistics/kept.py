"""The private tables of a version of counts, by which it is verified and audited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.counted import KEPT_PARTS, Method
from sqlanon.engines.base import Statement, TableRef

if TYPE_CHECKING:
    from sqlanon.statistics.shape import Shape
    from sqlanon.table.scratch import Scratch

Tables = Mapping[str, TableRef]
"""The tables by their parts."""


def kept_beside(physical: TableRef, method: Method) -> dict[str, TableRef]:
    """The private tables of a version by the name of the version's table."""
    return {part: replace(physical, name=f"{physical.name}_{part}") for part in KEPT_PARTS[method]}


def keep_statements(scratch: Scratch, shape: Shape, made: Tables, kept: Tables) -> list[Statement]:
    """The statements that copy scratch tables into the private tables of a version."""
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    columns = {
        "cells": ["cell", *levels, "n", "persons"],
        "atoms": ["atom", *shape.key_columns(), "n", "persons", "owner"],
        "witness": ["witness", "atom", "change"],
        "noise": ["cell", "key", "value", "change", "marks"],
        "chances": ["number", "first", "until", "change"],
    }
    return [
        scratch.sql("statistics/keep", kept=table, table=made[part], columns=columns[part])
        for part, table in kept.items()
    ]
