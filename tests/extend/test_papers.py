"""Methods to compare with the papers: extensions of sqlanon's own distribution."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

from sqlanon import papers
from sqlanon.declared import METHODS, Registry
from tests.extend.leading import DECLARED


def test_every_folder_is_added_by_an_entry_point_of_the_distribution() -> None:
    points = {point.name: point for point in entry_points(group="sqlanon.methods") if point.dist.name == "sqlanon"}
    folders = {path.parent.name for path in Path(papers.__file__).parent.glob("*/declaration.py")}
    assert {point.module for point in points.values()} == {f"sqlanon.papers.{name}.declaration" for name in folders}
    own = {declared.name for declared in METHODS.own}
    assert not own & set(points)
    assert own | set(points) == set(METHODS)
    assert all(point.load() is METHODS[name] for name, point in points.items())


def test_what_they_say_of_themselves_is_believed_and_what_others_say_is_not() -> None:
    assert all(METHODS.believes(name) for name in METHODS)
    assert not METHODS.believes("no_such_method")
    known = Registry("method", METHODS.own)
    known.add(DECLARED)
    assert [name for name in known if not known.believes(name)] == ["leading"]


def test_a_method_is_named_after_the_one_that_it_names() -> None:
    known = Registry("method", METHODS.own[:3])
    first, second, third = known
    known.add(replace(DECLARED, name="b", after=second))
    known.add(replace(DECLARED, name="a", after=second))
    known.add(replace(DECLARED, name="last", after="no_such_method"))
    assert list(known) == [first, second, "a", "b", third, "last"]
    known.discard("b")
    assert list(known) == [first, second, "a", third, "last"]
