"""Classes of rows, or a box for each row: the words of reports for either."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The groups that hide the rows of a version.

    In the texts ``{classes}`` is the number of groups, ``{least}`` and ``{most}`` their fewest and most rows,
    ``{rows}`` the most with the word.

    Attributes:
        grouped: rows are in classes, of which sizes, risks and sensitive values can be measured.
        unit: the word for a single group; ``units``: for several.
        smallest: name of the fewest rows.
        sizes: all sizes in a line; ``facts``: the same with titles.
        listed: addition to a list of releases; empty: nothing.
        measured: part of the release that a requirement is compared with.
    """

    grouped: bool
    unit: str
    units: str
    smallest: str
    sizes: str
    facts: tuple[tuple[str, str], ...]
    listed: str
    measured: str


CLASSES = Shape(
    True,
    "class",
    "classes",
    "smallest class",
    "{classes} of {least} to {rows}",
    (("classes", "{classes}"), ("rows of a class", "{least} to {most}")),
    "",
    "the value that the worst class reaches",
)
BOXES = Shape(
    False,
    "box",
    "boxes",
    "candidates",
    "{classes}, one for each row; {least} candidates fit each",
    (("rows that fit a row's box", "at least {least}"),),
    "every row has a box of its own, which {least} candidates fit",
    "the fewest rows that fit a box, and boxes that a row fits",
)
