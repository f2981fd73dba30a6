"""SQL that is kept between runs is what the compiler makes."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from sqlanon.errors import TemplateError
from sqlanon.sqltext import compile as compiler
from tests.kept_sql import FILES, RANDOM, KeptSql, _environment, _translate

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
    environment = KeptSql(tmp_path).environment("duckdb")
    monkeypatch.setattr(type(environment), "compile", no_one)
    assert environment.from_string(TEMPLATE).render(columns=["c"]) == 'SELECT "c"'


def test_what_is_refused_is_refused_each_time(tmp_path: Path) -> None:
    kept = KeptSql(tmp_path)
    for _ in range(2):
        with pytest.raises(TemplateError):
            kept.translate("a/b", "SELECT a FROM t GROUP BY ALL", "duckdb", "postgres")
    assert not list(tmp_path.iterdir())


def test_processes_read_what_the_others_make_while_they_run(tmp_path: Path) -> None:
    several = [KeptSql(tmp_path), KeptSql(tmp_path)]
    assert several[0].recall((0,), lambda: "zero") == "zero"
    assert several[1].recall((0,), no_one) == "zero"
    assert several[1].recall((1,), lambda: b"one") == b"one"
    assert several[0].recall((1,), no_one) == b"one"


def test_a_record_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    writer = KeptSql(tmp_path)
    writer.recall((0,), lambda: "zero")
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        reader = KeptSql(tmp_path)
        file.write_bytes(whole)
        assert reader.recall((0,), no_one) == "zero"


def test_many_files_become_one(tmp_path: Path) -> None:
    for number in range(FILES + 1):
        KeptSql(tmp_path).recall((number,), lambda: "made")
    KeptSql(tmp_path).join()
    assert len(list(tmp_path.iterdir())) == 1
    last = KeptSql(tmp_path)
    assert [last.recall((number,), no_one) for number in range(FILES + 1)] == ["made"] * (FILES + 1)


def test_a_run_goes_on_whose_folder_a_later_one_removed(tmp_path: Path) -> None:
    kept = KeptSql(tmp_path / "of older code")
    (tmp_path / "of older code").rmdir()
    assert kept.translate("a/b", TEXT, "duckdb", "spark") == _translate("a/b", TEXT, "duckdb", "spark")
    assert not (tmp_path / "of older code").exists()
