"""Spark refuses what its markers say that it lacks, and does the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlanon
from tests.contract.test_lacks import check_engine


def test_spark_lacks_what_it_says(session: Any, tmp_path: Path) -> None:
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        check_engine(db, tmp_path)
