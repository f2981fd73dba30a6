"""Docstrings name things by nouns: relative clauses and pronouns are rare (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from tests.project.tree import MODULES, label, nodes

MOST = {"what": 0.5, "whose": 0.5, "its": 2.5}
"""Of 1,000 words, at most."""


def docstrings(tree: Iterable[ast.AST]) -> Iterator[str]:
    """Texts of modules, classes and functions, and those below constants."""
    for node in tree:
        body = getattr(node, "body", None)
        for item in body if isinstance(body, list) else []:
            if (
                isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Constant)
                and isinstance(item.value.value, str)
            ):
                yield item.value.value


def count(word: str, text: str) -> int:
    """How often a word is used."""
    return len(re.findall(rf"\b{word}\b", text, re.IGNORECASE))


def rate(word: str, texts: list[str]) -> float:
    """The same in 1,000 words."""
    return 1000 * sum(count(word, text) for text in texts) / max(sum(count(r"\w+", text) for text in texts), 1)


@cache
def texts_of_modules() -> dict[str, str]:
    """The docstrings of every module."""
    return {label(path): "\n".join(docstrings(nodes(path))) for path in MODULES}


@pytest.mark.parametrize("word", MOST)
def test_docstrings_name_things_by_nouns(word: str) -> None:
    texts = texts_of_modules()
    worst = sorted(texts, key=lambda name: -count(word, texts[name]))[:10]
    assert rate(word, list(texts.values())) <= MOST[word], worst


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('"""What it is."""', 1000 / 3),
        ('def f():\n    """Rows of what is read."""', 200.0),
        ('X = 1\n"""Whatever."""', 0.0),
        ('x = "what"', 0.0),
    ],
)
def test_the_rate(code: str, expected: float) -> None:
    assert rate("what", list(docstrings(ast.walk(ast.parse(code))))) == pytest.approx(expected)


def test_no_document_is_cited_that_is_not_here() -> None:
    """Papers are cited by author and year, documents by their path below the root."""
    cited = re.compile(r"\bdesign, section|\breview3?, section|\.\./shared/\w+\.md", re.IGNORECASE)
    assert [name for name, text in texts_of_modules().items() if cited.search(text)] == []
