"""Random statements of the forms that tools send, against every consistent source, by the engine itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracle.statements import check
from tests.oracle.words import ask_random


def test_statements_hold_for_every_source(shared_db: Any) -> None:
    found = ask_random(check, shared_db, 5, 2, 10)
    assert found.wrong == []
    assert found.refused.total() < found.asked / 2


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_more_statements_hold(shared_db: Any, seed: int) -> None:
    assert ask_random(check, shared_db, 200 + seed, 20, 25).wrong == []
