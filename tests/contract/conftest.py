"""Axes that every module of the contract suite runs over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.samples import CORE
from tests.contract.starring import Release, releaser


@pytest.fixture(params=CORE, ids=lambda case: case.name)
def sample(request: pytest.FixtureRequest) -> Any:
    """The sample tables in turn."""
    return request.param


@pytest.fixture
def starring(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Release:
    """See `releaser`."""
    return releaser(shared_db, monkeypatch, tmp_path)
