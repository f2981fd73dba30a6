"""Pages.

Values are text and never markup, the same report gives the same bytes, and no network is used.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from sqlanon.report.document import Facts, Page, Picture, Section, Text, make_table
from sqlanon.report.page import write_page
from sqlanon.report.pictures import draw_bars, draw_heat, draw_pairs
from sqlanon.report.sizes import bin_sizes
from tests.engines import create_table
from tests.report.pages import Read
from tests.shelf import Shelf

HOSTILE = (
    "<img src=x onerror=alert(1)>'\"&`|*_[a](javascript:b) \u202e\n# head @who www.example.com http://x.example ]]> "
    "--> ${x} {{ y }} \\"
)


def hostile() -> Page:
    """A page with the same odd text in every place."""
    rows = [(HOSTILE, HOSTILE)]
    figures = make_table(HOSTILE, f"{HOSTILE.replace('|', '')} | >n", rows)
    drawings = [
        draw_bars([(HOSTILE, 1.0)], HOSTILE, HOSTILE),
        draw_pairs([(HOSTILE, 0.5, 0.25)], HOSTILE),
        draw_heat([(0, 0, 0.5, 0.25)], [HOSTILE], [HOSTILE], HOSTILE),
    ]
    blocks = (
        figures,
        Facts(((HOSTILE, HOSTILE),)),
        Text(HOSTILE),
        Text(HOSTILE, warning=True),
        *(Picture(HOSTILE, HOSTILE, drawing, figures) for drawing in drawings),
    )
    section = Section("one", HOSTILE, HOSTILE, blocks, ((HOSTILE, HOSTILE),))
    return Page(HOSTILE, 1, True, ((HOSTILE, HOSTILE),), True, (section,))


def test_no_value_becomes_markup() -> None:
    page = Read(write_page(hostile()))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "img",
        "script",
        "iframe",
        "link",
        "object",
        "embed",
        "use",
        "image",
        "foreignobject",
        "base",
        "form",
    }
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        href = attributes.get("href")
        assert href is None or href.startswith("#")
        assert "src" not in attributes
    assert "\u202e" not in page.text
    assert page.text.count("<img src=x onerror=alert(1)>") >= 10


def test_no_value_becomes_markdown() -> None:
    text = write_page(hostile(), "md")
    assert "<img" not in text
    assert "](javascript" not in text.replace("\\]", "")
    assert not re.search(r"(?<!\\)[\[*_`]\w*(?<!\\)[\]*_`]\(", text)
    assert "@who" not in text
    assert "www." not in text
    assert "http://" not in text
    assert "\n# head" not in text
    bodies = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in bodies} == {3}


def test_the_same_page_is_the_same_bytes() -> None:
    for form in ("html", "md"):
        assert write_page(hostile(), form) == write_page(hostile(), form)


def test_pages_ask_nothing_of_anybody() -> None:
    text = write_page(hostile())
    page = Read(text)
    assert "default-src 'none'" in text
    outside = {
        value for _, attributes in page.elements for name, value in attributes.items() if value and "://" in value
    }
    assert outside <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
        HOSTILE.replace("\n", "\ufffd").replace("\u202e", "\ufffd"),
    }
    assert "url(" not in text.replace("url(#p", "")
    assert "@import" not in text


def test_pictures_have_a_title_and_a_text() -> None:
    page = Read(write_page(hostile()))
    drawn = [attributes for tag, attributes in page.elements if tag == "svg"]
    names = {attributes.get("id") for _, attributes in page.elements}
    assert len(drawn) == 3
    for one in drawn:
        assert one["role"] == "img"
        labels = str(one["aria-labelledby"]).split()
        assert len(labels) == 2
        assert set(labels) <= names
    every = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(every) == len(set(every))


def test_hostile_names_and_values_of_a_table(shared_db: Any) -> None:
    """Names of columns and values that are markup, from a table to the page."""
    name = "<b>&'|x"
    rows = [(n, n % 4, "<script>alert(1)</script>" if n % 2 else "</table>|**x**") for n in range(40)]
    source = create_table(shared_db, "t<i>|&", {"id": "INTEGER", name: "INTEGER", "il<l": "VARCHAR(40)"}, rows)
    shared_db.anonymize(
        source, name="odd", publish='release."o<d>d"', quasi=[name], sensitive="il<l", identifiers="id", k=5, l=2
    )
    for who in ("owner", "readers"):
        text = shared_db.report("odd", audience=who)
        assert "<b>" not in text
        assert "<script" not in text
        assert "<i>" not in text
        page = Read(text)
        assert page.column("Columns", "role")[name] == "quasi"
        assert "<b>" not in shared_db.report("odd", audience=who, form="md")


@pytest.mark.parametrize("most", [1, 3, 24])
def test_bins_hold_every_class_once(most: int) -> None:
    import numpy as np

    from sqlanon.risk.sizes import Sizes

    draw = np.random.default_rng(3)
    for top in (3, 40, 5000):
        size = np.unique(draw.integers(1, top + 1, 60))
        classes = draw.integers(1, 9, len(size))
        bins = bin_sizes(Sizes(size, size * classes, classes), most)
        assert len(bins) <= max(most, 1)
        assert sum(one.classes for one in bins) == classes.sum()
        assert sum(one.rows for one in bins) == (size * classes).sum()
        assert all(one.low <= one.high for one in bins)
        assert all(a.high < b.low for a, b in pairwise(bins))


@pytest.mark.thorough
def test_reports_made_twice_are_the_same(shelf: Shelf) -> None:
    name, db = shelf.take("people").name, shelf.db
    for who in ("owner", "readers"):
        assert db.report(name, audience=who) == db.report(name, audience=who)
