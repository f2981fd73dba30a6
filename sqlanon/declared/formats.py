"""The declarations of formats: plain data, for policies and other code that makes no release.

Nothing here knows SQL or databases. The code of a format is in `sqlanon.formats`; no code outside of that room compares
names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlanon.declared.registry import Registry
from sqlanon.lack import UNDECLARED, Able, never, notimpl


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """A format.

    Where it lacks ``means``, ``reach``, ``hides`` or ``cells``, the value is a marker with the reason (`sqlanon.lack`).

    Attributes:
        name: as policies name it.
        code: ``module:class`` of a `sqlanon.formats.base.Format`, or the class itself.
        about: published content, in a sentence or two of the reference.
        single: a cell is a single value of the source, or NULL: it does not show all that its class holds.
        text: a cell is a text that has to be read: `sqlanon.formats.label_text`.
        means: it can publish class means (``mean``).
        reach: it shows how far a class reaches, so that a bound on that can be checked.
        source_names: every published column is called as a column of the source.
        exact: quasi values are published as they are: they meet no k, and show who is in the table.
        paired: a second table holds the sensitive values by group.
        either: a cell is the value or nothing, so that a class loses nothing or all in a column.
        cells: it says which values lie in a cell, so that rows of a population can be counted in it.
        hides: a class can publish that a value is any, ``*``: suppressed rows are published so.
        attains: it publishes ends and sets, so that of classes with the least boxes each end and each member is the
            value of some row.
    """

    name: str
    code: str | type[Any]
    about: str
    single: bool = False
    text: bool = False
    means: Able = UNDECLARED
    reach: Able = UNDECLARED
    source_names: bool = False
    exact: bool = False
    paired: bool = False
    hides: Able = UNDECLARED
    either: bool = False
    cells: Able = UNDECLARED
    attains: bool = False


_AS_THEY_ARE = never("quasi values are published as they are")
_VALUE_OR_NOTHING = never("a cell is the value or nothing")

RANGES = FormatFacts(
    "ranges",
    "sqlanon.formats.ranges:Ranges",
    "`<column>_lo` and `<column>_hi` in the source's type, hierarchy nodes as labels, sets as arrays.",
    means=True,
    reach=True,
    hides=True,
    cells=True,
    attains=True,
)
LABELS = FormatFacts(
    "labels",
    "sqlanon.formats.labels:Labels",
    "one text column each, `[20, 29]`.",
    text=True,
    means=never("its columns are texts"),
    reach=True,
    source_names=True,
    hides=True,
    cells=True,
)
POINTS = FormatFacts(
    "points",
    "sqlanon.formats.points:Points",
    "a representative value in the source's type.",
    single=True,
    means=never("a cell is one value already"),
    reach=True,
    source_names=True,
    hides=never("no value of a type means any value"),
    cells=never("a cell is one value of those that it covers"),
)
SUPPRESSED = FormatFacts(
    "suppressed",
    "sqlanon.formats.suppressed:SuppressedFormat",
    "the value where the class agrees, else NULL.",
    single=True,
    means=_VALUE_OR_NOTHING,
    reach=_VALUE_OR_NOTHING,
    hides=True,
    either=True,
    cells=notimpl("what a class hides is not looked for in a population"),
)
ANATOMY = FormatFacts(
    "anatomy",
    "sqlanon.formats.anatomy:Anatomy",
    "the quasi columns as they are, and the sensitive values counted by group in a second view, "
    "`<publish>_sensitive`; shows who is in the table.",
    exact=True,
    paired=True,
    means=_AS_THEY_ARE,
    reach=_AS_THEY_ARE,
    hides=_AS_THEY_ARE,
    cells=_AS_THEY_ARE,
)

FORMATS: Registry[FormatFacts] = Registry("format", (RANGES, LABELS, POINTS, SUPPRESSED, ANATOMY), "sqlanon.formats")
"""Every format by name, the default first."""
