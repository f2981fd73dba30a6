"""Boxes of their own to an analyst and on the screen.

Bounds are tight against all consistent sources, and texts speak of candidates.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.cli.screen import Screen
from sqlanon.cli.show.catalog import diff_report, release_rows, version_report
from sqlanon.cli.show.plan import plan_report
from sqlanon.cli.show.run import run_report
from tests.contract.cases import QI, Case
from tests.contract.own_boxes import OWN, placed
from tests.contract.test_query import QUERIES, make
from tests.engines import read_table
from tests.oracle.candidates import graphs, sources
from tests.oracle.requirements import Privacy

POINTS = (0, 2, 3, 3, 7)
LINE = Case(
    "line",
    {"x": "INTEGER", "c": "INTEGER", "s": "TEXT"},
    tuple((x, i, "ab"[i % 2]) for i, x in enumerate(POINTS)),
    {"x": QI()},
    ("s",),
    Privacy(k=2),
)
CONDITIONS = {
    "x < 3": lambda x, _: x < 3,
    "x >= 3 AND x <= 5": lambda x, _: 3 <= x <= 5,
    "x <> 3 OR s = 'a'": lambda x, row: x != 3 or row["s"] == "a",
    "NOT x BETWEEN 1 AND 6": lambda x, _: not 1 <= x <= 6,
    "c > 1": lambda _, row: row["c"] > 1,
}
AGGREGATES = {"n": "COUNT(*)", "s": "SUM(x)", "low": "MIN(x)", "high": "MAX(x)", "c": "SUM(c)"}


def taken(rows: list[dict[str, Any]], xs: tuple[int, ...], condition: str) -> dict[str, int | None]:
    """The aggregates of one source."""
    passing = [(x, row) for x, row in zip(xs, rows, strict=True) if CONDITIONS[condition](x, row)]
    own = [x for x, _ in passing]
    return {
        "n": len(own),
        "s": sum(own) if own else None,
        "low": min(own, default=None),
        "high": max(own, default=None),
        "c": sum(row["c"] for _, row in passing) if own else None,
    }


def test_tight_bounds_are_reached_by_sources(shared_db: Any, tmp_path: Path) -> None:
    """Bounds that are called tight are those of all sources that have a graph of candidates, the others hold them."""
    source = LINE.create(shared_db)
    arguments = {**LINE.arguments(tmp_path), **OWN, "sensitive": ["s"], "insensitive": ["c"], "accept_unique": ["c"]}
    view = shared_db.anonymize(source, **arguments).report.published
    rows = read_table(shared_db, ("release", source))
    boxes = [((row["x_lo"], row["x_hi"]),) for row in rows]
    assert len(set(boxes)) > 2
    consistent = [tuple(x for (x,) in points) for points in sources(boxes, graphs(len(rows), LINE.privacy.k))]
    reached = 0
    for condition in CONDITIONS:
        found = [taken(rows, xs, condition) for xs in consistent]
        asked = ", ".join(f"{text} AS {name}" for name, text in AGGREGATES.items())
        (answer,) = shared_db.query(f"SELECT {asked} FROM {view} WHERE {condition}").rows
        for name in AGGREGATES:
            values = [value for one in found if (value := one[name]) is not None]
            cell = answer[name]
            if not values:
                assert cell.undefined_possible
                continue
            assert cell.low <= min(values)
            assert cell.high >= max(values)
            assert not cell.tight or (cell.low, cell.high) == (min(values), max(values)), (condition, name)
            reached += (cell.low, cell.high) == (min(values), max(values))
    assert reached >= 5


def test_words_on_the_screen_are_of_candidates(
    shared_db: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """run, plan, list, list NAME@VERSION and diff speak of boxes and candidates, not of classes."""
    release = shared_db.anonymize(
        LINE.create(shared_db),
        **{**LINE.arguments(tmp_path), **OWN, "sensitive": ["s"], "insensitive": ["c"], "accept_unique": ["c"]},
    )
    name, screen = release.report.release, Screen()
    version = shared_db.version(f"{name}@1")

    def shown(show: Any) -> str:
        show()
        return " ".join(capsys.readouterr().out.split())

    texts = {
        "run": shown(lambda: run_report(screen, release.report, [])),
        "list": shown(lambda: release_rows(screen, shared_db.releases(name))),
        "version": shown(lambda: version_report(screen, version)),
        "plan": shown(lambda: plan_report(screen, shared_db.plan(release.spec), sql=False, run="")),
        "diff": shown(lambda: diff_report(screen, shared_db.diff(f"{name}@1", f"{name}@1"))),
    }
    for what, text in texts.items():
        assert "candidates" in text, what
        assert "class" not in text.replace("there are no classes", ""), what


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.thorough)], ids=["some", "all"])
@pytest.mark.parametrize("form", ["ranges", pytest.param("labels", marks=pytest.mark.thorough)])
def test_bounds_of_queries_hold_the_truth(shared_db: Any, form: str, step: int) -> None:
    """Every box is sound for its own row."""
    asked = {"method": "freeform", "boxes": "own", "format": form}
    name = make(shared_db, **asked)
    for query in QUERIES[step // 2 :: step]:
        if "LIMIT" in query:
            continue
        answer = shared_db.query(query.format(t=name))
        keys = [column for column in answer.columns if column not in answer.aggregates]
        for row in shared_db.engine.fetch(query.format(t=placed(shared_db.engine.target(name))), max_rows=1000):
            values = dict(zip(answer.columns, row, strict=True))
            (mine,) = [found for found in answer.rows if all(found[key] == values[key] for key in keys)]
            for column in answer.aggregates:
                cell, truth = mine[column], values[column]
                if truth is None:
                    assert cell.undefined_possible
                elif isinstance(truth, int | float) or hasattr(truth, "as_tuple"):
                    assert float(cell.low) - 1e-9 <= float(truth) <= float(cell.high) + 1e-9, (query, column)
                else:
                    assert cell.low <= truth <= cell.high
