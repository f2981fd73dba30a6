"""The table of tools' forms in docs/query.md, made of the corpus whose verdicts `tests.query_forms` checks.

``python -m tests.docs.forms`` writes it into the page; a test compares.
"""

from __future__ import annotations

from collections import Counter

import yaml

from tests.project.tree import ROOT
from tests.query_forms.run import CORPUS

PAGE = ROOT / "docs" / "query.md"
OPENING, CLOSING = "<!-- forms: python -m tests.docs.forms -->\n", "<!-- end of forms -->"


def table() -> str:
    """How many forms of each tool are answered, and which are not."""
    listed = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))["forms"]
    every = Counter(one["tool"] for one in listed)
    refused: dict[str, list[str]] = {}
    for one in listed:
        if one.get("refused"):
            refused.setdefault(one["tool"], []).append(one["form"])
    answered = len(listed) - sum(map(len, refused.values()))
    where = "(`tests/query_forms/corpus.yml`, with sources)"
    lines = [
        f"Of {len(listed)} forms that tools and analysts are known to send {where}, {answered} are answered:",
        "",
        "| tool | forms | answered | refused |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {tool} | {count} | {count - len(refused.get(tool, ()))} | {'; '.join(refused.get(tool, ()))} |"
        for tool, count in every.items()
    ]
    return "\n".join(lines) + "\n"


def rendered(text: str) -> str:
    """The page with the table of today."""
    before, _, rest = text.partition(OPENING)
    return f"{before}{OPENING}{table()}{CLOSING}{rest.partition(CLOSING)[2]}"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
