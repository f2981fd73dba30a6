"""Pictures as SVG: Vega-Lite drawings, made by the library vl-convert without a browser and without a network.

Colours are variables of the page's style, so that one picture suits a light and a dark page. Nothing in a picture depends on when
or where it is made: fonts are those that the library brings, and no identifier is random.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

from sqlanon.errors import UnsupportedError
from sqlanon.results.figures import safe

FONT = "Liberation Sans"
"""A font that the library has with it; pages show it as sans-serif."""
WIDTH = 620
_CONFIG: Mapping[str, Any] = {
    "background": None,
    "font": FONT,
    "aria": False,  # the picture as a whole has a title and a text; its figures are in a table
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)", "titleColor": "var(--soft)", "domainColor": "var(--line)", "tickColor": "var(--line)",
        "gridColor": "var(--line)", "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 150,
        "labelOverlap": True, "gridOpacity": 0.6,
    },
    "legend": {"labelColor": "var(--text)", "titleColor": "var(--soft)", "labelFontSize": 11, "orient": "top", "symbolType": "square",
               "titleFontWeight": "normal"},
    "header": {"labelColor": "var(--text)", "titleColor": "var(--soft)", "labelFontSize": 12},
}  # fmt: skip
SOURCE, RELEASE = "var(--source)", "var(--release)"


def check() -> None:
    """Whether pictures can be made.

    Raises:
        UnsupportedError: the library is not installed.
    """
    if find_spec("vl_convert") is None:
        raise UnsupportedError(
            "the pictures of a report need vl-convert-python, which is not installed: pip install 'sqlanon[report]' (--md needs none)"
        )


def svg(drawing: Mapping[str, Any], title: str, text: str, number: int) -> str:
    """The SVG of a drawing, with its title and text for who does not see it; ``number`` makes its names unique in a page."""
    import vl_convert

    made: str = vl_convert.vegalite_to_svg({**_printable(drawing), "config": _CONFIG})
    made = re.sub(r"\bclip(\d+)\b", rf"p{number}-clip\1", made)
    # Roles of its parts have no meaning within a picture that is one image, and its classes could meet the page's.
    made = re.sub(
        r"<[a-z][^<>]*>", lambda tag: re.sub(r' (?:role|class|aria-[a-z]+)="[^"]*"', "", tag[0]), made
    )
    head, _, body = made.partition(">")
    sizes = re.search(r'width="([\d.]+)" height="([\d.]+)"', head)
    assert sizes is not None
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {sizes[1]} {sizes[2]}" style="max-width:{sizes[1]}px" role="img" '
        f'aria-labelledby="p{number}-title p{number}-text">'
        f'<title id="p{number}-title">{escape(title)}</title><desc id="p{number}-text">{escape(text)}</desc>{body}'
    )


def _printable(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A drawing whose texts show what is not printable as that."""
    if isinstance(value, Mapping):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return safe(value) if isinstance(value, str) else value


def bars(values: Sequence[tuple[str, float]], x: str, y: str, colour: str = RELEASE) -> dict[str, Any]:
    """Upright bars, in the order that is given."""
    return {
        "width": min(WIDTH, 60 * len(values)),
        "height": 150,
        "data": {"values": [{"x": name, "y": number, "at": at} for at, (name, number) in enumerate(values)]},
        "mark": {"type": "bar", "color": colour},
        "encoding": {
            "x": {
                "field": "at",
                "type": "ordinal",
                "title": x,
                "axis": _labels([name for name, _ in values]),
            },
            "y": {"field": "y", "type": "quantitative", "title": y, "axis": {"tickCount": 4}},
        },
    }


def pairs(values: Sequence[tuple[str, float, float]], x: str) -> dict[str, Any]:
    """Shares of the source and of the release next to each other, in the order that is given."""
    kinds = ("source", "release")
    rows = [
        {"at": at, "of": kind, "y": share}
        for at, (_, *both) in enumerate(values)
        for kind, share in zip(kinds, both, strict=True)
    ]
    return {
        "width": WIDTH,
        "height": 150,
        "data": {"values": rows},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "at", "type": "ordinal", "title": x, "axis": _labels([one[0] for one in values])},
            "xOffset": {"field": "of", "sort": list(kinds)},
            "y": {"field": "y", "type": "quantitative", "title": "share of rows", "axis": {"tickCount": 4, "format": ".0%"}},
            "color": {"field": "of", "type": "nominal", "title": None, "scale": {"domain": list(kinds), "range": [SOURCE, RELEASE]}},
        },
    }  # fmt: skip


def heat(
    values: Sequence[tuple[int, int, float, float]],
    across: Sequence[str],
    down: Sequence[str],
    x: str,
) -> dict[str, Any]:
    """Two grids of shares, of the source and of the release: (place across, place down, source, release)."""
    kinds = ("source", "release")
    rows = [
        {"x": i, "y": j, "of": kind, "share": share}
        for i, j, *both in values
        for kind, share in zip(kinds, both, strict=True)
    ]
    largest = max((share for _, _, *both in values for share in both), default=0.0)
    return {
        "data": {"values": rows},
        "facet": {"column": {"field": "of", "type": "nominal", "sort": list(kinds), "title": None}},
        "spec": {
            "width": 240,
            "height": 170,
            "mark": {"type": "rect", "color": RELEASE},
            "encoding": {
                "x": {"field": "x", "type": "ordinal", "title": x, "axis": _labels(across), "scale": {"domain": list(range(len(across)))}},
                "y": {"field": "y", "type": "ordinal", "title": None, "axis": _labels(down) | {"labelAngle": 0, "labelLimit": 90}, "scale": {"domain": list(range(len(down)))}},
                "opacity": {"field": "share", "type": "quantitative", "legend": None, "scale": {"domain": [0, largest], "range": [0, 1], "type": "sqrt"}},
            },
        },
    }  # fmt: skip


def estimates(points: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Estimates with their bounds over the truth, each (truth, estimate, low, high), on scales that have 0 and grow like logarithms."""
    rows = [dict(zip(("truth", "estimate", "low", "high"), point, strict=True)) for point in points]
    ends = [min(point[0] for point in points), max(point[0] for point in points)]
    scale = {"type": "symlog"}
    x = {
        "field": "truth",
        "type": "quantitative",
        "scale": scale,
        "title": "truth",
        "axis": {"tickCount": 5, "format": "~s"},
    }
    y = {
        "type": "quantitative",
        "scale": scale,
        "title": "estimate",
        "axis": {"tickCount": 5, "format": "~s"},
    }
    return {
        "width": 420,
        "height": 260,
        "layer": [
            {"data": {"values": [{"truth": end, "estimate": end} for end in ends]}, "mark": {"type": "line", "color": "var(--source)", "strokeWidth": 1},
             "encoding": {"x": x, "y": {**y, "field": "estimate"}}},
            {"data": {"values": rows}, "mark": {"type": "rule", "color": RELEASE, "opacity": 0.35},
             "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}},
            {"data": {"values": rows}, "mark": {"type": "circle", "color": RELEASE, "size": 14, "opacity": 0.9},
             "encoding": {"x": x, "y": {**y, "field": "estimate"}}},
        ],
    }  # fmt: skip


def _labels(names: Sequence[str]) -> dict[str, Any]:
    """An axis of numbered places that shows names: as data, since what is written in an expression would be code."""
    long = max((len(name) for name in names), default=0) * len(names) > 70
    listed = "[" + ",".join(_text(name) for name in names) + "]"
    return {"labelExpr": f"{listed}[datum.value]", "labelAngle": -40 if long else 0, "labelLimit": 100}


def _text(name: str) -> str:
    """A name as a constant of an expression."""
    shown = safe(name)
    return json.dumps(shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…")


_LONGEST = 28
