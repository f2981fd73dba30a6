"""Evaluations of few queries, where a test looks at something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlanon.evaluate import workload


def ask_few(patch: pytest.MonkeyPatch, queries: int = 3) -> None:
    """Where no workload is named, so many ranges of each size are asked."""
    kept = tuple(replace(one, queries=queries) if one.kind == "ranges" else one for one in workload.DEFAULT.generators)
    patch.setattr(workload, "DEFAULT", replace(workload.DEFAULT, generators=kept))
