"""The registry of functions against the engine's own values: every definition over boxes of every type.

For a box, the engine computes the expression of each of its values, NULL, NaN, infinities and the ends of types among
them; each must lie in the abstract value. A new definition is tested with its forms, and nothing is written here.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.query.functions.definition import Definition, Form, NoEndsError, flat
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import DEFINITIONS, definition_of
from sqlanon.query.functions.texts import LENGTHS
from tests.contract.boxes_of_values import BoxLeaves, Found, check, nulls
from tests.contract.values_of_types import VALUES, combinations, constant, values_of

BOUNDED = [one for one in DEFINITIONS if one.ends is not None]


def named(definition: Definition) -> str:
    return f"{definition.name} {definition.node.__name__}"


def forms_of(definition: Definition, family: str) -> list[Form]:
    return [form for form in definition.forms if not form.engines or family in form.engines]


def written(text: str) -> str:
    return text.replace("{x}", "x").replace("{y}", "y")


def look(db: Any, definition: Definition, rng: random.Random, most: int | None, boxes: int) -> Found:
    """Every form of a definition, with some of its types, or all."""
    found = Found()
    for form in forms_of(definition, db.engine.dialect):
        listed = [] if form.listed else combinations(form.kinds)
        for types in rng.sample(listed, min(most or len(listed), len(listed))):
            check(db, written(form.text), types, rng, found, boxes)
    return found


@pytest.mark.every_engine
@pytest.mark.parametrize("definition", BOUNDED, ids=named)
def test_values_lie_in_the_abstract_value(shared_db: Any, definition: Definition) -> None:
    found = look(shared_db, definition, random.Random(definition.name), 1, 12)
    assert found.wrong == []
    assert found.boxes > 0 or not forms_of(definition, shared_db.engine.dialect), found.lacking


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("definition", BOUNDED, ids=named)
def test_values_of_all_types_lie_in_the_abstract_value(shared_db: Any, definition: Definition) -> None:
    found = look(shared_db, definition, random.Random(definition.name), None, 60)
    assert found.wrong == []
    assert found.boxes > found.failed or not forms_of(definition, shared_db.engine.dialect), found.lacking


@pytest.mark.parametrize("definition", BOUNDED, ids=named)
def test_a_definition_costs_what_it_says(shared_db: Any, definition: Definition) -> None:
    """Ends repeat those of their operands, so that the cost decides how deep an expression may be."""
    for form in forms_of(definition, shared_db.engine.dialect):
        tree = sqlglot.parse_one(written(form.text), read=shared_db.engine.dialect)
        if form.listed or sum(1 for part in tree.walk() if definition_of(part) is not None) > 1:
            continue
        columns = sum(1 for _ in tree.find_all(exp.Column))
        types = combinations(form.kinds)[0]
        value = evaluate(tree, BoxLeaves(shared_db, dict(zip("xy", types, strict=False))))
        parts = [part for part in (value.low, value.high, value.null, value.nothing, value.middle) if part is not None]
        ends = sum(1 for part in parts for _ in part.find_all(exp.Column))
        assert ends <= definition.cost * columns * len(parts), (form.text, ends, columns)


def test_an_expression_that_would_be_too_long_is_refused_at_once(shared_db: Any) -> None:
    tree = sqlglot.parse_one("x % 7 % 6 % 5 % 4 % 3", read=shared_db.engine.dialect)
    with pytest.raises(NoEndsError, match="the ends of % would be too long"):
        evaluate(tree, BoxLeaves(shared_db, {"x": "INTEGER"}))


def composed(rng: random.Random, family: str, columns: dict[str, str], depth: int) -> str:
    """A random expression of the registry's forms over some columns."""
    form = rng.choice([form for one in BOUNDED for form in forms_of(one, family) if not form.listed])
    text = form.text
    for place in ("{x}", "{y}"):
        if place in text:
            inner = composed(rng, family, columns, depth - 1) if depth > 1 and rng.random() < 0.7 else ""
            text = text.replace(place, f"({inner})" if inner else rng.choice(sorted(columns)))
    return text


def compose(db: Any, rng: random.Random, count: int, depth: int, boxes: int) -> tuple[Found, int]:
    """Check random compositions; how many have no ends is counted."""
    found, refused = Found(), 0
    while found.checked < count:
        kinds = [rng.choice(["whole", "decimal", "double", "date", "timestamp"]) for _ in range(rng.randint(1, 2))]
        types = [rng.choice(list(VALUES[kind])) for kind in kinds]
        text = composed(rng, db.engine.dialect, dict(zip("xy", types, strict=False)), depth)
        try:
            check(db, text, types, rng, found, boxes)
        except NoEndsError:
            refused += 1
    return found, refused


@pytest.mark.every_engine
@pytest.mark.parametrize("depth", [2, 3])
def test_compositions_keep_what_their_parts_promise(shared_db: Any, depth: int) -> None:
    found, _ = compose(shared_db, random.Random(depth), 12, depth, 8)
    assert found.wrong == []
    assert found.boxes > found.failed


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_more_compositions_keep_what_their_parts_promise(shared_db: Any, depth: int, seed: int) -> None:
    found, _ = compose(shared_db, random.Random(1000 * depth + seed), 200, depth, 24)
    assert found.wrong == []
    assert found.boxes > found.failed


@pytest.mark.every_engine
@pytest.mark.parametrize("definition", [one for one in DEFINITIONS if one.forms], ids=named)
@pytest.mark.parametrize("most", [2, pytest.param(4, marks=pytest.mark.thorough)], ids=["two types", "four types"])
def test_what_a_definition_says_of_null(shared_db: Any, definition: Definition, most: int) -> None:
    """NULL where an operand is, or nowhere else: groups of NULL and tests that NULL does not pass depend on it."""
    for form in forms_of(definition, shared_db.engine.dialect):
        if "NULL" in form.text:
            continue
        listed = combinations(form.kinds)
        for types in random.Random(form.text).sample(listed, min(most, len(listed))):
            found = nulls(shared_db, written(form.text), types)
            if definition.null_in:
                assert all(null for given, null in found if given), (form.text, types)
            if definition.null_out and not definition.finite:
                assert not any(null for given, null in found if not given), (form.text, types)


@pytest.mark.parametrize("definition", [one for one in DEFINITIONS if one.unit is not None], ids=named)
def test_a_part_has_one_value_within_its_step(shared_db: Any, definition: Definition) -> None:
    """Groups by a part of a time are made of the steps that the definition names."""
    for form in forms_of(definition, shared_db.engine.dialect):
        unit = definition.unit(sqlglot.parse_one(written(form.text), read=shared_db.engine.dialect))
        for (type_,) in combinations(form.kinds) if unit is not None else ():
            if type_ not in ("DATE", "TIMESTAMP") or (type_ == "DATE" and unit in ("HOUR", "MINUTE")):
                continue
            rows = ", ".join(f"({constant(value, type_)})" for value in values_of(type_))
            table = f"(SELECT x, {written(form.text)} AS r FROM (VALUES {rows}) AS v(x))"
            apart = (
                f"SELECT count(*) FROM {table} AS a, {table} AS b WHERE a.r IS DISTINCT FROM b.r AND "
                f"date_trunc('{unit}', a.x) = date_trunc('{unit}', b.x)"
            )
            assert shared_db.engine.fetch(Statement("steps", apart)) == [(0,)], (form.text, type_)


@pytest.mark.parametrize("definition", [one for one in DEFINITIONS if one.length != "longest" and one.forms], ids=named)
def test_a_text_is_no_longer_than_its_rule_says(shared_db: Any, definition: Definition) -> None:
    """Neither memory nor a deadline holds within one call of a function."""
    for form in forms_of(definition, shared_db.engine.dialect):
        call = sqlglot.parse_one(written(form.text), read=shared_db.engine.dialect)
        for pair in itertools.product(values_of("TEXT"), repeat=len(form.kinds)):
            cells = dict(zip("xy", pair, strict=False))
            parts = [len(cells[one.name] if isinstance(one, exp.Column) else one.name) for one in flat(call)]
            items = ", ".join(f"{constant(value, 'TEXT')} AS {name}" for name, value in cells.items())
            text = f"SELECT length({written(form.text)}) FROM (SELECT {items}) AS v"
            ((made,),) = shared_db.engine.fetch(Statement("length", text))
            assert made <= LENGTHS[definition.length](parts), (form.text, pair)


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "text",
    [
        "x - (x - x)",
        "date_trunc('week', x) - (x - x)",
        "(x + INTERVAL '-36 hours') + INTERVAL '1 month'",
        "x - INTERVAL '2 years'",
    ],
)
def test_compositions_of_times_that_random_ones_found(shared_db: Any, text: str) -> None:
    found = Found()
    for type_ in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
        check(shared_db, text, [type_], random.Random(5), found, 40)
    assert found.wrong == []
    assert found.boxes > found.failed
