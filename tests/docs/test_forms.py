"""What docs/query.md says of the forms of tools is what the corpus has."""

from __future__ import annotations

from tests.docs.forms import PAGE, rendered


def test_the_page_has_the_forms_of_the_corpus() -> None:
    """After a change: python -m tests.docs.forms."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == rendered(text)
