"""Pictures.

Their elements show the figures, measured on the SVG and by the axis that a reader sees.
"""

from __future__ import annotations

import math
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise

import pytest

from sqlanon.report.pictures import draw_bars, draw_estimates, draw_heat, draw_pairs, write_svg
from sqlanon.report.svg import Drawing, choose_steps

Element = ET.Element
NAMES = [["F", "M"], ["a", "b" * 60, "<c>&"], [f"2020-{n:02}-01 to 2021-{n:02}-01" for n in range(1, 25)], ["x"]]


def read(drawing: Drawing) -> Element:
    return ET.fromstring(re.sub(' xmlns="[^"]*"', "", write_svg(drawing, "title", "text", 1)))


def rects(root: Element) -> list[dict[str, float]]:
    """The bars: rectangles that are no part of a legend."""
    found = [{key: float(one.get(key, "0")) for key in ("x", "y", "width", "height")} for one in root.iter("rect")]
    return [one for one in found if (one["width"], one["height"], one["y"]) != (10, 10, 2)]


def shown(text: str) -> float:
    """The value of a label of an axis."""
    for sign, size in (("%", 0.01), ("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if text.endswith(sign):
            return float(text[:-1]) * size
    return float(text.replace(",", ""))


def axis(root: Element, side: str) -> list[tuple[float, float]]:
    """(value, place) of an axis.

    Labels at the end of the line that they belong to (``end``: at the left, ``middle``: below).
    """
    found = [
        one
        for one in root.iter("text")
        if one.get("text-anchor") == side
        and "transform" not in one.attrib
        and re.fullmatch(r"-?[\d.,]+[%kMG]?", one.text or "")
    ]
    return [
        (shown(one.text or ""), float(one.get("y", "0")) - 4 if side == "end" else float(one.get("x", "0")))
        for one in found
    ]


def between(ticks: list[tuple[float, float]], grown: Callable[[float], float], value: float) -> float:
    """The place of a value on a scale, by its first and last tick."""
    (low, begin), (high, end) = min(ticks), max(ticks)
    return begin + (end - begin) * (grown(value) - grown(low)) / (grown(high) - grown(low))


@pytest.mark.parametrize("values", [[3.0, 1200.0, 0.0], [0.0123, 0.4], [5.0], [1.0] * 24, [987654321.0, 1.0]])
def test_heights_of_bars(values):
    root = read(draw_bars([(f"n{at}", value) for at, value in enumerate(values)], "x", "y"))
    drawn = rects(root)
    assert len(drawn) == len(values)
    for one, value in zip(drawn, values, strict=True):
        assert one["y"] == pytest.approx(between(axis(root, "end"), float, value), abs=0.3)
        assert one["y"] + one["height"] == pytest.approx(between(axis(root, "end"), float, 0), abs=0.3)
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(drawn))


@pytest.mark.parametrize("most", [1.0, 0.031])
def test_heights_of_pairs(most):
    shares = [(most * n / 9, most * (9 - n) / 9) for n in range(10)]
    root = read(draw_pairs([(f"n{n}", *both) for n, both in enumerate(shares)], "x"))
    drawn, colours = rects(root), [one.get("fill") for one in root.iter("rect")]
    for at, share in enumerate(share for both in shares for share in both):
        assert drawn[at]["y"] == pytest.approx(between(axis(root, "end"), float, share), abs=0.3)
    assert colours == ["var(--source)", "var(--release)"] * 11
    assert [one.text for one in root.iter("text") if one.get("text-anchor") == "start"] == ["source", "release"]


def test_cells_of_a_heat_map():
    """Each at its place, in its grid.

    The root of a share is the strength of the colour, and what is empty is not drawn.
    """
    rng = random.Random(3)
    cells = [(x, y, rng.random() * (x != y), rng.random()) for x in range(5) for y in range(4)]
    largest = max(share for *_, one, two in cells for share in (one, two))
    root = read(draw_heat(cells, list("abcde"), list("ABCD"), "x"))
    width, height = 240 / 5, 170 / 4
    drawn = {(round(one["x"]), round(one["y"])): at for at, one in enumerate(rects(root))}
    strength = [float(one.get("fill-opacity", "1")) for one in root.iter("rect")]
    left, top = min(x for x, _ in drawn), min(y for _, y in drawn)
    places = {(round((x - left) / width, 1), round((y - top) / height)): strength[at] for (x, y), at in drawn.items()}
    wanted = {}
    for x, y, one, two in cells:
        for share, begin in ((one, 0.0), (two, 264 / width)):
            if share:
                wanted[round(begin + x, 1), y] = pytest.approx(math.sqrt(share / largest), abs=0.001)
    assert places == wanted


@pytest.mark.parametrize("size", [1.0, 50.0, 1e6])
@pytest.mark.parametrize("negative", [False, True])
def test_places_of_estimates(size, negative):
    rng = random.Random(5)
    points = []
    for _ in range(40):
        truth = rng.random() ** 3 * size * (rng.choice((-1, 1)) if negative else 1)
        points.append((truth, truth * 1.1, truth - abs(truth) / 2, truth + abs(truth)))
    root = read(draw_estimates(points))

    def grown(value: float) -> float:
        return math.copysign(math.log1p(abs(value)), value)

    across, up = axis(root, "middle"), axis(root, "end")
    assert len(across) >= 2
    assert len(up) >= 2
    for one, (truth, estimate, *_) in zip(root.iter("circle"), points, strict=True):
        assert float(one.get("cx", "")) == pytest.approx(between(across, grown, truth), abs=0.5)
        assert float(one.get("cy", "")) == pytest.approx(between(up, grown, estimate), abs=0.5)
    bounds = [one for one in root.iter("line") if one.get("stroke") == "var(--release)"]
    for line, (_, _, low, high) in zip(bounds, points, strict=True):
        assert float(line.get("y1", "")) == pytest.approx(between(up, grown, low), abs=0.5)
        assert float(line.get("y2", "")) == pytest.approx(between(up, grown, high), abs=0.5)


@pytest.mark.parametrize("names", NAMES, ids=len)
def test_nothing_is_outside_of_a_picture(names):
    """Labels at 7 pixels a letter, turned ones as well."""
    share = 1 / len(names)
    drawings = [
        draw_bars([(name, 10.0**at) for at, name in enumerate(names)], names[-1], "classes"),
        draw_pairs([(name, share, share) for name in names], names[0]),
        draw_heat([(0, 0, share, share)], names[:6], names[:6], names[0]),
        draw_estimates([(0, 0, 0, 0)] if len(names) == 1 else [(10.0**at, 1, 0, 10.0**at) for at in range(len(names))]),
    ]
    for drawing in drawings:
        for one in read(drawing).iter():
            at = {key: float(value) for key, value in one.attrib.items() if re.fullmatch(r"-?[\d.]+", value)}
            xs = [at[key] for key in ("x", "x1", "x2", "cx") if key in at]
            ys = [at[key] for key in ("y", "y1", "y2", "cy") if key in at]
            if one.tag == "rect":
                xs.append(at["x"] + at["width"])
                ys.append(at["y"] + at["height"])
            if one.tag == "text":
                angle = math.radians(float(re.search(r"rotate\((-?\d+)", one.get("transform", "rotate(0"))[1]))
                wide = 5.5 * len(one.text or "")
                part = {"start": (0, 1), "middle": (-0.5, 0.5), "end": (-1, 0)}[one.get("text-anchor")]
                xs += [at["x"] + wide * math.cos(angle) * side for side in part]
                ys += [at["y"] + wide * math.sin(angle) * side for side in part]
            assert all(-1 <= x <= drawing.width + 1 for x in xs), (one.text, one.attrib)
            assert all(-1 <= y <= drawing.height + 1 for y in ys), (one.text, one.attrib)


def test_steps_are_round():
    for seed in range(200):
        rng = random.Random(seed)
        low = rng.choice((0.0, rng.uniform(-1, 1) * 10 ** rng.randint(-6, 9)))
        high = low + rng.random() * 10 ** rng.randint(-6, 9)
        most = rng.randint(2, 6)
        found = choose_steps(low, high, most)
        assert 1 <= len(found) <= most
        assert all(low - 1e-6 * (high - low) <= one <= high + 1e-6 * (high - low) for one in found)
        if len(found) > 1 and found != [low, high]:
            sizes = [b - a for a, b in pairwise(found)]
            assert sizes == pytest.approx([sizes[0]] * len(sizes), rel=1e-6)
            assert re.fullmatch(r"[125]\.00000e.*", f"{sizes[0]:.5e}")
