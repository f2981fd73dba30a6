"""Formats: nobody outside of their room compares a format's name, or counts groups without asking what makes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlanon.declared import FORMATS
from sqlanon.formats import format_of
from tests.project.tree import MODULES, PACKAGE, ROOT, TEMPLATES, label, nodes

NAMES = frozenset(FORMATS)
ROOM = PACKAGE / "formats"
OTHERS = {
    "sqlanon/evaluate/workload.py",
    "sqlanon/policy/workload.py",
    "sqlanon/release/catalog/entry.py",
    "sqlanon/report/evidence/figures.py",
    "sqlanon/report/frames/words.py",
}
"""Where something else has the name of a format.

A workload's generator ``ranges``, a report's number of rows ``suppressed`` and what a report says of it.
"""


def compared(node: ast.AST) -> Iterator[ast.expr]:
    """What a piece of syntax decides by: sides of comparisons, patterns, keys of mappings, subscripts, members."""
    if isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            yield side
            if isinstance(side, ast.Tuple | ast.List | ast.Set):
                yield from side.elts
    elif isinstance(node, ast.MatchValue):
        yield node.value
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "index", "count"):
        yield from node.args


def decisions(path: Path) -> Iterator[int]:
    """The lines where a file decides by a format's name."""
    for node in nodes(path):
        for found in compared(node):
            if isinstance(found, ast.Constant) and found.value in NAMES:
                yield node.lineno  # type: ignore[attr-defined]


def test_nobody_outside_compares_a_formats_name():
    outside = [path for path in MODULES if not path.is_relative_to(ROOM)]
    found = [f"{label(path)}:{line}" for path in outside for line in decisions(path)]
    assert [place for place in found if place.partition(":")[0] not in OTHERS] == []


@pytest.mark.parametrize(
    "code",
    [
        "if form.kind == 'labels': pass",
        "x = 'anatomy' != spec.format.kind",
        "x = kind in ('ranges', 'labels')",
        "x = 'anatomy' in kinds",
        "x = kind in {'suppressed'}",
        "match kind:\n    case 'points': pass",
        "match kind:\n    case 'x' | 'points': pass",
        "x = {'ranges': 1}[kind]",
        "x = readers['ranges']",
        "x = readers.get('ranges')",
    ],
)
def test_the_decision_is_noticed(code, tmp_path):
    path = tmp_path / "code.py"
    path.write_text(code)
    assert list(decisions(path)) != []


def test_no_template_compares_a_formats_name():
    """In Jinja's own syntax: no name, and no comparison of a parameter that would hold one."""
    quoted = re.compile(rf"""["']({"|".join(NAMES)})["']|\bformat\s*(==|!=|in\b)""")
    found = [
        (label(path), code)
        for path in TEMPLATES
        for code in re.findall(r"\{[{%](.*?)[%}]\}", path.read_text(), flags=re.DOTALL)
        if quoted.search(code)
    ]
    assert found == []


def test_what_formats_declare_is_what_there_is():
    files = {path.stem for path in ROOM.glob("*.py")}
    for name, facts in FORMATS.items():
        assert format_of(name).facts is facts
        assert name in files


def by_source(path: Path) -> Iterator[int]:
    """The lines where a file asks whether a published column comes from the class."""
    for node in nodes(path):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = any(isinstance(side, ast.Attribute) and side.attr == "source" for side in sides)
            if asked and any(isinstance(side, ast.Constant) and side.value == "r" for side in sides):
                yield node.lineno


def test_only_formats_know_which_columns_make_a_group():
    """Which published columns come from the class is the layout's to say; others ask the grouping."""
    outside = [path for path in MODULES if not path.is_relative_to(ROOM)]
    assert [f"{label(path)}:{line}" for path in outside for line in by_source(path)] == []
    assert [label(path) for path in outside if "_sqlanon_place" in path.read_text()] == []


def test_only_recoding_and_publishing_know_how_classes_are_grouped():
    """The other templates are given the table of groups, and the names of its columns."""
    knowing = {label(path) for path in TEMPLATES if "_sqlanon_place" in path.read_text()}
    assert knowing == {
        "sql/core/publish/kept_classes.sql",
        "sql/core/publish/table.sql",
        "sql/core/recode/released.sql",
        "sql/duckdb/publish/table.sql",
        "sql/duckdb/recode/released.sql",
        "sql/postgres/publish/table.sql",
        "sql/spark/publish/table.sql",
        "sql/spark/recode/released.sql",
    }


def test_this_file_is_about_files_that_exist():
    assert all((ROOT / place).is_file() for place in OTHERS)
