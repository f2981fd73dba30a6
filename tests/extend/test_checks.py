"""`sqlanon.testing`.

It checks the extensions of the documentation, methods of the package, and wrong extensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.declared import METHODS, REQUIREMENTS
from sqlanon.declared.method_options import Word
from sqlanon.errors import SqlanonError
from sqlanon.lack import never, notimpl
from sqlanon.methods.base import Assignment, Context
from sqlanon.privacy.base import Grouped, Measured
from sqlanon.testing import check_method, check_requirement
from tests.engines import PAIR
from tests.extend import leading, people, share


def in_share(asked: Fraction, own: Sequence[Any], _: Sequence[Any]) -> bool:
    return Fraction(max(Counter(own).values()), len(own)) <= asked


def enough(asked: int, own: Sequence[Any], _: Sequence[Any]) -> bool:
    return len(set(own)) >= asked


@pytest.fixture(params=PAIR, ids=lambda engine: engine.name)
def url(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    """An empty database."""
    engine = request.param
    if reason := engine.missing():
        pytest.skip(reason)
    made = engine.fresh(tmp_path)
    yield made
    engine.drop(made)


def test_the_method(url: str) -> None:
    check_method(leading.DECLARED, url=url)
    assert "leading" not in METHODS


@pytest.mark.parametrize(
    ("declared", "asked", "definition"),
    [
        (people.DECLARED, 2, enough),
        pytest.param(people.DECLARED, 4, enough, marks=pytest.mark.thorough),
        pytest.param(share.DECLARED, "2/5", in_share, marks=pytest.mark.thorough),
        pytest.param(share.DECLARED, "1/2", in_share, marks=pytest.mark.thorough),
    ],
)
def test_the_requirements(url: str, declared: Any, asked: Any, definition: Any) -> None:
    check_requirement(declared, [asked], definition, url=url)
    assert not {"max_share", "people"} & REQUIREMENTS.keys()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "asked"), [("mondrian", {}), ("tree", {}), ("anatomy", {"l": 2, "k": 1}), ("freeform", {"boxes": "own"})]
)
def test_methods_of_the_package(name: str, asked: dict[str, Any]) -> None:
    check_method(METHODS[name], asked=asked)


class InTheOrderOfTheSource(leading.Leading):
    """A method that numbers classes by row ids."""

    def assign(self, context: Context) -> Assignment:
        made = super().assign(context)
        half = f'UPDATE "{made.table.name}" SET class = CASE WHEN rid % 12 < 6 THEN 0 ELSE 1 END'
        context.scratch.engine.execute(half)
        return made


class OfSomeRows(leading.Leading):
    """A method that forgets a row."""

    def assign(self, context: Context) -> Assignment:
        made = super().assign(context)
        context.scratch.engine.execute(f'DELETE FROM "{made.table.name}" WHERE rid = 1')
        return made


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"code": OfSomeRows}, "33 of 34 rows have a class"),
        ({"code": InTheOrderOfTheSource}, "publishes something else than|not satisfied|asked"),
        ({"options": (Word("way", ("a", "b"), "A way."),)}, r"the code takes \[\], and \['way'\] are declared"),
        ({"pushdown": True}, "reports the execution kernel"),
    ],
)
def test_what_is_wrong_with_a_method_is_found(more: dict[str, Any], found: str) -> None:
    with pytest.raises((AssertionError, SqlanonError), match=found):
        check_method(replace(leading.DECLARED, name="wrong", **more))


class Late(share.Share):
    """Its query of verification accepts everything."""

    def measure(self, engine: Any, rows: Grouped) -> Measured:
        return Measured(Fraction(0), 0)


def test_what_is_wrong_with_a_requirement_is_found() -> None:
    with pytest.raises(AssertionError, match="the tally finds other divisions than the definition"):
        check_requirement(share.DECLARED, ["2/5"], lambda asked, own, _: in_share(asked, own, _) or len(own) == 1)
    with pytest.raises(AssertionError, match="verification counts other classes than the definition"):
        check_requirement(replace(share.DECLARED, code=Late), ["2/5"], in_share)
    with pytest.raises(AssertionError, match="no random class meets it, or all do"):
        check_requirement(share.DECLARED, [1], in_share)


@pytest.mark.thorough
def test_what_a_declaration_lacks_is_refused_with_its_reason() -> None:
    lacks = {"persons": notimpl("it knows nobody"), "requirements": ("k",), "other_requirements": never("it is for k")}
    check_method(replace(leading.DECLARED, name="for_k", **lacks))
