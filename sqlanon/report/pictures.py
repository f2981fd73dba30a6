"""Pictures of figures as SVG. Nothing in a picture depends on when or where it is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from sqlanon.report.svg import (
    RELEASE,
    SOURCE,
    TEXT,
    Drawing,
    choose_steps,
    cut,
    draw_circle,
    draw_label,
    draw_line,
    draw_names,
    draw_rect,
    estimate_length,
    estimate_margin,
    number,
)

WIDTH, HEIGHT = 620, 150
_TOP = 10
_HEAD = 26
"""Pixels above a picture, for a legend or a title."""


def write_svg(drawing: Drawing, title: str, text: str, number_: int) -> str:
    """The SVG of a drawing, with its title and a text for readers who do not see it.

    ``number_`` makes its names unique in a page.
    """
    name = f"p{number_}"
    width, height = number(drawing.width), number(drawing.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" style="max-width:{width}px" '
        f'role="img" aria-labelledby="{name}-title {name}-text"><title id="{name}-title">{escape(title)}</title><desc '
        f'id="{name}-text">{escape(text)}</desc>{"".join(drawing.elements)}</svg>'
    )


def draw_bars(values: Sequence[tuple[str, float]], x: str, y: str) -> Drawing:
    """Upright bars, in the order that is given."""
    return _draw_upright_bars(
        [(name, (value,)) for name, value in values], x, y, min(WIDTH, 60 * len(values)), (RELEASE,)
    )


def draw_pairs(values: Sequence[tuple[str, float, float]], x: str) -> Drawing:
    """Shares of the source and of the release next to each other, in the order that is given."""
    bars = [(name, both) for name, *both in values]
    chart = _draw_upright_bars(bars, x, "share of rows", WIDTH, (SOURCE, RELEASE), _percent, top=_HEAD)
    legend = [
        element
        for index, (name, colour) in enumerate((("source", SOURCE), ("release", RELEASE)))
        for element in (
            draw_rect(60 + 80 * index, 2, 10, 10, colour),
            draw_label(75 + 80 * index, 11, name, "start", TEXT),
        )
    ]
    return Drawing(chart.width, chart.height, (*legend, *chart.elements))


def _draw_upright_bars(
    values: Sequence[tuple[str, Sequence[float]]],
    x: str,
    y: str,
    width: float,
    colours: Sequence[str],
    shown: Callable[[float], str] = lambda value: f"{value:,.12g}",
    top: float = _TOP,
) -> Drawing:
    """Groups of bars over their names, with an axis that begins at 0."""
    highest = max((value for _, group in values for value in group), default=0.0)
    ticks = choose_steps(0, highest or 1.0)
    ends = max(highest, ticks[-1])
    names = [name for name, _ in values]
    slot = width / max(len(values), 1)
    left, bottom = (
        max(30 + estimate_length([shown(tick) for tick in ticks]), estimate_margin(names, slot)),
        top + HEIGHT,
    )
    bar = 0.8 * slot / len(colours)
    elements = [draw_label(12, top + HEIGHT / 2, y, turned=-90)]
    for tick in ticks:
        index = bottom - HEIGHT * tick / ends
        elements += [
            draw_line(left, index, left + width, index, opacity=0.6),
            draw_label(left - 6, index + 4, shown(tick), "end"),
        ]
    for place, (_, group) in enumerate(values):
        for index, (value, colour) in enumerate(zip(group, colours, strict=True)):
            high = HEIGHT * value / ends
            elements.append(draw_rect(left + slot * (place + 0.1) + bar * index, bottom - high, bar, high, colour))
    below_line, below = draw_names(names, left, slot, bottom)
    elements += [draw_line(left, bottom, left + width, bottom), *below_line]
    if x:
        elements.append(draw_label(left + width / 2, bottom + below + 12, x))
    return Drawing(left + width + 10, bottom + below + (18 if x else 4), tuple(elements))


def draw_heat(
    values: Sequence[tuple[int, int, float, float]], x_names: Sequence[str], y_names: Sequence[str], x: str
) -> Drawing:
    """Two grids of shares, of the source and of the release: (place across, place down, source, release).

    The root of a share decides how strong its colour is, so that small ones are seen.
    """
    wide, high = 240.0, 170.0
    largest = max((share for _, _, *both in values for share in both), default=0.0)
    slot, row = wide / max(len(x_names), 1), high / max(len(y_names), 1)
    left, bottom = max(12 + estimate_length(y_names, 16), estimate_margin(x_names, slot)), _HEAD + high
    elements = [
        draw_label(left - 6, _HEAD + row * (index + 0.5) + 4, cut(name, 16), "end")
        for index, name in enumerate(y_names)
    ]
    below = 0.0
    for index, kind in enumerate(("source", "release")):
        begin = left + (wide + 24) * index
        elements.append(draw_label(begin + wide / 2, 14, kind, colour=TEXT))
        for across_, down, *both in values:
            if both[index] > 0:
                cell = (begin + slot * across_, _HEAD + row * down, slot, row)
                elements.append(draw_rect(*cell, RELEASE, math.sqrt(both[index] / largest)))
        names, below = draw_names(x_names, begin, slot, bottom)
        ends = ((0, 0, 1, 0), (1, 0, 1, 1), (1, 1, 0, 1), (0, 1, 0, 0))
        elements += [
            draw_line(begin + wide * a, _HEAD + high * b, begin + wide * c, _HEAD + high * d) for a, b, c, d in ends
        ]
        elements += [*names, draw_label(begin + wide / 2, bottom + below + 12, x)]
    return Drawing(left + 2 * wide + 34, bottom + below + 18, tuple(elements))


def draw_estimates(points: Sequence[Sequence[float]]) -> Drawing:
    """Estimates with their bounds over the truth, each (truth, estimate, low, high).

    The scales have 0 and grow like logarithms.
    """
    wide, high = 420.0, 260.0
    columns = ([point[0] for point in points], [value for point in points for value in point])
    horizontal, vertical = (_scale_logarithmically(min(some), max(some)) for some in columns)
    left, bottom = 30 + estimate_length([shown for _, shown in vertical[1]]), _TOP + high

    def place_point(truth: float, value: float) -> tuple[float, float]:
        return left + wide * horizontal[0](truth), bottom - high * vertical[0](value)

    elements = [
        draw_label(12, _TOP + high / 2, "estimate", turned=-90),
        draw_label(left + wide / 2, bottom + 34, "truth"),
    ]
    for value, shown in vertical[1]:
        y = bottom - high * vertical[0](value)
        elements += [draw_line(left, y, left + wide, y, opacity=0.6), draw_label(left - 6, y + 4, shown, "end")]
    for value, shown in horizontal[1]:
        x = left + wide * horizontal[0](value)
        elements += [draw_line(x, _TOP, x, bottom, opacity=0.6), draw_label(x, bottom + 16, shown)]
    first, last = min(columns[0]), max(columns[0])
    elements.append(draw_line(*place_point(first, first), *place_point(last, last), SOURCE))
    elements += [
        draw_line(*place_point(truth, low), *place_point(truth, top), RELEASE, 0.35) for truth, _, low, top in points
    ]
    elements += [draw_circle(*place_point(truth, estimate), RELEASE) for truth, estimate, *_ in points]
    return Drawing(left + wide + 16, bottom + 40, tuple(elements))


def _scale_logarithmically(low: float, high: float) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """A scale from 0 to 1 for values of a range, by sign(x) log(1 + |x|), and its ticks."""

    def take_logarithm(value: float) -> float:
        return math.copysign(math.log1p(abs(value)), value)

    begin, spread = take_logarithm(low), take_logarithm(high) - take_logarithm(low)
    far = max(abs(low), abs(high))
    ticks = choose_steps(low, high)
    if far >= 10 and high - low > 9:
        powers = range(0, math.floor(math.log10(far)) + 1, 1 + math.floor(math.log10(far)) // 6)
        ticks = [
            value for value in (0.0, *(sign * 10.0**n for sign in (-1, 1) for n in powers)) if low <= value <= high
        ] or ticks
    return (
        lambda value: (take_logarithm(value) - begin) / spread if spread else 0.5,
        [(tick, _format_short(tick)) for tick in sorted(ticks)],
    )


def _format_short(value: float) -> str:
    """A number with the prefix of its size.

    >>> _format_short(1000), _format_short(2.5), _format_short(-1e7)
    ('1k', '2.5', '-10M')
    """
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{prefix}"
    return f"{value:g}"


def _percent(value: float) -> str:
    return f"{100 * value:.4g}%"
