"""What docs/query.md and docs/tools.md say of the forms of tools is what the corpus has."""

from __future__ import annotations

from tests.docs.forms import LISTED, PAGE, listed, rendered


def test_the_page_has_the_forms_of_the_corpus() -> None:
    """After a change: python -m tests.docs.forms."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == rendered(text)
    assert LISTED.read_text(encoding="utf-8") == listed()
