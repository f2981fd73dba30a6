"""Requirements of values beyond l.

Every method that takes them is compared with their definitions, on both engines, in every execution.
"""

from __future__ import annotations

import math
import random
import uuid
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import METHODS
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import release
from sqlanon.release.divide import merge_failing_groups
from tests.contract.value_models import (
    BEYOND,
    COLUMNS,
    MODELS,
    ORACLES,
    OTHERS,
    WAYS,
    Model,
    asked_for,
    failing,
    released,
)
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.safety.bad import tampering


def test_every_requirement_has_a_definition_here() -> None:
    assert set(BEYOND) == ORACLES


@pytest.mark.cover("model engine", "way engine")
@pytest.mark.parametrize("way", WAYS, ids=":".join)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_classes_meet_it_and_both_executions_agree(
    shared_db: Any, table: str, model: Model, way: tuple[str, str], tmp_path: Path
) -> None:
    method, execution = way
    asked = asked_for(model, tmp_path)
    found = shared_db.anonymize(table, method=method, execution=execution, **asked)
    rows = released(shared_db, table)
    assert failing(rows, model) == (found.report.classes, 0)
    (one,) = (item for item in found.report.requirements if item.name == model.name)
    assert (one.column, one.satisfied) == ("s", True)
    audit = shared_db.audit(f"release.{table}", spec=found.spec)
    assert [item for item in audit.requirements if item.name == model.name] == [one]
    if execution == "pushdown":
        other = shared_db.anonymize(table, method=method, execution="kernel", **asked)
        assert sorted(map(str, released(shared_db, table))) == sorted(map(str, rows))
        assert other.report.requirements == found.report.requirements


@pytest.mark.parametrize("execution", ["kernel", "pushdown"])
def test_a_node_that_fails_rules_out_no_finer_one_where_unions_may_fail(
    shared_db: Any, execution: str, tmp_path: Path
) -> None:
    """A has no v, B just enough, A and B together too few.

    The best node hides y alone, and a coarser one is looked at before it.
    """
    shares = {"A": "uuuu", "B": "uuuv", "C": "uuvv", "D": "uuvv"}
    rows = tuple((x, f"y{n}", s) for x, own in shares.items() for n, s in enumerate(own, ord(x) * 4))
    table = f"t_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, table, {"x": "TEXT", "y": "TEXT", "s": "TEXT"}, rows)
    file = tmp_path / "x.csv"
    file.write_text("A;ab;*\nB;ab;*\nC;cd;*\nD;cd;*", encoding="utf-8")
    asked = {
        "quasi": ["x", "y"],
        "sensitive": "s",
        "k": 2,
        "hierarchies": {"x": file},
        "weights": {"x": 3},
        "delta_disclosure": "1 ignored",
        "publish": f"release.{table}",
    }
    found = shared_db.anonymize(table, method={"name": "fulldomain", "search": "global"}, execution=execution, **asked)
    assert found.report.classes == 4
    assert found.report.loss.lm == pytest.approx(1 / 4)
    with pytest.raises(PolicyError, match="above one that meets delta_disclosure others may not; say search=global"):
        shared_db.anonymize(table, method={"name": "fulldomain", "search": "all"}, **asked)


@pytest.mark.cover("method")
@pytest.mark.parametrize("method", OTHERS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_methods_that_take_all_requirements_meet_it(
    shared_db: Any, table: str, model: Model, method: str, tmp_path: Path
) -> None:
    asked = asked_for(model, tmp_path)
    if METHODS[method].unites and "ignored" in str(model.asked):
        with pytest.raises(PolicyError, match="may not meet what each of them meets; use tree"):
            shared_db.anonymize(table, method=method, **asked)
        return
    found = shared_db.anonymize(table, method=method, **asked)
    assert failing(released(shared_db, table), model) == (found.report.classes, 0)


@pytest.mark.parametrize("method", ["topdown", "hilbert_fast", "idistance_fast", "anatomy", "suppress"])
@pytest.mark.parametrize("name", BEYOND)
def test_other_methods_name_one_that_takes_it(method: str, name: str) -> None:
    asked = next(one.asked for one in MODELS if one.name == name)
    with pytest.raises(PolicyError, match=r"use (\w+, )*(tree|hilbert|mondrian)|leave it out|idistance|hilbert"):
        release(source="t", quasi="q", sensitive="s", k=2, method=method, **{name: asked})


@pytest.mark.cover("model")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_verify_refuses_classes_that_do_not_meet_it(
    shared_db: Any, table: str, model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    declare(monkeypatch, "careless", tampering(), "mondrian")
    monkeypatch.setattr(merge_failing_groups, "not_monotone", lambda _: [])  # what unites groups that fail
    with pytest.raises(PrivacyViolation, match=rf"{model.name} of s: asked .*; [0-9]+ classes fail"):
        shared_db.anonymize(table, **{**asked_for(model, tmp_path), "k": 1, "method": "careless"})
    assert not shared_db.engine.exists(shared_db.engine.target(f"release.{table}"))


@pytest.mark.parametrize(
    ("key", "asked", "best"),
    [
        ("entropy_l", 5, "largest feasible value is 4."),
        ("recursive_cl", {"c": "1/2", "l": 4}, "largest feasible value is [1-3]|no value is feasible"),
        ("alpha", "0.1", "least feasible value is 0.[2-4]"),
    ],
)
def test_what_no_release_reaches_is_refused_with_what_one_does(
    shared_db: Any, table: str, key: str, asked: Any, best: str
) -> None:
    with pytest.raises(InfeasibleError, match=best) as refused:
        shared_db.anonymize(table, quasi=["q", "w"], sensitive="s", rest="drop", k=2, **{key: asked})
    value = str(refused.value).rpartition(" ")[2]
    if key == "recursive_cl" and value != "feasible":
        asked = {"c": "1/2", "l": int(value)}
    elif key != "recursive_cl":
        asked = value
    else:
        return
    found = shared_db.anonymize(table, quasi=["q", "w"], sensitive="s", rest="drop", k=2, **{key: asked})
    assert found.report.classes >= 1


def test_a_single_class_reaches_what_compares_with_the_table(shared_db: Any, table: str) -> None:
    """t of 0 is never infeasible."""
    asked = {"t": 0, "beta": {"basic": "1/1000"}, "delta_disclosure": "1/1000"}
    found = shared_db.anonymize(table, quasi=["q", "w"], sensitive="s", rest="drop", k=2, method="hilbert", **asked)
    assert found.report.classes == 1
    assert {one.reached for one in found.report.requirements if one.name in asked} == {0}


@pytest.mark.cover("model", "method")
@pytest.mark.parametrize("method", ["tree", "hilbert", "mondrian"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_long_runs_meet_it(shared_db: Any, model: Model, method: str, tmp_path: Path) -> None:
    """A value of one row in a hundred.

    What compares classes with the table needs longer ones than the search tries at first.
    """
    rng = random.Random(9)
    values = [1] * 320 + [2] * 350 + [3] * 320 + [4] * 10
    rng.shuffle(values)
    rows = [(rng.randrange(40), rng.choice("pq"), value, "x") for value in values]
    name = f"models_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, COLUMNS, rows)
    found = shared_db.anonymize(name, method=method, **asked_for(model, tmp_path))
    classes, fails = failing(released(shared_db, name), model)
    assert fails == 0
    assert classes == found.report.classes > 1


@pytest.mark.cover
@pytest.mark.parametrize("method", ["tree", "hilbert", "mondrian"])
def test_groups_of_equal_boxes_that_fail_together_are_united(shared_db: Any, method: str) -> None:
    """Few different rows.

    Classes of the same box each meet delta-disclosure that ignores absent values, and not what readers see as one.
    """
    merge_failing_groups = 0
    for seed in range(6):
        drawn = random.Random(seed)
        rows = [(i, drawn.randrange(6), drawn.choice("aab" if i % 3 else "abcd")) for i in range(90)]
        name = f"few_{uuid.uuid4().hex[:10]}"
        create_table(shared_db, name, {"mark": "INTEGER", "q": "INTEGER", "s": "TEXT"}, rows)
        asked = {"max": "1", "absent": "ignored"}
        made = shared_db.anonymize(
            name,
            quasi="q",
            sensitive="s",
            insensitive="mark",
            accept_unique="mark",
            k=3,
            delta_disclosure=asked,
            method=method,
        )
        value = {row[0]: row[2] for row in rows}
        groups: dict[Any, list[str]] = defaultdict(list)
        for row in read_table(shared_db, ("release", name)):
            groups[row["q_lo"], row["q_hi"]].append(value[row["mark"]])
        share = {one: count / 90 for one, count in Counter(value.values()).items()}
        assert sum(map(len, groups.values())) == 90
        for members in groups.values():
            for one, count in Counter(members).items():
                assert abs(math.log2(count / len(members) / share[one])) < 1
        merge_failing_groups += any("united with others" in note for note in made.report.notes)
    assert merge_failing_groups or method == "mondrian"


@pytest.mark.cover
@pytest.mark.parametrize("form", ["ranges", "points"])
def test_which_groups_are_united_does_not_depend_on_their_numbers(
    shared_db: Any, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine numbers the groups of a run as it likes, and Spark by a hash; what is published is the same."""
    drawn = random.Random(2)
    rows = [(drawn.randrange(6), drawn.choice("aBé"), drawn.choice("aab" if i % 3 else "abcd")) for i in range(120)]
    name, unite = f"few_{uuid.uuid4().hex[:10]}", merge_failing_groups._unite_failing
    create_table(shared_db, name, {"q": "INTEGER", "t": "TEXT", "s": "TEXT"}, rows)
    united = 0

    def publish() -> Counter[Any]:
        nonlocal united
        asked = {"max": "1", "absent": "ignored"}
        made = shared_db.anonymize(
            name, quasi=["q", "t"], sensitive="s", k=3, delta_disclosure=asked, method="tree", format=form, seed=1
        )
        united += any("united with others" in note for note in made.report.notes)
        return Counter(tuple(map(str, row.values())) for row in read_table(shared_db, ("release", name)))

    def unite_renumbered(scratch: Any, classed: Any, recoded: Any, *more: Any) -> Any:
        group, groups = recoded.groups.group, recoded.groups.table
        turn = f"{group} = 7 * (1000 - {group}) % 1009"
        scratch.engine.execute(f"UPDATE {groups} SET {turn}")
        return unite(scratch, classed, recoded, *more)

    found = publish()
    monkeypatch.setattr(merge_failing_groups, "_unite_failing", unite_renumbered)
    assert publish() == found
    assert united == 2
