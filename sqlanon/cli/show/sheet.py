"""Tables that fit the width of the screen.

Cells wrap between words first, then columns are left out by priority, then each row becomes a block of lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

GAP = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column.

    Attributes:
        title: above it.
        side: ``left``, ``right``, or ``wrap`` where a cell may have several lines, broken between words.
        spare: columns with the highest number are left out first where the table is too wide; 0: never.
    """

    title: str
    side: str = "left"
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of plain text under headings; the first column names the row and is never left out."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for the console's width."""
        from rich.text import Text

        shown = list(range(len(self.headings)))
        widths = self._widths(shown, options.max_width)
        while widths is None:
            spare = max(shown, key=lambda index: (self.headings[index].spare, index))
            if self.headings[spare].spare == 0:
                break
            shown.remove(spare)
            widths = self._widths(shown, options.max_width)
        if widths is None:
            for line in self._blocks(options.max_width):
                yield Text(line, overflow="fold")
            return
        yield self._grid(shown, widths)
        left_out = [heading.title for place, heading in enumerate(self.headings) if place not in shown]
        if left_out:
            yield Text(f"(not shown at this width: {', '.join(left_out)})")

    def _cells(self, index: int) -> list[str]:
        return [self.headings[index].title, *(row[index] for row in self.rows)]

    def _widths(self, shown: Sequence[int], most: int) -> list[int] | None:
        """A width for each column, or None where words would have to be split."""
        from rich.cells import cell_len

        whole = [max(cell_len(cell) for cell in self._cells(place)) for place in shown]
        least = [
            max((cell_len(word) for cell in self._cells(place) for word in cell.split()), default=1)
            if self.headings[place].side == "wrap"
            else wide
            for place, wide in zip(shown, whole, strict=True)
        ]
        room = most - GAP * (len(shown) - 1) - sum(least)
        if room < 0:
            return None
        # The narrowest columns first: one long cell does not make all others wrap.
        widths = list(least)
        wanting = sorted(range(len(shown)), key=lambda index: whole[index] - least[index])
        for place_before, place in enumerate(wanting):
            more = min(whole[place] - least[place], room // (len(wanting) - place_before))
            widths[place] += more
            room -= more
        return widths

    def _grid(self, shown: Sequence[int], widths: Sequence[int]) -> Table:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        for place, width in zip(shown, widths, strict=True):
            heading = self.headings[place]
            grid.add_column(
                Text(heading.title),
                justify="right" if heading.side == "right" else "left",
                overflow="fold",
                no_wrap=heading.side != "wrap",
                width=width,
            )
        for row in self.rows:
            grid.add_row(*(Text(row[place]) for place in shown))
        return grid

    def _blocks(self, most: int) -> Iterator[str]:
        """A row as lines of title and value, under the name."""
        titles = [heading.title for heading in self.headings]
        for number, row in enumerate(self.rows):
            if number:
                yield ""
            first = f"{titles[0]}: {row[0]}" if titles[0] else row[0]
            yield from wrap(first, most, break_long_words=False, break_on_hyphens=False) or [""]
            for title, cell in zip(titles[1:], row[1:], strict=True):
                line = f"{title}: {cell}" if title else cell
                yield from wrap(
                    line,
                    most,
                    initial_indent="  ",
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
