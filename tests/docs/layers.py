"""The picture of docs/architecture.md, made from the import contracts of pyproject.toml.

``python -m tests.docs.layers`` writes it into the page; a test compares.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from itertools import zip_longest
from typing import Any

from tests.project.tree import ROOT

PAGE = ROOT / "docs" / "architecture.md"
OPENING, CLOSING = "<!-- layers: python -m tests.docs.layers -->\n", "<!-- end of layers -->"
STACKS = {"one-way": ("sqlanon/", 40), "release": ("sqlanon/release/", 33), "query": ("sqlanon/query/", 33)}
"""Contracts of layers, each with its title and the width of its boxes."""


def contracts() -> dict[str, dict[str, Any]]:
    """Every contract by its id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def stack(title: str, layers: list[str], width: int) -> list[str]:
    """A layer below the other, each a box."""
    edge = f"+{'-' * (width - 2)}+"
    lines = [title.ljust(width), edge]
    for layer in layers:
        names = re.sub(r"[()]", "", layer).replace(" : ", " ")
        wrapped = textwrap.wrap(names, width - 4, break_on_hyphens=False)
        lines += [*(f"| {line.ljust(width - 4)} |" for line in wrapped), edge]
    return lines


def picture() -> str:
    """The layers of the package, of a release and of a query next to each other.

    The only importers of packages follow.
    """
    known = contracts()
    stacks = [stack(title, known[name]["layers"], width) for name, (title, width) in STACKS.items()]
    widths = [width for _, width in STACKS.values()]
    lines = [
        "  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()
        for parts in zip_longest(*stacks, fillvalue="")
    ]
    importers = [
        f"| {', '.join(_code(name) for name in contract['protected_modules'])} | "
        f"{', '.join(_code(name) for name in contract['allowed_importers'])} |"
        for contract in known.values()
        if contract["type"] == "protected"
    ]
    table = ["| imported | only by |", "|---|---|", *importers]
    return "\n".join(["```text", *lines, "```", "", *table, ""])


def _code(name: str) -> str:
    return f"`{name.removeprefix('sqlanon.')}`"


def rendered(text: str) -> str:
    """The page with the picture made anew."""
    before, rest = text.split(OPENING)
    return f"{before}{OPENING}{picture()}{CLOSING}{rest.split(CLOSING)[1]}"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
