"""Axes that every module of the contract suite runs over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.lattices import CITY
from tests.contract.leaving import leaving_releaser
from tests.contract.samples import CORE
from tests.contract.starring import Release, releaser
from tests.contract.value_models import placed


@pytest.fixture(params=CORE, ids=lambda case: case.name)
def sample(request: pytest.FixtureRequest) -> Any:
    """The sample tables in turn."""
    return request.param


@pytest.fixture
def starring(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Release:
    """See `releaser`."""
    return releaser(shared_db, monkeypatch, tmp_path)


@pytest.fixture
def leaving(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """See `leaving_releaser`."""
    return leaving_releaser(shared_db, monkeypatch)


@pytest.fixture
def table(shared_db: Any) -> str:
    """A table of `value_models`."""
    return placed(shared_db)


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    """The file of the hierarchy `CITY`."""
    file = tmp_path / "city.csv"
    file.write_text("\n".join(";".join(path) for path in CITY), encoding="utf-8")
    return file
