"""Contents of a report before HTML or Markdown: sections of tables, pictures and sentences.

All texts are plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlanon.report.svg import Drawing

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text.

    Attributes:
        caption: content of the table.
        head: titles of the columns, each with the side that its cells are aligned to; the first column names the row.
        rows: the cells.
        failed: numbers of rows that need attention.
    """

    caption: str
    head: tuple[tuple[str, Align], ...]
    rows: tuple[tuple[str, ...], ...]
    failed: frozenset[int] = frozenset()
    kind: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    pairs: tuple[tuple[str, str], ...]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; ``warning`` makes it one that must not be overlooked."""

    text: str
    warning: bool = False
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and the table of its figures, which is there in any case: Markdown shows that alone.

    Attributes:
        title: content in a few words.
        text: description for people who cannot see the picture.
        drawing: the picture.
        table: the figures.
    """

    title: str
    text: str
    drawing: Drawing
    table: Table
    kind: Literal["picture"] = "picture"


State = Literal["measured", "not measured", "stated", "look at it"]
"""Of a statement: a figure; no figure; words of the policy; something that a person must look at."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a frame.

    Attributes:
        about: subject, in the words of the frame.
        finding: result, or reason why there is none.
        state: how it is known.
        by: the command that measured it, or that would.
        word: the definition, a name of `sqlanon.report.frames.words`.
    """

    about: str
    finding: str
    state: State
    by: str
    word: str


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements as a table whose lines link to their definitions."""

    caption: str
    items: tuple[Statement, ...]
    kind: Literal["statements"] = "statements"


@dataclass(frozen=True, slots=True)
class Words:
    """Definitions that statements link to: name, title, text."""

    items: tuple[tuple[str, str, str], ...]
    kind: Literal["words"] = "words"


@dataclass(frozen=True, slots=True)
class Front:
    """The first page of a frame.

    Attributes:
        frame: the title of the frame, and its source.
        about: release and recipients.
        question: the decision that is asked.
        figures: three figures, each with its title and how to read it.
        remains: risks that remain beside the measured ones.
    """

    frame: str
    about: tuple[tuple[str, str], ...]
    question: str
    figures: tuple[tuple[str, str, str], ...]
    remains: tuple[str, ...]


Block = Table | Facts | Text | Picture | Statements | Words


@dataclass(frozen=True, slots=True)
class Section:
    """A section.

    Attributes:
        anchor: the name in links.
        title: the heading.
        lead: content in a sentence or two.
        blocks: the parts.
        reading: figures and how to read each.
    """

    anchor: str
    title: str
    lead: str
    blocks: tuple[Block, ...]
    reading: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report.

    Attributes:
        release: the name.
        version: of the release; 0: it has none.
        confidential: it shows the source.
        summary: the few figures to see first.
        sound: every requirement is met; None: unknown to the report.
        sections: in their order.
        warning: shown before the requirements; empty: none.
        front: the first page of a frame; None: a report without a frame.
        mark: subject and audience of the page, where it is none of these.
    """

    release: str
    version: int
    confidential: bool
    summary: tuple[tuple[str, str], ...]
    sound: bool | None
    sections: tuple[Section, ...]
    warning: str = ""
    front: Front | None = None
    mark: str = ""


def make_table(caption: str, head: str, rows: Sequence[tuple[str, ...]], failed: frozenset[int] = frozenset()) -> Table:
    """A table by a short form of its titles: ``column | >rows``, ``>`` for a column of numbers.

    Example:
        >>> make_table("Sizes", "size | >rows", [("10", "40")]).head
        (('size', 'left'), ('rows', 'right'))
    """
    titles = [title.strip() for title in head.split("|")]
    headings: tuple[tuple[str, Align], ...] = tuple(
        (title.removeprefix(">"), "right" if title.startswith(">") else "left") for title in titles
    )
    return Table(caption, headings, tuple(rows), failed)
