"""The registry of functions against the engine's own values: every definition over boxes of every type.

For a box, the engine computes the expression of each of its values, NULL, NaN, infinities and the ends of types among
them; each must lie in the abstract value. A new definition is tested with its forms, and nothing is written here.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from sqlanon.query.functions.definition import Definition, Form, NoEndsError
from sqlanon.query.functions.registry import DEFINITIONS
from tests.contract.boxes_of_values import VALUES, Found, check, combinations

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
        listed = combinations(form.kinds)
        for types in rng.sample(listed, min(most or len(listed), len(listed))):
            check(db, written(form.text), types, rng, found, boxes)
    return found


@pytest.mark.every_engine
@pytest.mark.parametrize("definition", BOUNDED, ids=named)
def test_values_lie_in_the_abstract_value(shared_db: Any, definition: Definition) -> None:
    found = look(shared_db, definition, random.Random(definition.name), 3, 24)
    assert found.wrong == []
    assert found.boxes > 0 or not forms_of(definition, shared_db.engine.dialect), found.lacking


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("definition", BOUNDED, ids=named)
def test_values_of_all_types_lie_in_the_abstract_value(shared_db: Any, definition: Definition) -> None:
    found = look(shared_db, definition, random.Random(definition.name), None, 60)
    assert found.wrong == []
    assert found.boxes > found.failed or not forms_of(definition, shared_db.engine.dialect), found.lacking


def composed(rng: random.Random, family: str, columns: dict[str, str], depth: int) -> str:
    """A random expression of the registry's forms over some columns."""
    form = rng.choice([form for one in BOUNDED for form in forms_of(one, family)])
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
    found, _ = compose(shared_db, random.Random(depth), 25, depth, 16)
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
