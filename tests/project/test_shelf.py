"""The shelf of releases: made once, compared after each test that reads, copied for one that writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines import PAIR, TestEngine
from tests.shelf import MAKERS, Shelf

ROWS = 'SELECT count(*) FROM release."people"'


def test_a_release_is_made_once(shelf: Shelf) -> None:
    made = shelf.take("people")
    assert shelf.take("people") is made
    assert len(made.source) == len(made.rows) == 60
    assert made.report.verified


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_what_a_test_changes_is_noticed_and_made_anew(engine: TestEngine, tmp_path: Path) -> None:
    if engine.missing():
        pytest.skip("the engine is missing")
    shelf = Shelf(engine, tmp_path)
    try:
        made = shelf.take("people")
        shelf.check()
        shelf.db.engine.execute("UPDATE people SET age = age + 1 WHERE id = 1000")
        shelf.check()  # of what was read since, nothing
        shelf.take("people")
        with pytest.raises(AssertionError, match="a test changed people, which others read"):
            shelf.check()
        again = shelf.take("people")
        assert again is not made
        assert again.source == made.source
        shelf.check()
    finally:
        shelf.drop()


def test_a_copy_is_a_tests_own(shelf: Shelf) -> None:
    made = shelf.take("people")
    with shelf.copy("people", "victims") as db:
        assert db.engine.fetch(ROWS) == [(60,)]
        assert db.audit("release.victims", sensitive="disease").k >= 3
        db.unpublish("people", purge=True)
        db.engine.execute("DROP TABLE people")
    assert shelf.db.engine.fetch(ROWS) == [(60,)]
    assert shelf.take("people") is made


def test_there_are_about_twelve() -> None:
    assert 10 <= len(MAKERS) <= 15
