"""Dual problems that cannot be solved or asked.

Plan and run refuse them alike, with advice, and nothing is published.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines.base import TableRef
from sqlanon.methods.onedim.kernels import optimal_diverse
from sqlanon.spec import Accuracy, PrivacySpec
from tests.contract.cases import QI, Case
from tests.contract.dual import line, numbered
from tests.engines import create_table

COLUMNS = {"age": "INTEGER", "city": "TEXT", "note": "TEXT", "s": "TEXT", "t": "TEXT"}
ROWS = [(20 + i, "ab"[i % 2], "xyz"[i % 3], "pqr"[i % 3], "pq"[i % 2]) for i in range(24)]
BASE: dict[str, Any] = {
    "quasi": ["age", "city"],
    "sensitive": "s",
    "rest": "drop",
    "maximize": "l",
    "at_least": {"l": 2},
    "max_loss": 0.5,
}
DIRECT: dict[str, Any] = {"quasi": "age", "sensitive": "s", "rest": "drop", "k": 2, "l": 2}


def method(name: str, **options: str) -> dict[str, Any]:
    return {"method": {"name": name, **options}}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "fast": (BASE | method("hilbert_fast"), "maximize l with hilbert"),
    "fast k": (BASE | {"maximize": "k", "at_least": {"k": 2}} | method("idistance_fast"), "maximize k with idistance"),
    "topdown": (BASE | method("topdown"), "maximize l with tree, hilbert or mondrian"),
    "minimize": (BASE | method("tree", minimize="max"), "leave minimize out"),
    "dual of dual": (BASE | method("hilbert", solver="dual"), "use solver=auto, optimal, ac or ipcsd"),
    "solver of k": (
        BASE | {"maximize": "k", "at_least": {"k": 2}} | method("tree", solver="ipcsd"),
        "k is maximized by solver=auto",
    ),
    "two sensitive": (BASE | {"sensitive": ["s", "t"]} | method("hilbert"), "one sensitive column, the policy has 2"),
    "two sensitive, mondrian": (BASE | {"sensitive": ["s", "t"]} | method("mondrian"), "one sensitive column"),
    "relaxed": (BASE | method("mondrian", variant="relaxed"), "with variant=strict"),
    "optimal of two": (BASE | method("hilbert", solver="optimal"), "takes one quasi column that is a line"),
    "optimal of a set": (
        BASE | {"quasi": "city"} | method("hilbert", solver="optimal"),
        "takes one quasi column that is a line",
    ),
    "nominal extent": (
        BASE | {"max_extent": {"city": 1}} | method("hilbert"),
        "city is nominal and has no extent; give it an order or a hierarchy",
    ),
    "suppressed": (BASE | {"format": "suppressed"} | method("hilbert"), "use ranges, labels or points"),
    "refine": (BASE | {"refine": True} | method("tree"), "refine lowers the loss and does not look at the bound"),
    "pushdown, mondrian": (BASE | {"execution": "pushdown"} | method("mondrian"), "no pushdown when l is maximized"),
    "direct by ipcsd": (DIRECT | method("hilbert", solver="ipcsd"), "use solver=auto"),
    "direct k": (DIRECT | {"l": None} | method("hilbert", solver="optimal", minimize="max"), "for l of one sensitive"),
    "direct, fast": (DIRECT | method("hilbert_fast", solver="dual", minimize="max"), "use hilbert"),
    "direct, larger k": (DIRECT | {"k": 3} | method("hilbert", solver="dual", minimize="max"), "k=3 is more than l"),
    "direct, gcp": (DIRECT | method("hilbert", solver="optimal"), "say minimize=sum or minimize=max"),
    "direct through dual, gcp": (DIRECT | method("hilbert", solver="dual"), "say minimize=max"),
    "direct, distinct": (
        DIRECT | {"l": None, "distinct_l": 2} | method("hilbert", solver="dual", minimize="max"),
        "for l of one sensitive column and nothing else",
    ),
}

BY_THE_DATA = {"optimal of a set", "nominal extent"}
"""What only the table shows; the others are refused as they are read, with no database at hand."""


def refused(db: Any, table: str, spec: Any, kind: type[Exception] = sqlanon.PolicyError) -> str:
    """The text of a refusal, the same from plan as from run; and nothing is there afterwards."""
    texts = []
    for attempt in (db.plan, db.run):
        with pytest.raises(kind) as caught:
            attempt(spec)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert not db.engine.exists(TableRef("release", table.strip('"')))
    return texts[0]


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - BY_THE_DATA))
def test_refused_as_it_is_read(name: str) -> None:
    arguments, text = REFUSED[name]
    with pytest.raises(sqlanon.PolicyError) as caught:
        policy.release(source="t", **arguments)
    assert text in str(caught.value)
    assert str(caught.value).startswith(("method", "format", "refine"))


@pytest.mark.cover
@pytest.mark.parametrize("name", sorted(BY_THE_DATA))
def test_refused(shared_db: Any, name: str) -> None:
    arguments, text = REFUSED[name]
    table = create_table(shared_db, f"refused {name}", COLUMNS, ROWS)
    assert text in refused(shared_db, table, policy.release(source=table, **arguments))


@pytest.mark.parametrize(
    ("accuracy", "text"),
    [
        (Accuracy("l", None, (("agee", Fraction(1)),)), "agee is not a quasi column; quasi columns are age, city"),
        (Accuracy("l", None, (("s", Fraction(1)),)), "s is not a quasi column"),
        (Accuracy("l", None, (("age", Fraction(-1)),)), "an extent is at least 0"),
        (Accuracy("l", Fraction(-1)), "per_class_ncp is at least 0"),
    ],
)
def test_refused_whoever_wrote_it(shared_db: Any, accuracy: Accuracy, text: str) -> None:
    """A spec that no policy was read for."""
    table = create_table(shared_db, f"spec {text}", COLUMNS, ROWS)
    spec = policy.release(source=table, **(BASE | method("hilbert")))
    assert text in refused(shared_db, table, replace(spec, privacy=PrivacySpec(1, Fraction(2), accuracy=accuracy)))


def test_one_step_more_than_the_optimal_solver_takes(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3, 3 and 2 rows a value: 48 boundaries, and for the dual 48 choices at each."""
    case = line(0, 8)
    given = {k: v for k, v in case.arguments(tmp_path).items() if k not in ("k", "l", "distinct_l", "joint")}
    optimal = {"name": "hilbert", "solver": "optimal"}
    given |= {"maximize": "l", "at_least": {"l": 1}, "max_loss": 0.5, "method": optimal}
    assert optimal_diverse.steps([3, 3, 2], dual=True) == 48 * 48
    source = case.create(shared_db)
    monkeypatch.setattr(optimal_diverse, "MOST_STEPS", 48 * 48)
    assert shared_db.plan(policy.release(source=source, **given)).bound is not None
    monkeypatch.setattr(optimal_diverse, "MOST_STEPS", 48 * 48 - 1)
    text = refused(shared_db, source, policy.release(source=source, **given))
    assert "8 rows with 3 sensitive values make 48 boundaries and up to 2304 steps; at most" in text
    assert "solver=auto, the heuristic, takes any" in text
    monkeypatch.setattr(optimal_diverse, "MOST_STEPS", 1 << 28)
    monkeypatch.setattr("sqlanon.methods.onedim.method.MOST_BOUNDARIES", 47)
    assert "at most 47" in refused(shared_db, source, policy.release(source=source, **given))


def test_numbers_too_large_to_print(shared_db: Any) -> None:
    rows = [(i % 50, str(i % 60)) for i in range(20_000)]
    table = create_table(shared_db, "many values", {"age": "INTEGER", "s": "TEXT"}, rows)
    given = BASE | {"quasi": "age"} | method("hilbert", solver="optimal")
    assert "make 10^151 boundaries" in refused(shared_db, table, policy.release(source=table, **given))


@pytest.mark.parametrize("values", [[1.0, None, 2.0, 3.0] * 4, [1.0, float("nan"), 2.0, float("inf")] * 4])
def test_optimal_wants_a_line_of_values(shared_db: Any, values: list[float | None], tmp_path: Path) -> None:
    case = numbered(
        Case(
            "gaps",
            {"x": "DOUBLE PRECISION", "s": "TEXT"},
            tuple((v, "ab"[i // 8]) for i, v in enumerate(values)),
            {"x": QI()},
            ("s",),
        )
    )
    given = {k: v for k, v in case.arguments(tmp_path).items() if k not in ("k", "l", "distinct_l", "joint")}
    given |= {"maximize": "l", "at_least": {"l": 1}, "max_extent": {"x": 1}}
    given |= {"method": {"name": "hilbert", "solver": "optimal"}}
    source = case.create(shared_db)
    text = refused(shared_db, source, policy.release(source=source, **given))
    assert "without NULLs" in text if None in values else "takes finite values" in text


@pytest.mark.cover("name asked")
@pytest.mark.parametrize(
    "asked", [BASE, DIRECT, BASE | {"maximize": "k", "at_least": {"k": 2}}], ids=["l", "direct", "k"]
)
@pytest.mark.parametrize("name", ["hilbert", "tree", "mondrian"])
def test_tables_beyond_the_memory(shared_db: Any, name: str, asked: dict[str, Any]) -> None:
    """What the text names is enough; Mondrian cuts by SQL what does not fit, if nothing is maximized."""
    table = create_table(shared_db, f"memory {name} {asked.get('maximize')}", COLUMNS, ROWS)
    spec = policy.release(source=table, **(asked | method(name) | {"memory": 2000}))
    if name == "mondrian" and asked is DIRECT:
        assert shared_db.plan(spec).method == "mondrian:variant=strict,cut=loss"
        return
    text = refused(shared_db, table, spec)
    assert f"method {name} needs 1 MiB of memory for 24 rows and may use 0: raise memory to 1MiB" in text
    assert text.endswith("use mondrian") == (asked is DIRECT)
    assert shared_db.plan(policy.release(source=table, **(asked | method(name) | {"memory": "1MiB"})))


def test_plan_shows_the_bound(shared_db: Any) -> None:
    table = create_table(shared_db, "planned", COLUMNS, ROWS)
    spec = policy.release(source=table, **(BASE | {"max_extent": {"age": "2.5"}} | method("hilbert")))
    assert shared_db.plan(spec).bound == "maximize l: per_class_ncp at most 0.5, age within 2.5 in every class"
    direct = policy.release(source=table, **(DIRECT | method("hilbert")))
    assert shared_db.plan(direct).bound is None
