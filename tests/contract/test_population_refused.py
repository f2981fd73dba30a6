"""Requirements over a population: releases that verify refuses, and populations and policies that are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain.method import FullDomain
from sqlanon.policy import release
from tests.contract.populations import COLUMNS, METHOD, SMALL, Row, asked_for, made
from tests.declared import declare
from tests.engines import create_table, table_name


class Careless(FullDomain):
    """The finest node, whatever is asked."""

    def assign(self, context: Context) -> Assignment:
        encoded = replace(context.encoded, population=None)
        return super().assign(replace(context, encoded=encoded, requirements=context.requirements[:1]))


class Mixed(FullDomain):
    """Everything in one class, of which the rows of code 0 in the first column make another.

    Its cell is in that of the others.
    """

    def assign(self, context: Context) -> Assignment:
        made = super().assign(context)
        assert made.levels is not None
        for statement in (
            (
                f'UPDATE "{made.table.name}" SET class = 1 WHERE rid IN (SELECT rid FROM "{context.encoded.work.name}" '
                "WHERE c1 = 0)"
            ),
            f'INSERT INTO "{made.levels.name}" VALUES (1, 0, 1, 1)',
        ):
            context.scratch.engine.execute(statement)
        return made


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"k_map": {"k": 3}}, "k_map: asked 3, reached 1; 2 classes fail"),
        ({"delta_presence": {"max": "1/2"}}, "delta_presence: asked 0.5, reached 1; 1 classes fail"),
        (
            {"delta_presence": {"min": "1/10", "max": "1"}},
            "delta_presence, least: asked 0.1, reached 0; 1 classes fail",
        ),
    ],
)
def test_verify_refuses_a_careless_release(
    shared_db: Any, asked: dict[str, Any], wrong: str, monkeypatch: pytest.MonkeyPatch, cities: Path
) -> None:
    declare(monkeypatch, "careless", Careless, "fulldomain")
    table, people = made(shared_db, SMALL)
    named = {key: {**value, "population": people} for key, value in asked.items()}
    with pytest.raises(PrivacyViolation, match=wrong):
        shared_db.anonymize(table, **{**asked_for(cities, **named), "method": METHOD.replace("fulldomain", "careless")})
    assert not shared_db.engine.exists(shared_db.engine.target(f"release.{table}"))


def test_verify_refuses_cells_within_cells(shared_db: Any, monkeypatch: pytest.MonkeyPatch, cities: Path) -> None:
    declare(monkeypatch, "mixed", Mixed, "fulldomain")
    table, people = made(shared_db, SMALL)
    asked = {**asked_for(cities, k_map=f"k=8,population={people}"), "method": METHOD.replace("fulldomain", "mixed")}
    with pytest.raises(
        PrivacyViolation, match="1 combinations of values of the population lie in more than one published cell"
    ):
        shared_db.anonymize(table, **asked)


@pytest.mark.parametrize(
    ("columns", "rows", "wrong"),
    [
        ({"city": "TEXT", "n": "INTEGER"}, [], "has no column kind"),
        ({"city": "TEXT", "n": "TEXT", "kind": "TEXT"}, [], "n is .*, and n of .* is .*; cast it in a view"),
        (
            COLUMNS,
            [("oslo", 1, "x"), ("rome", 2, "x"), ("pisa", 2, "y")],
            "does not cover .*: 1 rows of 1 combinations",
        ),
        (COLUMNS, [*SMALL.people, ("oslo", None, "x")], "n is NULL in 1 rows and in none of the source"),
        (
            COLUMNS,
            [*SMALL.people, ("atlantis", 1, "x")],
            "1 rows have a value of city that the hierarchy of the column does not list",
        ),
    ],
)
def test_populations_that_are_refused(
    shared_db: Any, columns: dict[str, Any], rows: list[Row], wrong: str, cities: Path
) -> None:
    table, people = made(shared_db, replace(SMALL, people=()))
    shared_db.engine.execute(f"DROP TABLE {table_name(people)}")
    create_table(shared_db, people, columns, rows)
    with pytest.raises(PolicyError, match=wrong) as error:
        shared_db.anonymize(table, **asked_for(cities, k_map={"k": 2, "population": people}))
    assert "atlantis" not in str(error.value)
    assert not shared_db.engine.exists(shared_db.engine.target(f"release.{table}"))


def test_a_population_that_is_not_there_or_is_the_source(shared_db: Any, cities: Path) -> None:
    table, _ = made(shared_db, SMALL)
    with pytest.raises(PolicyError, match="the population of k_map: "):
        shared_db.anonymize(table, **asked_for(cities, k_map={"k": 2, "population": "nowhere_at_all"}))
    with pytest.raises(PolicyError, match="is the source itself"):
        shared_db.anonymize(table, **asked_for(cities, k_map={"k": 2, "population": table}))


REFUSED = [
    ({"method": "tree"}, "tree cannot count k_map: .*; use fulldomain with search: global"),
    ({"method": "topdown"}, "topdown cannot count k_map: .*; use fulldomain with search: global"),
    ({"method": "best"}, "cannot count k_map: .*; use fulldomain with search: global"),
    ({"method": "fulldomain"}, "search=local does not count k_map; say search=global"),
    ({"method": "fulldomain:search=all"}, "search=all does not count k_map; say search=global"),
    (
        {"format": "points"},
        "format points does not say which rows of a population lie in a cell .*; use ranges or labels",
    ),
    ({"mean": "n", "k": 5}, "the mean of a class shows which rows of the population are in it"),
    ({"rows_are": "events"}, "a row of the population is a person"),
    ({"k_map": {"k": 0, "population": "p"}}, "k_map: too small"),
    ({"k_map": {"k": 2}}, "k_map: population is missing"),
    ({"k_map": {"k": 2, "population": ""}}, "k_map: not the name of a table"),
    ({"k_map": None, "delta_presence": {"min": 0.6, "max": 0.5, "population": "p"}}, "min is more than max"),
    ({"k_map": None, "delta_presence": {"max": 1.5, "population": "p"}}, "delta_presence: too large"),
    ({"delta_presence": {"max": 0.5, "population": "other"}}, "name different populations"),
]


@pytest.mark.parametrize(("given", "wrong"), REFUSED)
def test_policies_that_are_refused(given: dict[str, Any], wrong: str) -> None:
    asked: dict[str, Any] = {"quasi": ["n"], "method": METHOD, "k_map": {"k": 2, "population": "p"}, **given}
    with pytest.raises(PolicyError, match=wrong):
        release(source="t", **asked)
