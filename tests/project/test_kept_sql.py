"""SQL that is kept between runs is what the compiler makes."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from sqlanon.errors import TemplateError
from sqlanon.sqltext import compile as compiler
from tests.kept_sql import RANDOM, KeptSql, _environment, _translate

TEXT = f'SELECT "{compiler._ANY_NAME}0_" FROM {compiler._ANY_RUN}work WHERE x = :v AND y / 2 > 1'
TEMPLATE = "SELECT {% for column in columns %}{{ column | ident }}{{ ', ' if not loop.last }}{% endfor %}"


def no_one(*_: object) -> NoReturn:
    """Make nothing."""
    pytest.fail("it was kept")


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_a_later_process_has_the_same_text_and_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str
) -> None:
    first = KeptSql(tmp_path)
    made = first.translate("a/b", TEXT, "duckdb", dialect)
    assert made == _translate("a/b", TEXT, "duckdb", dialect)
    first.write()
    drawn = {name: f"{name.rpartition('_')[0].rpartition('_')[0]}_later_" for name in RANDOM}
    later, expected = TEXT, made
    for name, other in drawn.items():
        later, expected = later.replace(name, other), expected.replace(name, other)
    monkeypatch.setattr("tests.kept_sql._translate", no_one)
    monkeypatch.setattr("tests.kept_sql.RANDOM", {drawn[name]: kept for name, kept in RANDOM.items()})
    assert later != TEXT
    assert KeptSql(tmp_path).translate("a/b", later, "duckdb", dialect) == expected


def test_code_of_a_template_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.kept_sql._environment", _environment.__wrapped__)
    first = KeptSql(tmp_path)
    assert first.environment("duckdb").from_string(TEMPLATE).render(columns=["a", "b"]) == 'SELECT "a", "b"'
    first.write()
    environment = KeptSql(tmp_path).environment("duckdb")
    monkeypatch.setattr(type(environment), "compile", no_one)
    assert environment.from_string(TEMPLATE).render(columns=["c"]) == 'SELECT "c"'


def test_what_is_refused_is_refused_each_time(tmp_path: Path) -> None:
    kept = KeptSql(tmp_path)
    for _ in range(2):
        with pytest.raises(TemplateError):
            kept.translate("a/b", "SELECT a FROM t GROUP BY ALL", "duckdb", "postgres")
    kept.write()
    assert not list(tmp_path.iterdir())


def test_processes_that_end_at_once_lose_nothing(tmp_path: Path) -> None:
    KeptSql(tmp_path).write()
    several = [KeptSql(tmp_path), KeptSql(tmp_path)]
    for number, kept in enumerate(several):
        kept.recall((number,), lambda: "made")
        kept.write()
    last = KeptSql(tmp_path)
    assert [last.recall((number,), no_one) for number in (0, 1)] == ["made", "made"]
    last.recall((2,), lambda: "made")
    last.write()
    assert len(list(tmp_path.iterdir())) == 1
