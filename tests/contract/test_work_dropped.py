"""The work table goes when its last reader has it; who asks for it later has the same rows again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sqlanon.methods.base import Context
from sqlanon.methods.method import make_method
from sqlanon.policy import release as spec_of
from sqlanon.progress import SilentProgress
from sqlanon.testing.assignment import rows_by_id
from tests.contract.assigned import encoded_sample
from tests.contract.samples import MIXED
from tests.engines import PAIR


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("read_again", [False, True], ids=["read once", "read again"])
def test_a_method_that_reads_it_last(connect_module: Any, engine: Any, read_again: bool, tmp_path: Path) -> None:
    db = connect_module(engine)
    with encoded_sample(db, MIXED, tmp_path) as sample:
        encoded = sample.encoded
        codes = ["rid", *(domain.code for domain in encoded.quasi)]
        made = encoded.work
        before = rows_by_id(sample.scratch, made, codes)
        spec = spec_of(**{**sample.arguments, "method": "mondrian"})
        context = Context(
            sample.scratch,
            encoded,
            sample.ready.requirements,
            "kernel",
            sys.maxsize,
            2,
            SilentProgress(),
            0,
            read_again=read_again,
        )
        make_method(spec.method).assign(context)
        assert db.engine.exists(made) == read_again
        assert rows_by_id(sample.scratch, encoded.work, codes) == before
        encoded.drop_work()
        encoded.drop_work()
        assert not db.engine.exists(made)
