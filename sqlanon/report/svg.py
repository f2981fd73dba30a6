"""Elements of SVG pictures: shapes, labels and axes.

Colours are variables of the page's style, so that one picture suits a light and a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sqlanon.results.figures import clean

SOURCE, RELEASE = "var(--source)", "var(--release)"
TEXT, SOFT, LINE = "var(--text)", "var(--soft)", "var(--line)"
SIZE = 11
"""Of letters, in pixels."""
_WIDE = 6.3
"""Pixels of a letter on average: pages have no font of their own to measure."""
_LONGEST, _BELOW = 28, 16
"""Letters of a label, and of one below a line."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: its size in pixels, and its elements."""

    width: float
    height: float
    elements: tuple[str, ...]


def number(value: float) -> str:
    """A coordinate.

    >>> number(3.0), number(0.123), number(-0.04)
    ('3', '0.1', '0')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def draw_rect(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> str:
    """A filled rectangle."""
    faint = f' fill-opacity="{opacity:.3f}"' if opacity < 1 else ""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
        f'fill="{colour}"{faint}/>'
    )


def draw_line(x: float, y: float, x2: float, y2: float, colour: str = LINE, opacity: float = 1) -> str:
    """A thin line."""
    faint = f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<line x1="{number(x)}" y1="{number(y)}" x2="{number(x2)}" y2="{number(y2)}" stroke="{colour}"{faint}/>'


def draw_circle(x: float, y: float, colour: str) -> str:
    """A point."""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="2.2" fill="{colour}" fill-opacity="0.9"/>'


def draw_label(x: float, y: float, text: str, side: str = "middle", colour: str = SOFT, turned: int = 0) -> str:
    """A line of text; ``side``: which part of it is at x (start, middle, end); ``turned`` by degrees."""
    turn = f' transform="rotate({turned} {number(x)} {number(y)})"' if turned else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{SIZE}" text-anchor="{side}" fill="{colour}"{turn}>'
        f"{escape(cut(text))}</text>"
    )


def cut(text: str, most: int = _LONGEST) -> str:
    """A text that can be printed, of at most so many letters.

    >>> cut("abcdef", 4)
    'abc…'
    """
    shown = clean(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def estimate_length(texts: Sequence[str], most: int = _LONGEST) -> float:
    """Pixels that the longest of some texts takes, about."""
    return _WIDE * max((len(cut(text, most)) for text in texts), default=0)


def choose_steps(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most so many: steps of 1, 2 or 5 times a power of ten.

    >>> choose_steps(0, 43), choose_steps(0, 1, 4), choose_steps(3, 3)
    ([0, 10, 20, 30, 40], [0.0, 0.5, 1.0], [3])
    """
    if not high > low:
        return [low]
    if high - low < 1e-6 * max(abs(low), abs(high)):  # too near to each other for round numbers
        return [low, high]
    power = math.floor(math.log10((high - low) / most))
    for size in (1, 2, 5, 10, 20, 50):
        first, last = (math.ceil(low / (size * 10.0**power) - 1e-9), math.floor(high / (size * 10.0**power) + 1e-9))
        if last - first < most:
            return [n * size * 10**power for n in range(first, last + 1)]
    return [low, high]


def needs_turning(names: Sequence[str], slot: float) -> bool:
    """Whether names do not fit side by side below parts of a line, each ``slot`` wide."""
    return estimate_length(names, _BELOW) > slot - 6


def estimate_margin(names: Sequence[str], slot: float) -> float:
    """Pixels that the first of the names below a line needs to the left of it."""
    return max(0.8 * estimate_length(names[:1], _BELOW) - slot / 2, 0) if needs_turning(names, slot) else 0


def draw_names(names: Sequence[str], left: float, slot: float, y: float) -> tuple[list[str], float]:
    """Names below equal parts of a line, as many as there is room for, and their height.

    They are turned if they do not fit.
    """
    lie = needs_turning(names, slot)
    every = max(1, math.ceil((SIZE + 3) / slot)) if lie else 1
    shown = [(left + slot * (index + 0.5), cut(name, _BELOW)) for index, name in enumerate(names) if index % every == 0]
    if not lie:
        return [draw_label(x, y + 15, name) for x, name in shown], 20
    return [draw_label(x + 4, y + 13, name, "end", turned=-40) for x, name in shown], 18 + 0.65 * estimate_length(
        names, _BELOW
    )
