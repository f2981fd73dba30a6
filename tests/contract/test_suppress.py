"""Whole releases by method suppress: TP+, the optimum, the cap on rows without a value, what is refused."""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.declared import list_refusals
from sqlanon.declared.request import Request
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.shared import bare_rows
from sqlanon.methods.suppress.declaration import SUPPRESS
from sqlanon.policy import release as spec_of
from tests.contract.cases import QI, Case
from tests.declared import limited
from tests.engines import create_table, read_table
from tests.oracle.requirements import Privacy
from tests.oracle.suppress import suppressing
from tests.properties.suppressed import stars

COLUMNS = {"a": "INTEGER", "b": "INTEGER", "c": "TEXT", "s": "TEXT"}


def rows_of(n: int, values: str, seed: int = 3) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [(rng.randint(0, 3), rng.randint(0, 2), rng.choice("xyz"), rng.choice(values)) for _ in range(n)]


def case_of(rows: list[tuple[Any, ...]], l: Fraction, k: int = 1) -> Case:  # noqa: E741 - the papers' symbol
    quasi = {"a": QI(), "b": QI(), "c": QI("nominal")}
    return Case("suppress", dict(COLUMNS), tuple(rows), quasi, ("s",), Privacy(k, l))


def release(db: Any, rows: list[tuple[Any, ...]], **options: Any) -> tuple[list[dict[str, Any]], Any]:
    name = f"t_{uuid.uuid4().hex[:10]}"
    create_table(db, name, COLUMNS, rows)
    asked = {"quasi": ["a", "b", "c"], "sensitive": "s", "k": 1, "l": 2, "format": "suppressed", "method": "suppress"}
    report = db.anonymize(name, seed=1, **{**asked, **options}).report
    return read_table(db, ("release", name)), report


def hidden(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Stars, and rows with one: no value of the source is NULL."""
    cells = [sum(row[name] is None for name in "abc") for row in rows]
    return sum(cells), sum(one > 0 for one in cells)


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
@pytest.mark.parametrize("k", [1, 3])
def test_what_every_row_meets_counts_no_values(shared_db: Any, execution: str, k: int) -> None:
    """distinct_l 1 beside k: groups of k rows stay as they are, and with k alone cells have no values."""
    rows = rows_of(60, "ab")
    found, report = release(
        shared_db, rows, k=k, l=None, distinct_l=1, method="suppress:variant=tp", execution=execution
    )
    sizes = Counter(row[:3] for row in rows)
    whole = sum(size for size in sizes.values() if size >= k)
    assert report.verified
    assert len(found) == len(rows)
    assert sum(all(row[name] is not None for name in "abc") for row in found) == whole


@pytest.mark.cover
@pytest.mark.parametrize("l", [Fraction(3), Fraction(5, 2)])
@pytest.mark.parametrize("rest", ["hilbert", "tree", "mondrian"])
def test_another_method_divides_what_tp_leaves(shared_db: Any, rest: str, l: Fraction) -> None:  # noqa: E741
    """TP+ never has more stars than TP, keeps TP's groups, and stars the same rows at most."""
    rows = rows_of(120, "aabbccdd")
    case = case_of(rows, l, k=3)
    classes, left, phase = suppressing(case.table, case.privacy, {}).run(cascade=False)
    assert left
    tp = sum(stars([case.table.codes[row] for row in one]) for one in [*classes, left])
    found, report = release(shared_db, rows, l=l, k=3, method=f"suppress:variant=tp,rest={rest}")
    assert report.verified
    assert report.method == f"suppress:variant=tp,rest={rest}"
    assert Counter(row["s"] for row in found) == Counter(row[3] for row in rows)
    assert hidden(found)[0] <= tp
    assert hidden(found)[1] <= len(left)
    assert report.search == {"phase": phase}  # with k the bound is none


def test_reports_state_the_phase_the_bound_and_the_starred_rows(shared_db: Any) -> None:
    rows = rows_of(60, "aab")
    rows += [(0, 0, "x", "b")] * (2 * sum(row[3] == "a" for row in rows) - len(rows))
    case = case_of(rows, Fraction(2))
    _, left, phase = suppressing(case.table, case.privacy, {}).run(cascade=False)
    found, report = release(shared_db, rows, method="suppress:variant=tp")
    assert hidden(found)[1] <= len(left)
    assert (report.loss.stars, report.loss.starred_rows) == hidden(found)
    assert report.search["phase"] == phase
    least = report.search["least_starred_rows"]
    assert least <= hidden(found)[1] <= least + 1  # l - 1 after phase two
    kept = shared_db.version(report.release).report
    assert kept["search"] == report.search


def test_the_optimum_of_two_values(shared_db: Any) -> None:
    """No method has fewer stars, and the report has their number."""
    rows = [(*row[:3], "ab"[i % 2]) for i, row in enumerate(rows_of(40, "a"))]
    best, report = release(shared_db, rows, method="suppress:solver=optimal")
    assert report.verified
    assert report.search == {"least_stars": hidden(best)[0]}
    for other in ("suppress", "suppress:variant=tp,rest=mondrian", "hilbert"):
        found, _ = release(shared_db, rows, method=other)
        assert hidden(best)[0] <= hidden(found)[0]


def test_a_cap_on_rows_that_lose_every_value(shared_db: Any) -> None:
    rows = [*rows_of(60, "abc"), (9, 9, "q", "a"), (8, 8, "r", "b")]
    found, report = release(shared_db, rows)
    lost = sum(all(row[name] is None for name in "abc") for row in found)
    assert lost >= 2
    assert report.suppressed == 0
    again, capped = release(shared_db, rows, suppression={"limit": f"{lost}/{len(rows)}"})
    assert capped.suppressed == lost
    assert hidden(again) == hidden(found)
    with pytest.raises(InfeasibleError, match=f"{lost} of {len(rows)} rows"):
        release(shared_db, rows, suppression={"limit": f"{lost - 1}/{len(rows)}"})


def test_refine_is_refused_with_the_policy() -> None:
    """It moved rows out of classes that agree, and past the cap."""
    with pytest.raises(PolicyError, match="method: suppress: refine lowers the loss of boxes, and adds stars"):
        spec_of(source="t", quasi=["a", "b"], k=2, format="suppressed", method="suppress", refine=True)
    assert spec_of(source="t", quasi=["a", "b"], k=2, format="suppressed", method="tree", refine=True).refine


def test_the_cap_does_not_ask_for_columns_of_one_value(shared_db: Any) -> None:
    """Rows that lose every other value are counted, though all agree in this one. The cap is on the cascade's class."""
    cascade = "suppress:variant=cascade"
    rows = [(a, b, "x", s) for a, b, _, s in [*rows_of(60, "abc"), (9, 9, "q", "a"), (8, 8, "r", "b")]]
    found, _ = release(shared_db, rows, method=cascade)
    lost = sum(row["a"] is None and row["b"] is None for row in found)
    assert lost >= 2
    again, capped = release(shared_db, rows, suppression={"limit": f"{lost}/{len(rows)}"})
    assert capped.suppressed == lost
    assert sum(row["a"] is None and row["b"] is None for row in again) == lost
    with pytest.raises(InfeasibleError, match=f"{lost} of {len(rows)} rows"):
        release(shared_db, rows, suppression={"limit": f"{lost - 1}/{len(rows)}"})


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 2)])
@pytest.mark.parametrize("options", [{"variant": "tp", "rest": "tree"}, {"solver": "optimal"}])
def test_the_cap_is_on_one_class(limit: Fraction, options: dict[str, str]) -> None:
    """Refused before a database is read, a limit of 0 as well."""
    asked = Request("suppress", SUPPRESS.values(options), l=Fraction(2), sensitive=1)
    assert not list_refusals(SUPPRESS, asked)
    (refused,) = list_refusals(SUPPRESS, replace(asked, suppression=limit))
    assert re.search(r"(rest=tree|solver=optimal) makes .* leave one out", str(refused))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "suppress:rest=tree"}, "variant=tp"),
        ({"method": "suppress:solver=optimal", "l": 3}, "l = 2"),
        ({"method": "suppress:solver=optimal", "k": 3}, "classes of two rows"),
        ({"method": "suppress:solver=optimal,divide=whole"}, "leave divide and rest out"),
        ({"method": "suppress:solver=optimal", "execution": "pushdown"}, "no pushdown"),
        ({"method": "suppress:solver=optimal"}, "two sensitive values, and s has 3"),
        ({"l": None, "max_loss": 0.5, "maximize": "k", "k": None, "at_least": {"k": 2}}, "does not maximize"),
        ({"format": "anatomy", "k": None}, "cannot be published in the format anatomy"),
        ({"l": 4}, "l"),
    ],
)
def test_what_is_refused_says_what_to_do(shared_db: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((PolicyError, InfeasibleError), match=said):
        release(shared_db, rows_of(30, "abc"), **options)


def test_too_many_columns_for_the_cascade(shared_db: Any) -> None:
    name = f"t_{uuid.uuid4().hex[:10]}"
    columns = {f"q{i}": "INTEGER" for i in range(13)}
    create_table(shared_db, name, columns, [(i % 2,) * 13 for i in range(8)])
    with pytest.raises(PolicyError, match=r"12 quasi columns.*variant=tp"):
        shared_db.anonymize(name, quasi=list(columns), k=2, method="suppress")
    assert shared_db.anonymize(name, quasi=list(columns), k=2, method="suppress:variant=tp").report.verified


def test_too_many_rows_for_the_matching(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, "suppress", 29)
    rows = [(*row[:3], "ab"[i % 2]) for i, row in enumerate(rows_of(30, "a"))]
    with pytest.raises(PolicyError, match=r"at most 29 rows.*has 30; use solver=auto"):
        release(shared_db, rows, method="suppress:solver=optimal")
    limited(monkeypatch, "suppress", 30)
    assert release(shared_db, rows, method="suppress:solver=optimal")[1].verified


@pytest.mark.parametrize("rest", ["hilbert", "mondrian"])
def test_a_rest_is_read_in_blocks(shared_db: Any, rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row ids are some of the table's, and not the first ones."""
    rows = rows_of(120, "aabbccdd")
    whole, _ = release(shared_db, rows, l=3, k=3, method=f"suppress:variant=tp,rest={rest}")
    monkeypatch.setattr(bare_rows, "BLOCK", 20)
    found, report = release(shared_db, rows, l=3, k=3, method=f"suppress:variant=tp,rest={rest}")
    assert report.verified
    assert Counter(map(repr, found)) == Counter(map(repr, whole))
