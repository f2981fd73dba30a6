"""Python of docs/spark.md and docs/scale.md runs, and prints what the page of Spark shows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.project.tree import ROOT

SPARK, SCALE = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("spark.md", "scale.md"))


@pytest.mark.spark
def test_python_of_the_pages_runs(session: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(ROOT)
    try:
        (code,) = re.findall(r"```python\n(.*?)```", SPARK, re.DOTALL)
        exec(compile(code, "spark.md", "exec"), {})
        (shown,) = re.findall(r"```text\n(.*?)```", SPARK, re.DOTALL)
        assert shown.strip() in capsys.readouterr().out
        (code,) = re.findall(r"```python\n(.*?)```", SCALE, re.DOTALL)
        exec(compile(code, "scale.md", "exec"), {})
        assert capsys.readouterr().out.startswith("kernel {")
    finally:
        for name in ("visits", "people"):
            session.sql(f"DROP TABLE IF EXISTS {name}")
