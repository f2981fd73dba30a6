"""Formats: how the classes of a release are published.

Each is an object in a separate file; no code elsewhere compares the names.

A format declares the columns, how they are made (a template), whether they cover the rows, how rows are grouped, how
queries and comparisons read a cell, and which policies it refuses. Facts for policies are in
`sqlanon.declared.formats`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from sqlanon.declared import FORMATS, FormatFacts
from sqlanon.errors import PolicyError
from sqlanon.formats.base import Cell, Format, RecodedClasses
from sqlanon.formats.grouping import Grouping, RowGroups
from sqlanon.formats.layout import COUNT, GROUP, Layout, Names, PublishedColumn
from sqlanon.formats.levels import Levels
from sqlanon.formats.members import Candidates, Members


def format_of(name: str) -> Format:
    """The format of a name, as policies, catalogs and metadata write it.

    Raises:
        PolicyError: this version of sqlanon does not know it.
    """
    if name not in FORMATS:
        raise PolicyError(f"format {name} is not installed here; there are {', '.join(FORMATS)}")
    return _make_format(FORMATS[name])


@cache
def _make_format(facts: FormatFacts) -> Format:
    code = facts.code
    if isinstance(code, str):
        module, _, name = code.partition(":")
        code = getattr(import_module(module), name)
    new_format: Format = code(facts)
    return new_format
