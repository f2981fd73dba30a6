"""Axes that every module of the contract suite runs over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.samples import CORE


@pytest.fixture(params=CORE, ids=lambda case: case.name)
def sample(request: pytest.FixtureRequest) -> Any:
    """The sample tables in turn."""
    return request.param
