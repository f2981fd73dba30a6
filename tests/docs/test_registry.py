"""What docs/query.md says of operators and functions is what the registry has."""

from __future__ import annotations

from tests.docs.registry import PAGE, rendered


def test_the_list_is_up_to_date() -> None:
    """After a change: python -m tests.docs.registry."""
    text = PAGE.read_text(encoding="utf-8")
    assert rendered(text) == text
