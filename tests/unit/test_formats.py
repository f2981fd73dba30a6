"""Every format of the registry, by what the rest of the product asks of it; no database is needed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.declared import FORMATS
from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.formats import Grouping, format_of
from sqlanon.formats.label_text import parse_label
from sqlanon.formats.layout import Layout, Names, PublishedColumn
from sqlanon.policy import release

SHAPES = {"ordered": "interval", "nominal": "set", "hierarchy": "node"}
HOSTILE = 'a "b" :c'


def reading(treatment: str) -> Any:
    return SimpleNamespace(name=HOSTILE, alias="q1", treatment=treatment)


def cases(kind: str) -> list[tuple[str, Names]]:
    form = format_of(kind)
    return [
        (treatment, form.names(reading(treatment), mean=mean, nulls=nulls))
        for treatment, mean, nulls in product(SHAPES, (False, True), (False, True))
        if not mean or (treatment == "ordered" and form.facts.means)
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_names_are_found_again_from_the_published_columns(kind: str) -> None:
    form = format_of(kind)
    for treatment, names in cases(kind):
        assert len(set(names.list_columns())) == len(names.list_columns()) >= 1
        assert form.names_in_view(reading(treatment), names.list_columns()) == names
        if form.facts.source_names:
            assert names.list_columns() == (HOSTILE,)
    with pytest.raises(PolicyError, match="other columns"):
        form.names_in_view(reading("ordered"), ["something", "else"])


@pytest.mark.parametrize("kind", [kind for kind, facts in FORMATS.items() if not facts.paired])
def test_a_cell_is_sql_over_the_published_columns_alone(kind: str) -> None:
    """Both engines can be written from it, and its parts are those of the column's shape."""
    for treatment, names in cases(kind):
        own = SimpleNamespace(
            name=HOSTILE, treatment=treatment, kind="integer", source_type="INTEGER", published=names.list_columns()
        )
        cell = format_of(kind).cell(own, SHAPES[treatment], "v")
        expected = {"ordered": {"lo", "hi"}, "nominal": {"set"}, "hierarchy": {"node"}}[treatment]
        assert set(cell.parts) == expected
        assert (cell.mean is not None) == (names.mean is not None)
        used = set()
        for text in (*cell.parts.values(), cell.state, cell.mean, cell.point):
            if text is not None:
                tree = sqlglot.parse_one(text, read="duckdb")
                tree.sql(dialect="postgres", unsupported_level=sqlglot.ErrorLevel.RAISE)
                used |= {(node.table, node.name) for node in tree.find_all(exp.Column)}
        assert used == {("v", name) for name in names.list_columns()}


@pytest.mark.parametrize("kind", FORMATS)
def test_groups_are_those_of_the_release_or_of_its_second_table(kind: str) -> None:
    form = format_of(kind)
    rows, counted = TableRef("s", "t"), TableRef("s", "t_sensitive")
    layout = Layout(
        {}, (PublishedColumn("r", "x_lo", "x_lo"), PublishedColumn("s", "i1", "kept"), PublishedColumn("r", "y", "y"))
    )
    found = form.grouping(rows, counted, layout)
    if form.facts.paired:
        assert (found.table, found.count) == (counted, "count")
    else:
        assert found == Grouping(rows, ("x_lo", "y"))


def test_a_format_that_nobody_knows_is_named() -> None:
    with pytest.raises(PolicyError, match="format spirals is not installed here"):
        format_of("spirals")


@pytest.mark.parametrize("k", [1, 2, 5])
def test_exact_values_keep_no_k(k: int) -> None:
    """A spec that was made by hand, and no policy has checked."""
    spec = release(source="t", quasi="q", sensitive="s", l=2, k=k, format="anatomy", presence="disclosed")
    roles: Any = SimpleNamespace(sensitive=[reading("nominal")])
    assert format_of("anatomy").problems(spec, roles) == []
    silent = replace(spec, privacy=replace(spec.privacy, presence_disclosed=False))
    assert len(format_of("anatomy").problems(silent, roles)) == (k > 1)


@pytest.mark.parametrize("text", ["a, b", "[1]", "[1, 2, 3]"])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"label|two ends"):
        parse_label(text)


def test_labels_are_read_back() -> None:
    for text, label in (
        ("NULL", ("null", ())),
        ("*", ("any", ())),
        ("[1, 2]", ("range", ("1", "2"))),
        ('{"a, b", c}', ("set", ("a, b", "c"))),
        ('"a, b"', ("value", ("a, b",))),
        ("a", ("value", ("a",))),
    ):
        assert parse_label(text) == label


@pytest.mark.parametrize(
    ("asked", "columns", "problems"),
    [
        ({"l": 2}, 1, []),
        ({"distinct_l": 2}, 1, []),
        ({}, 1, ["protects by l-diversity alone; ask for l"]),
        ({"l": 2}, 2, ["takes exactly one sensitive column, and there are 2 (s0, s1)"]),
        ({}, 0, ["takes exactly one sensitive column, and there are 0 (none)", "protects by l-diversity alone"]),
    ],
)
def test_what_anatomy_needs(asked: dict[str, int], columns: int, problems: list[str]) -> None:
    spec = release(source="t", quasi=["a"], sensitive=["s"], k=1, **{"l": 2, **asked}, name="people")
    spec = replace(spec, privacy=replace(spec.privacy, l=asked.get("l"), distinct_l=asked.get("distinct_l")))
    roles: Any = SimpleNamespace(sensitive=[SimpleNamespace(name=f"s{i}") for i in range(columns)])
    found = format_of("anatomy").problems(spec, roles)
    assert len(found) == len(problems)
    assert all(text in said for text, said in zip(problems, found, strict=True))
