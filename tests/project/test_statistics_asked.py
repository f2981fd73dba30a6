"""Releases of statistics have no rows: few files ask whether a release is one, and each says why.

Differences between kinds are tables of functions by kind, and every table has every kind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sqlanon.evaluate.run import EVALUATIONS
from sqlanon.release.audit.audit import AUDITS
from sqlanon.release.versions.choose_version import RULES
from sqlanon.release_kind import KINDS as KINDS_OF_RELEASES
from sqlanon.release_kind import ReleaseKind
from sqlanon.report.owner import REPORTS
from tests.project.test_code import OUTSIDE, conditions, last_name
from tests.project.tree import MODULES, PACKAGE, label, nodes

KINDS = {"noisy", "statistics"}
OWNERS = {"current", "entry", "neighbour", "one", "release", "sibling", "spec"}
ASKING = {
    "sqlanon/attack/counts.py": "releases of counts have attacks of their own",
    "sqlanon/database/hierarchy_tables.py": "hierarchies of a budget's persons must not be made of their data",
    "sqlanon/release/audit/of_counts.py": "whose threshold is meant",
    "sqlanon/release/catalog/other_counts.py": "which releases are counts of one source",
    "sqlanon/release/catalog/redacted_policy.py": "what the catalog keeps of a policy",
    "sqlanon/release/prepare/release_warnings.py": "releases of rows warn of those of counts",
}
"""The files that ask, and what they decide by it; a new kind of releases must be looked for in all of them."""


def is_asked(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in KINDS and last_name(node.value) in OWNERS


def is_kind(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "kind" and last_name(node.value) in OWNERS


def questions(path: Path) -> Iterator[int]:
    """The lines where a file asks whether a release is of statistics."""
    asserted = {inner for node in nodes(path) if isinstance(node, ast.Assert) for inner in ast.walk(node)}
    for node in (node for node in nodes(path) if node not in asserted):
        compared = node if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot) else None
        if compared and (is_asked(compared.left) or is_kind(compared.left)):
            yield node.lineno
        yield from (test.lineno for test in conditions(node) if is_asked(test))


@pytest.mark.parametrize(
    "code",
    ["if spec.noisy is not None: pass", "x = entry.view and not entry.statistics", "x = entry.kind is NOISY"],
)
def test_a_question_is_noticed(code: str, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(code)
    assert set(questions(path)) == {1}


def test_few_files_ask_for_statistics() -> None:
    inside = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in OUTSIDE]
    assert {label(path) for path in inside if any(questions(path))} == set(ASKING)


@pytest.mark.parametrize("table", [AUDITS, EVALUATIONS, REPORTS, RULES], ids=["audit", "evaluate", "report", "run"])
def test_a_table_by_kind_has_every_kind(table: Mapping[ReleaseKind, object]) -> None:
    assert tuple(table) == KINDS_OF_RELEASES
