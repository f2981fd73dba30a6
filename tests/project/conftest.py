"""What the tests of one file share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.project.tree import nodes, syntax


@pytest.fixture(scope="module", autouse=True)
def syntax_trees() -> Iterator[None]:
    """Syntax trees of all modules take more than 100 MB: they are kept while one file is tested.

    Python would look for garbage among them at each of many thousand nodes.
    """
    gc.disable()
    yield
    nodes.cache_clear()
    syntax.cache_clear()
    gc.enable()
