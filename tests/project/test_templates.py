"""Templates: each has its header, the header is true, and an override has the header of what it overrides."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jinja2
import jinja2.meta
import pytest

from sqlanon.engines.base import TableRef
from sqlanon.sqltext import statement
from tests.project.tree import ROOT, TEMPLATES, label

SQL = ROOT / "sql"
FIELDS = ("name", "params", "returns")
ENVIRONMENT = jinja2.Environment()
for _filter in ("ident", "table", "literal", "scratch", "link_of"):
    ENVIRONMENT.filters[_filter] = str


def header(path: Path) -> dict[str, str]:
    """The fields of a template's first comment lines, in their order; a field goes on where a line is indented."""
    comment = re.match(r"(?:--.*\n)*", path.read_text())
    assert comment
    found = re.findall(r"^-- (\w+): (.*(?:\n--  +.*)*)", comment[0], flags=re.MULTILINE)
    return {field: re.sub(r"\n--\s+", " ", text) for field, text in found}


def parameters(path: Path) -> set[str]:
    """The names that a header lists, without what it says about them in parentheses."""
    listed = header(path)["params"]
    while (shorter := re.sub(r"\([^()]*\)", "", listed)) != listed:
        listed = shorter
    return {name.strip().lstrip(":") for name in listed.split(",")} - {"none", "nothing", ""}


@cache
def variables(path: Path) -> set[str]:
    """The names that rendering needs."""
    tree = ENVIRONMENT.parse(path.read_text())
    targets = [assign.target for assign in tree.find_all(jinja2.nodes.Assign)]
    own = {target.name for target in targets if isinstance(target, jinja2.nodes.Name)}
    return jinja2.meta.find_undeclared_variables(tree) - own


def bound(path: Path) -> set[str]:
    """The names of values that are bound, written ``:name``."""
    body = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("--"))
    return set(re.findall(r"(?<![:\w]):([a-z_]\w*)", re.sub(r"\{[%{#].*?[%}#]\}|'[^']*'", "", body, flags=re.DOTALL)))


def test_header():
    def wrong(path: Path) -> bool:
        fields = header(path)
        name = path.relative_to(SQL).with_suffix("").as_posix().partition("/")[2]
        return tuple(fields)[: len(FIELDS)] != FIELDS or fields["name"] != name

    assert [label(path) for path in TEMPLATES if wrong(path)] == []


def test_header_lists_what_rendering_needs():
    """It may list the bound values too."""
    missing = {label(path): variables(path) - parameters(path) for path in TEMPLATES}
    assert {name: some for name, some in missing.items() if some} == {}


def test_header_lists_nothing_else():
    """A parameter may be there for one engine's own text alone."""
    unused = {}
    for path in sorted((SQL / "core").rglob("*.sql")):
        name = path.relative_to(SQL / "core")
        texts = [folder / name for folder in SQL.iterdir() if (folder / name).exists()]
        unused[label(path)] = parameters(path).difference(*(variables(text) | bound(text) for text in texts))
    assert {name: some for name, some in unused.items() if some} == {}


def test_override_repeats_the_header():
    different = []
    for path in TEMPLATES:
        core = SQL / "core" / Path(*path.relative_to(SQL).parts[1:])
        if core.exists() and any(header(path)[field] != header(core)[field] for field in FIELDS):
            different.append(label(path))
    assert different == []


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_sets_are_counted_on_every_engine(dialect):
    """Without labels sets are arrays; samples of `render` have every part, and so labels."""
    matched, released = (TableRef(None, None, name) for name in ("matched", "released"))
    values = {"alias": "q1", "value": "v", "null": "n", "claims": None}
    made = statement("verify/least_set", dialect, matched=matched, released=released, **values)
    assert "COUNT(DISTINCT" in made.text
