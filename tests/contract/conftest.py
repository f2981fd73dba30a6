"""Databases that a module of the contract suite shares, and the axes it runs over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Connect
from tests.contract.samples import SAMPLES
from tests.engines import ENGINES


@pytest.fixture(scope="module", params=ENGINES, ids=lambda engine: engine.name)
def any_db(request: pytest.FixtureRequest, connect_module: Connect) -> Any:
    """One `Database` on every engine, in memory and in a file, for a whole module."""
    return connect_module(request.param)


@pytest.fixture(params=SAMPLES, ids=lambda case: case.name)
def sample(request: pytest.FixtureRequest) -> Any:
    """The sample tables in turn."""
    return request.param
