"""`audit --statistics` of files: what the exit code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize(("men", "code"), [("", 0), ("87", 1)])
def test_a_hidden_number_that_follows_is_exit_code_1(cli: Cli, tmp_path: Path, men: str, code: int) -> None:
    """Of two hidden parts of 90 none is known; of 90 and 87 the other is 3."""
    (tmp_path / "counts.csv").write_text(f"sex,n\nF,\nM,{men}\nTotal,90\n")
    ended = cli("audit", "--statistics", "counts.csv", "--persons", "4", "--json")
    assert ended.code == code, ended.err
    assert ended.json["exact"] == code
