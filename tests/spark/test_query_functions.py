"""The registry of functions against Spark's own values: see `tests.contract.test_query_functions`.

A definition that is new is tested with its forms, and nothing is written here.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from sqlglot import exp

import sqlanon
from sqlanon.query.functions.definition import Definition, Form, flat
from sqlanon.query.functions.registry import DEFINITIONS
from sqlanon.query.functions.texts import LENGTHS
from tests.contract.boxes_of_values import Found
from tests.contract.test_query_functions import BOUNDED, composed, forms_of, named, written
from tests.contract.values_of_types import VALUES, combinations, values_of
from tests.spark.expressions import Places, compare, is_known, read, results

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

Types = tuple[str, ...]


@pytest.fixture(scope="module")
def spark(session: Any) -> Iterator[Any]:
    """A database on the session, which is also the one that a frame is made in."""
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        yield db


def spread(forms: list[Form], most: int, rng: random.Random) -> dict[Types, list[Form]]:
    """Some combinations of types for each form, few different ones in all, as each is a statement."""
    found: dict[Types, list[Form]] = defaultdict(list)
    for form in forms:
        listed = combinations(form.kinds)
        rng.shuffle(listed)
        for types in sorted(listed, key=lambda types: types not in found)[:most]:
            found[types].append(form)
    return found


@pytest.mark.parametrize(("ranges", "most", "boxes"), [(1, 20, 30), (2, 4, 10)], ids=["one range", "two ranges"])
def test_values_lie_in_the_abstract_value(spark: Any, ranges: int, most: int, boxes: int) -> None:
    """Every form over every type of one range, and over some types of two."""
    rng = random.Random(ranges)
    definitions = {id(form): one for one in BOUNDED for form in forms_of(one, "spark") if not form.listed}
    forms = [form for one in BOUNDED for form in forms_of(one, "spark") if id(form) in definitions]
    found = Found()
    bounded: set[str] = set()
    for types, listed in spread([form for form in forms if len(form.kinds) == ranges], most, rng).items():
        compare(spark, types, [written(form.text) for form in listed], rng, found, boxes)
        refused = {label.partition(" over ")[0].removeprefix("spark: ") for label in found.lacking}
        bounded |= {named(definitions[id(form)]) for form in listed if written(form.text) not in refused}
    assert found.wrong == []
    assert found.boxes > 10 * found.failed
    assert bounded >= {named(definitions[id(form)]) for form in forms if len(form.kinds) == ranges}


@pytest.mark.parametrize("depth", [2, 3])
def test_compositions_keep_what_their_parts_promise(spark: Any, depth: int) -> None:
    rng, found = random.Random(depth), Found()
    kinds = ("whole", "decimal", "double", "date", "timestamp")
    for _ in range(4):
        types = [rng.choice(list(VALUES[rng.choice(kinds)])) for _ in range(rng.randint(1, 2))]
        texts = [composed(rng, "spark", dict(zip("xy", types, strict=False)), depth) for _ in range(30)]
        compare(spark, types, texts, rng, found, 12)
    assert found.wrong == []
    assert found.checked > 10
    assert found.boxes > found.failed


def test_what_definitions_say_of_null(spark: Any) -> None:
    """NULL where an operand is, or nowhere else: groups of NULL and tests that NULL does not pass depend on it."""
    rng = random.Random(0)
    definitions = {id(form): one for one in DEFINITIONS for form in forms_of(one, "spark") if "NULL" not in form.text}
    forms = [form for one in DEFINITIONS for form in forms_of(one, "spark") if id(form) in definitions]
    for types, spread_ in spread(forms, 2, rng).items():
        listed = [form for form in spread_ if is_known(spark, types, written(form.text))]
        rows = results(spark, types, [written(form.text) for form in listed])
        for i, form in enumerate(listed):
            check_null(definitions[id(form)], form, types, [(places, row[i]) for places, row in rows if row[i]])


def check_null(one: Definition, form: Form, types: Types, rows: list[tuple[Places, Any]]) -> None:
    """What a definition says of the rows in which an expression has no error."""
    asked = (form.text, types)
    if one.null_in:
        assert all(value == (None,) for places, value in rows if None in places), asked
    decimal = isinstance(tree := read(written(form.text)), exp.Cast) and tree.to.is_type("DECIMAL")
    if one.null_out and not one.finite and not decimal:
        assert not any(value == (None,) for places, value in rows if None not in places), asked


def test_a_part_has_one_value_within_its_step(spark: Any) -> None:
    """Groups by a part of a time are made of the steps that the definition names."""
    steps: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in DEFINITIONS:
        for form in forms_of(one, "spark") if one.unit is not None else ():
            text = written(form.text)
            for (type_,) in combinations(form.kinds):
                unit = one.unit(read(text)) if one.unit is not None and is_known(spark, [type_], text) else None
                if unit and (type_ == "TIMESTAMP" or (type_ == "DATE" and unit not in ("HOUR", "MINUTE"))):
                    steps[type_].append((text, unit))
    assert all(len(steps[type_]) > 5 for type_ in ("DATE", "TIMESTAMP"))
    for type_, listed in steps.items():
        items = [item for text, unit in listed for item in (text, f"date_trunc('{unit}', x)")]
        rows = [row for places, row in results(spark, [type_], items) if None not in places]
        for i, (text, unit) in enumerate(listed):
            values = defaultdict(set)
            for row in rows:
                assert row[2 * i] is not None, (text, type_)
                values[row[2 * i + 1]].add(row[2 * i])
            assert all(len(found) == 1 for found in values.values()), (text, unit, type_)


def test_a_text_is_no_longer_than_its_rule_says(spark: Any) -> None:
    """Neither memory nor a deadline holds within one call of a function."""
    forms = [(one, form) for one in DEFINITIONS if one.length != "longest" for form in forms_of(one, "spark")]
    for ranges in (1, 2):
        texts = [(one, written(form.text)) for one, form in forms if len(form.kinds) == ranges]
        listed = [(one, text) for one, text in texts if is_known(spark, ["TEXT"] * ranges, text)]
        assert len(listed) > 2
        rows = results(spark, ["TEXT"] * ranges, [f"length({text})" for _, text in listed])
        for (places, row), (i, (one, text)) in itertools.product(rows, enumerate(listed)):
            if None in places:
                continue
            cells = {name: values_of("TEXT")[at] for name, at in zip("xy", places, strict=False) if at is not None}
            parts = [len(cells.get(part.name, part.name)) for part in flat(read(text))]
            made = row[i]
            assert made is not None, text
            assert int(made[0] or 0) <= LENGTHS[one.length](parts), (text, places)
