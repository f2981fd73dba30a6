"""The workload file of the documentation loads, and its keys are the models'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlanon.policy import load_workload
from sqlanon.policy.workload import GENERATORS

PAGE = Path(__file__).parents[2] / "docs" / "workloads.md"


def test_the_example_loads(tmp_path: Path) -> None:
    found = re.search(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    path = tmp_path / "workload.yml"
    path.write_text(found[1], encoding="utf-8")
    workload = load_workload(path)
    assert [one.kind for one in workload.generators] == list(GENERATORS)
    assert len(workload.queries) == 1


@pytest.mark.parametrize("kind", GENERATORS)
def test_every_key_is_documented(kind: str) -> None:
    found = re.search(rf"^\| `{kind}` \|[^|]*\|([^|]*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    keys = set(re.findall(r"`(\w+)`", found[1]))
    assert keys == set(GENERATORS[kind].parts) - {"kind", "name"}
