"""The list of operators and functions in docs/query.md, made of the registry.

``python -m tests.docs.registry`` writes it into the page; a test compares.
"""

from __future__ import annotations

from sqlanon.query.functions.reference import reference
from tests.project.tree import ROOT

PAGE = ROOT / "docs" / "query.md"
OPENING, CLOSING = "<!-- functions: python -m tests.docs.registry -->\n", "<!-- end of functions -->"


def rendered(text: str) -> str:
    """The page with the list of today."""
    before, _, rest = text.partition(OPENING)
    return f"{before}{OPENING}{reference()}{CLOSING}{rest.partition(CLOSING)[2]}"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
