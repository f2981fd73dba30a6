"""Rows that are shown as examples are those of releases."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.release.catalog.catalog import Catalog
from tests.engines import create_table


def test_rows_of_releases_alone_are_shown(shared_db: Any) -> None:
    name = f"shown_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, name, {"age": "INTEGER", "ill": "TEXT"}, [(n % 4, "ab"[n % 2]) for n in range(16)])
    shared_db.anonymize(name, quasi=["age"], sensitive="ill", k=4, name=name, publish=f"release.{name}")
    names, rows = shared_db.sample(f"release.{name}", 3)
    assert "ill" in names
    assert "age" not in names  # ranges of it
    assert len(rows) == 3
    (entry,) = Catalog(shared_db.engine).entries(name)
    for private in (name, f"_sqlanon.{entry.physical}"):
        with pytest.raises(PolicyError, match="only releases may be shown"):
            shared_db.sample(private)
