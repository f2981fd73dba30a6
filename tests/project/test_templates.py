"""Templates: each has its header, and the header is true.

The template of an engine has that of the core one, which it extends or replaces.
"""

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


def core_path(path: Path) -> Path:
    """The core template that an engine's template extends or replaces; itself where there is none."""
    core = SQL / "core" / Path(*path.relative_to(SQL).parts[1:])
    return core if core.exists() else path


def extends(path: Path) -> bool:
    """Whether a template is written as a difference from the core one."""
    name = core_path(path).relative_to(SQL).as_posix()
    return path.read_text().startswith(f'{{% extends "{name}" %}}\n')


def header(path: Path) -> dict[str, str]:
    """The fields of a template's first comment lines, in their order; a field goes on where a line is indented."""
    comment = re.match(r"(?:--.*\n)*", path.read_text())
    assert comment
    found = re.findall(r"^-- (\w+): (.*(?:\n--  +.*)*)", comment[0], flags=re.MULTILINE)
    return {field: re.sub(r"\n--\s+", " ", text) for field, text in found}


def parameters(path: Path) -> set[str]:
    """The names that a header lists, without what it says about them in parentheses."""
    listed = header(core_path(path))["params"]
    while (shorter := re.sub(r"\([^()]*\)", "", listed)) != listed:
        listed = shorter
    return {name.strip().lstrip(":") for name in listed.split(",")} - {"none", "nothing", ""}


@cache
def variables(path: Path) -> set[str]:
    """The names that rendering needs."""
    trees = [ENVIRONMENT.parse(text.read_text()) for text in ({path, core_path(path)} if extends(path) else {path})]
    made: set[str] = {"dialect", "self", "super"}
    for tree in trees:
        made |= {macro.name for macro in tree.find_all(jinja2.nodes.Macro)}
        # A block sees what is assigned around it, and with `scoped` the loop's variable.
        kinds = (jinja2.nodes.Assign, jinja2.nodes.AssignBlock)
        targets = [node.target for kind in kinds for node in tree.find_all(kind)]
        if any(tree.find_all(jinja2.nodes.Block)):
            targets += [loop.target for loop in tree.find_all(jinja2.nodes.For)]
            made.add("loop")
        made |= {
            name.name
            for target in targets
            for name in [target, *target.find_all(jinja2.nodes.Name)]
            if isinstance(name, jinja2.nodes.Name)
        }
    return set().union(*map(jinja2.meta.find_undeclared_variables, trees)) - made


def bound(path: Path) -> set[str]:
    """The names of values that are bound, written ``:name``."""
    body = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("--"))
    return set(re.findall(r"(?<![:\w]):([a-z_]\w*)", re.sub(r"\{[%{#].*?[%}#]\}|'[^']*'", "", body, flags=re.DOTALL)))


def test_header():
    def wrong(path: Path) -> bool:
        fields = header(path)
        if core_path(path) != path:  # it may repeat fields of core; one that extends core has none
            return (
                not extends(path)
                and not {("name", fields.get("name"))} <= fields.items() <= header(core_path(path)).items()
            )
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


def test_a_template_extends_that_of_its_own_name():
    """With nothing before it, not even a comment: that would be a part of the SQL."""
    extended = {path for path in TEMPLATES if "{% extends" in path.read_text()}
    assert [label(path) for path in extended if path == core_path(path) or not extends(path)] == []


def test_blocks_and_macros_are_taken_from_the_template_that_extends():
    """Core has each block, and a macro of that name only where there is none yet."""

    def names(path: Path, kind: type) -> set[str]:
        return {node.name for node in ENVIRONMENT.parse(path.read_text()).find_all(kind)}

    unused = {}
    for path in filter(extends, TEMPLATES):
        core = core_path(path)
        blocks = names(path, jinja2.nodes.Block) - names(core, jinja2.nodes.Block)
        macros = names(path, jinja2.nodes.Macro) & names(core, jinja2.nodes.Macro)
        unused[label(path)] = blocks | {
            name for name in macros if f"{{% if {name} is not defined %}}" not in core.read_text()
        }
    assert {name: some for name, some in unused.items() if some} == {}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_sets_are_counted_on_every_engine(dialect):
    """Without labels sets are arrays; samples of `render` have every part, and so labels."""
    matched, released = (TableRef(None, None, name) for name in ("matched", "released"))
    values = {"alias": "q1", "value": "v", "null": "n", "claims": None}
    made = statement("verify/least_set", dialect, matched=matched, released=released, **values)
    assert "COUNT(DISTINCT" in made.text
