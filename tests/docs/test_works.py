"""The page of what works where, which is made of the markers in the declarations."""

from __future__ import annotations

from pathlib import Path

from sqlanon.lack import KINDS
from sqlanon.report import abilities

ROOT = Path(__file__).parents[2]


def test_the_documented_page_is_the_generated_one() -> None:
    """After a change:

    python -c "from sqlanon.report.abilities import page; print(page(), end='')" > docs/what-works.md
    """
    assert (ROOT / "docs/what-works.md").read_text(encoding="utf-8") == abilities.page()


def test_every_marker_is_on_the_page() -> None:
    text = abilities.page()
    for table in abilities.list_tables():
        for _, lack, names in table.reasons():
            assert lack.kind in KINDS
            assert f"{lack.why} ({lack.kind})" in text
            assert names
