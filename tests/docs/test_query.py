"""The page on queries: its Python runs and says what bounds are, its SQL gives the results that the comments name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engines import PAIR

PAGE = Path(__file__).parents[2] / "docs" / "query.md"


def test_python_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/query.md", "exec"), {})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    truth = {"flu": 0, "asthma": 0}
    for i in range(200):
        truth["flu" if i % 3 == 0 else "asthma"] += 20 + i % 40 < 33
    assert {line[0] for line in lines} == set(truth)
    for name, estimate, low, high, certain in lines:
        assert int(low) <= float(estimate) <= int(high)
        assert int(low) <= truth[name] <= int(high)
        assert certain == "True"


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_sql_of_the_page_runs(engine, connect):
    db = connect(engine)
    db.install_functions()
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found = re.findall(r"(.+?;)(?: *-- ([^\n]*))?\n", block, re.DOTALL)
    assert len(found) == 5
    for statement, result in found:
        if result:
            assert str(db.engine.fetch(statement)[0][0]) == result
        else:
            db.engine.execute(statement)
