"""No file of sqlanon imports itself through others; imports of types alone count as well."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def circle(imports: dict[str, set[str]]) -> list[str]:
    """The files of one circle, or none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_imports_itself_through_others() -> None:
    graph = grimp.build_graph("sqlanon", exclude_type_checking_imports=False, cache_dir=None)
    assert len(graph.modules) > 500
    assert circle({file: graph.find_modules_directly_imported_by(file) for file in graph.modules}) == []


@pytest.mark.parametrize(
    ("imports", "size"), [({"a": {"b"}, "b": {"c"}, "c": {"a"}}, 4), ({"a": {"b"}, "b": set()}, 0)]
)
def test_a_circle_is_found(imports: dict[str, set[str]], size: int) -> None:
    assert len(circle(imports)) == size
