"""What an error of a file recommends helps."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon
from tests.contract.test_written_files import TYPES, made, released


@pytest.mark.parametrize(("name", "advice"), [("UNION", False), ("VARIANT", True)])
def test_a_file_that_holds_a_column_no_better_is_not_recommended(tmp_path: Path, name: str, advice: bool) -> None:
    with sqlanon.connect(made(tmp_path, {name: TYPES[name]})) as db:
        release = released(db, [name])
        with pytest.raises(sqlanon.PolicyError, match=f"CSV cannot hold every value of {name}") as refused:
            release.write(tmp_path / "out.csv")
        assert ("write .parquet" in str(refused.value)) == advice
