"""Mutants of SQL templates: one operator, comparison, constant, function or condition is another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.mutants.python_code import Mutant

COMMENT = re.compile(r"\{#.*?#\}|--[^\n]*|\{[%{].*?[%}]\}|'(?:[^']|'')*'", re.DOTALL)
"""What is no SQL, or a text constant: blanked out before pieces are looked for."""
CHANGES: tuple[tuple[str, str, str], ...] = (
    ("comparison", r"(?<![<>!=|])<=(?!>)", "<"),
    ("comparison", r"(?<![<>!=|-])<(?![=>|-])", "<="),
    ("comparison", r"(?<![<>!=-])>=", ">"),
    ("comparison", r"(?<![<>!=-])>(?![=>])", ">="),
    ("comparison", r"<>", "="),
    ("comparison", r"(?<![<>!=:])=(?![=>])", "<>"),
    ("comparison", r"\bIS NOT NULL\b", "IS NULL"),
    ("comparison", r"\bIS NULL\b", "IS NOT NULL"),
    ("comparison", r"\bIS NOT DISTINCT FROM\b", "="),
    ("comparison", r"\bIS DISTINCT FROM\b", "<>"),
    ("and/or", r"\bAND\b", "OR"),
    ("and/or", r"\bOR\b", "AND"),
    ("not", r"\bNOT (?!NULL|DISTINCT|MATERIALIZED)", ""),
    ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "),
    ("operator", r" \* ", " / "),
    ("operator", r" / ", " * "),
    ("constant", r"(?<![\w.$\"])[0-9](?![\w.\"])", "7"),
    ("function", r"\bmin\(", "max("),
    ("function", r"\bmax\(", "min("),
    ("function", r"\bcount\(DISTINCT ", "count("),
    ("function", r"\bUNION ALL\b", "UNION"),
    ("function", r"\bLEFT JOIN\b", "JOIN"),
    ("function", r"\bDESC\b", "ASC"),
    ("condition", r"\bAND [^\n]+$", ""),
    ("condition", r"\bWHERE [^\n]+$", "WHERE TRUE"),
    ("condition", r"\bHAVING [^\n]+$", "HAVING TRUE"),
)


def mutants(root: Path, path: Path) -> Iterator[Callable[[], Mutant]]:
    """Every mutant of a template."""
    text = path.read_text(encoding="utf-8")
    bare = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for kind, pattern, instead in CHANGES:
        for found in re.finditer(pattern, bare, re.MULTILINE | re.IGNORECASE):
            start, end = found.span()
            line = text.count("\n", 0, start) + 1
            if text[start:end].count("(") != text[start:end].count(")") and kind == "condition":
                continue  # half of an expression
            whole = text.splitlines()[line - 1].strip()
            made = text[:start] + instead + text[end:]
            after = made.splitlines()[line - 1].strip()
            shown = f"{whole[:90]} -> {after[:90]}"
            yield partial(Mutant, path.relative_to(root).as_posix(), line, kind, shown, None, made)
