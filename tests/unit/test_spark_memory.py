"""Memory of a session of Spark in a container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.mark.parametrize(("limit", "expected"), [("4096\n", 4096), ("max\n", None), (None, None)])
def test_a_container_has_less(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str | None, expected: int | None
) -> None:
    open_session = pytest.importorskip("sqlanon.engines.spark.open_session")
    file = tmp_path / "memory.max"
    if limit is not None:
        file.write_text(limit, encoding="ascii")
    monkeypatch.setattr(open_session, "_CONTAINER", file)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert open_session._find_memory() == (expected or machine)
