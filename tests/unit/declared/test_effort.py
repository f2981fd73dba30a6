"""The method of a policy that names none: what is chosen, and how long its search may take."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon import policy
from sqlanon.declared import effort, read_refining
from sqlanon.declared.candidates import format_candidate
from sqlanon.declared.trials import CORES, Columns, allow_seconds, estimate_search
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.recorded_method import list_method_notes
from sqlanon.spec import Effort, ReleaseSpec


@pytest.fixture(autouse=True)
def default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default of users, not that of tests."""
    monkeypatch.setattr(effort, "DEFAULT", "normal")


def release(**asked: Any) -> ReleaseSpec:
    return policy.release(source="t", **({"quasi": ["age", "zip"], "k": 5} | asked))


TREE = {"prefix": [3]}


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        ({}, "tree"),
        ({"sensitive": "s", "l": 2}, "tree; mondrian"),
        ({"sensitive": "s", "t": 0.3}, "tree; mondrian"),
        ({"hierarchies": {"zip": TREE}}, "tree; fulldomain:search=local"),
        ({"hierarchies": {"zip": TREE}, "sensitive": "s", "l": 2}, "tree; fulldomain:search=local; mondrian"),
        ({"format": "suppressed", "sensitive": "s", "t": 0.3}, "tree; mondrian"),
    ],
)
def test_what_fits_the_policy_is_searched(asked: dict[str, Any], method: str) -> None:
    spec = release(**asked)
    assert spec.refine is not None
    assert (spec.method.options.get("of") or spec.method.name) == method
    assert spec.effort is not None
    assert (spec.effort.word, spec.effort.written) == ("normal", False)


@pytest.mark.parametrize(
    "asked",
    [
        {"effort": "fast"},
        {"execution": "pushdown"},
        {"maximize": "k", "k": None, "at_least": {"k": 2}, "max_loss": 0.3},
        {"format": "anatomy", "k": None, "l": 2, "sensitive": "s"},
    ],
)
def test_where_nothing_is_searched_it_is_tree_alone(asked: dict[str, Any]) -> None:
    spec = release(**asked)
    assert (spec.method.name, dict(spec.method.options), spec.refine) == ("tree", {}, None)


@pytest.mark.parametrize(
    ("asked", "method", "options"),
    [
        ({"format": "suppressed"}, "suppress", {}),
        ({"format": "suppressed", "sensitive": "s", "l": 2}, "suppress", {}),
        ({"k_map": {"k": 5, "population": "p"}}, "fulldomain", {"search": "global"}),
        ({"delta_presence": {"max": 0.5, "population": "p"}}, "fulldomain", {"search": "global"}),
    ],
)
def test_what_one_method_is_for_is_made_by_it(asked: dict[str, Any], method: str, options: dict[str, str]) -> None:
    spec = release(**asked)
    assert (spec.method.name, dict(spec.method.options), spec.refine) == (method, options, None)
    assert spec.effort is not None


LEFT_OUT = {"limit": "0.05", "rows": "left_out"}
OF_SOURCE = {"sensitive": "s", "t": 0.3, "compared_with": "source"}


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        ({}, "suppress"),
        ({"sensitive": "s", "l": 2}, "suppress"),
        ({"format": "suppressed"}, "suppress"),
        ({"sensitive": "s", "t": 0.3}, "fulldomain:search=global"),
        ({"execution": "pushdown"}, "suppress"),
        ({"hierarchies": {"zip": TREE}}, "fulldomain:search=global"),
        ({"hierarchies": {"zip": TREE}, "execution": "pushdown"}, "fulldomain:search=global"),
        ({"k_map": {"k": 5, "population": "p"}}, "fulldomain:search=global"),
        ({"suppression": LEFT_OUT}, "fulldomain:search=global"),
        ({"suppression": LEFT_OUT, "sensitive": "s", "l": 2}, "fulldomain:search=local"),
        ({"suppression": LEFT_OUT, "hierarchies": {"zip": TREE}, **OF_SOURCE}, "fulldomain:search=local"),
        ({"suppression": LEFT_OUT, **OF_SOURCE}, "fulldomain:search=local"),
    ],
)
def test_with_suppression_it_is_a_method_that_may_suppress(asked: dict[str, Any], method: str) -> None:
    spec = release(**({"suppression": {"limit": "0.05"}} | asked))
    assert format_candidate(spec.method) == method
    assert spec.refine is None
    (note,) = list_method_notes(spec)
    assert f"method {method} is chosen" in note


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"format": "points"}, r"format points hides no values.*rows: left_out"),
        ({"suppression": LEFT_OUT, "sensitive": "s", "t": 0.3}, r"say rows: starred, or privacy: {compared_with"),
        ({"format": "anatomy", "k": None, "l": 2, "sensitive": "s"}, r"fulldomain goes with ranges, labels"),
    ],
)
def test_where_nothing_may_suppress_what_would_is_named(asked: dict[str, Any], what: str) -> None:
    with pytest.raises(PolicyError, match=what):
        release(**({"suppression": {"limit": "0.05"}} | asked))


@pytest.mark.parametrize("named", [{"method": "mondrian"}, {"refine": True}, {"refine": False}])
def test_what_is_named_stays(named: dict[str, Any]) -> None:
    spec = release(**named)
    assert spec.effort is None
    assert spec.method.name == named.get("method", "tree")
    assert (spec.refine is not None) == bool(named.get("refine"))
    with pytest.raises(PolicyError, match=r"effort: effort chooses method and refine, and .* is named"):
        release(effort="high", **named)


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"effort: .*fast.*normal.*high"):
        release(effort="low")


def trials(k: int, rows: int, word: Effort) -> int:
    spec = release(k=k, effort=word)
    found = read_refining(spec, rows, Columns(7))
    assert found is not None
    assert found.search is not None
    assert estimate_search(spec, rows, Columns(7)) <= allow_seconds(word, rows)
    return found.search


@pytest.mark.parametrize("rows", [100, 5_000, 30_000])
def test_small_tables_have_the_same_trials_for_every_k(rows: int) -> None:
    assert trials(5, rows, "normal") >= trials(100, rows, "normal") >= min(trials(5, rows, "normal"), 60)


def test_seconds_are_those_that_are_promised() -> None:
    assert CORES == 2
    assert (allow_seconds("normal", 100_000), allow_seconds("normal", 1_000_000)) == (10, 30)
    assert allow_seconds("high", 100_000) == 40
    assert trials(10, 1_000_000, "normal") > 0
    assert trials(10, 1_000_001, "normal") == 0


@pytest.mark.parametrize("rows", [1_000, 7_000, 30_000, 100_000])
def test_annealing_has_more_seconds_and_keeps_to_them(rows: int) -> None:
    spec = release(k=10, sensitive="s", l=2)
    allowed = allow_seconds("normal", rows, diverse=True)
    assert 4 < allowed - allow_seconds("normal", rows) <= 9
    cores = CORES if rows > 50_000 else 1  # 5,000 classes of k rows are annealed together
    assert estimate_search(spec, rows, Columns(7)) <= allowed * CORES / cores
    compared = release(k=10, sensitive="s", t="0.3")
    assert estimate_search(compared, rows, Columns(7)) > estimate_search(spec, rows, Columns(7))


def test_high_begins_with_the_search_of_normal() -> None:
    normal, high = (
        read_refining(release(k=10, sensitive="s", t="0.3", effort=word), 30_162, Columns(7))
        for word in ("normal", "high")
    )
    assert normal is not None
    assert high is not None
    first, rest = high.list_searches()
    assert (first,) == normal.list_searches()
    assert (first.search or 0) + (rest.search or 0) == high.search
    assert rest.least_gain < first.least_gain


@pytest.mark.parametrize(
    ("asked", "rows", "columns", "seconds"),
    [
        ({"sensitive": "s", "l": 2}, 7_214, Columns(7), 15.7),
        ({"sensitive": "s", "l": 4}, 7_214, Columns(7), 18.4),
        ({"sensitive": "s", "t": "0.3"}, 7_214, Columns(7), 18.6),
        ({"sensitive": "s", "t": "0.3"}, 30_162, Columns(7), 42.7),
    ],
)
def test_the_estimate_of_annealing_is_what_was_measured(
    asked: dict[str, Any], rows: int, columns: Columns, seconds: float
) -> None:
    """Processor seconds of `benchmarks.diverse`; one core anneals."""
    estimate = estimate_search(release(k=10, **asked), rows, columns)
    assert 0.8 * seconds <= estimate <= 1.4 * seconds


@pytest.mark.parametrize(
    ("k", "rows", "nanoseconds"),
    [(2, 7_214, 56_400), (5, 7_214, 10_400), (10, 7_214, 4_000), (5, 30_162, 17_600), (10, 30_162, 5_950)],
)
def test_the_estimate_of_trials_with_hierarchies_is_what_was_measured(k: int, rows: int, nanoseconds: int) -> None:
    """Of a row and a trial on Adult with 7 hierarchies and another column."""
    spec, columns = release(k=k), Columns(1, 0, 7)
    refining = read_refining(spec, rows, columns)
    assert refining is not None
    assert refining.search
    found = estimate_search(spec, rows, columns) * CORES * 10**9 / (refining.search * rows)
    assert 0.9 * nanoseconds <= found <= 1.3 * nanoseconds
