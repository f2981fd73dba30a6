"""Another order of the tests (``--order SEED``), in which none of them may depend on another one."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import pytest


class Order:
    """Chosen files, and the tests of each, in an order that a seed determines.

    As in any run, tests for which a fixture of a module has the same value stay together: it is made once for each.
    """

    def __init__(self, seed: str) -> None:
        self.seed = seed

    def pytest_report_header(self) -> str:
        """How the order is repeated."""
        return f"order: --order {self.seed}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Sort by hashes of the file's name, the test's, and its own."""
        items.sort(key=lambda item: [crc32(f"{self.seed} {name}".encode()) for name in reversed(names_of(item))])
        fixtures: Any = config.pluginmanager.get_plugin("funcmanage")
        fixtures.pytest_collection_modifyitems(items)


def names_of(item: pytest.Item) -> tuple[str, str, str]:
    """Its own name, its test's, and its file's."""
    return item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]
