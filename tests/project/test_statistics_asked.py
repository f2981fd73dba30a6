"""Releases of statistics have no rows: few files ask whether a release is one, and each says why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.test_code import OUTSIDE, conditions, last_name
from tests.project.tree import MODULES, PACKAGE, label, nodes

KINDS = {"noisy", "statistics"}
OWNERS = {"current", "entry", "neighbour", "one", "release", "sibling", "spec"}
ASKING = {
    "sqlanon/attack/composition.py": "releases of rows of the same source are looked for",
    "sqlanon/attack/counts.py": "releases of counts have attacks of their own",
    "sqlanon/database/hierarchy_tables.py": "hierarchies of a budget's persons must not be made of their data",
    "sqlanon/database/lineage.py": "columns of statistics are those of no source",
    "sqlanon/dbt/describe.py": "releases of rows are listed",
    "sqlanon/evaluate/noisy.py": "releases of rows of the same source are looked for",
    "sqlanon/evaluate/run.py": "what is compared with the source",
    "sqlanon/release/audit/audit.py": "which audit a release has",
    "sqlanon/release/audit/of_counts.py": "whose threshold is meant",
    "sqlanon/release/budget/report.py": "releases of rows of the same persons are looked for",
    "sqlanon/release/catalog/entry.py": "what the catalog has of a version",
    "sqlanon/release/catalog/other_counts.py": "which releases are counts of one source",
    "sqlanon/release/catalog/redacted_policy.py": "what the catalog keeps of a policy",
    "sqlanon/release/plan/plan.py": "a plan of noisy statistics reads and charges nothing",
    "sqlanon/release/prepare/release_warnings.py": "releases of rows warn of those of statistics, and those of them",
    "sqlanon/release/preview.py": "statistics have no rows to show",
    "sqlanon/release/publish/rollback.py": "what is compared before an earlier version is shown",
    "sqlanon/release/rehearse.py": "statistics have no rows to try",
    "sqlanon/release/versions/choose_version.py": "which kind of versions there is",
    "sqlanon/release/versions/clock.py": "whether versions are due by the clock",
    "sqlanon/release/versions/neighbour.py": "counts are protected together with releases of rows",
    "sqlanon/release/versions/statistics.py": "releases of rows of the same source are warned of",
    "sqlanon/report/owner.py": "which report a release has",
}
"""The files that ask, and what they decide by it; a new kind of releases must be looked for in all of them."""


def is_asked(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in KINDS and last_name(node.value) in OWNERS


def questions(path: Path) -> Iterator[int]:
    """The lines where a file asks whether a release is of statistics."""
    asserted = {inner for node in nodes(path) if isinstance(node, ast.Assert) for inner in ast.walk(node)}
    for node in (node for node in nodes(path) if node not in asserted):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot) and is_asked(node.left):
            yield node.lineno
        yield from (test.lineno for test in conditions(node) if is_asked(test))


@pytest.mark.parametrize("code", ["if spec.noisy is not None: pass", "x = entry.view and not entry.statistics"])
def test_a_question_is_noticed(code: str, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(code)
    assert set(questions(path)) == {1}


def test_few_files_ask_for_statistics() -> None:
    inside = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in OUTSIDE]
    assert {label(path) for path in inside if any(questions(path))} == set(ASKING)
