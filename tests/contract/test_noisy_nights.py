"""Running counts by night on every engine: what one person changes in all nights, what is paid and published."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.noisy import answers as answering
from sqlanon.noisy import arrivals
from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.nights import combine, measure
from sqlanon.noisy.published_values import estimate_night
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.noisy.split import noise_of
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.budget.nights import name_kept_tables
from sqlanon.release.stages.stage import PublishStage
from sqlanon.release.versions import noisy
from sqlanon.table.scratch import Scratch
from tests.contract.noisy_releases import COLUMNS, REGIONS, Made, Rows
from tests.engines import create_table
from tests.oracle.chance_of import lower_bound
from tests.oracle.noisy import bounded, own_name

pytest.importorskip("opendp")

NIGHTS = 4
ASKED: dict[str, Any] = {"measures": "{people: persons}", "more": f"running: {{nights: {NIGHTS}}}"}
CELLS = [(region, sex) for region in REGIONS for sex in "FM"]


def nights_of(seed: object, persons: int) -> list[Rows]:
    """The rows of each night: persons come, change their groups, go, and come back."""
    draw = random.Random(str(seed))
    nights: list[Rows] = []
    for _ in range(NIGHTS):
        rows: Rows = []
        for pid in range(persons):
            for _ in range(draw.choice([0, 0, 1, 3])):
                rows.append((pid, draw.choice([*REGIONS[:3], "elsewhere", None]), draw.choice("FM"), 5, 5.0))
        nights.append(rows)
    return nights


EVERYWHERE: Rows = [(99, region, sex, 5, 5.0) for region, sex in CELLS]
ADVERSARIAL: dict[str, list[Rows]] = {
    "in every group in every night": [EVERYWHERE] * NIGHTS,
    "erased and back": [EVERYWHERE, [], EVERYWHERE, []],
    "in other groups every night": [[(99, *cell, 5, 5.0)] * 3 for cell in CELLS[:NIGHTS]],
    "late": [[], [], [], EVERYWHERE],
    "first without a declared group": [[(99, "elsewhere", "F", 5, 5.0)], EVERYWHERE, [], EVERYWHERE],
}


def measure_nights(db: Any, shape: Shape, nights: list[Rows], secret: str = "key") -> list[list[Any]]:
    """The exact measurements, by night and series."""
    seen = db.engine.target(f"seen_{uuid4().hex[:10]}")
    found = []
    for night, rows in enumerate(nights, 1):
        source = f"night_{uuid4().hex[:10]}"
        create_table(db, source, COLUMNS, rows)
        with Scratch(db.engine) as scratch:
            coded = answering.bound_rows(scratch, shape, ("pid",), db.engine.relation(source), secret)
            before = seen if night > 1 else None
            arrived = arrivals.find_arrived(scratch, shape, coded, before, night, secret)
            arrivals.verify_arrived(scratch, shape, coded, arrived, secret)
            found.append(arrivals.measure_arrivals(scratch, shape, coded, arrived))
            arrivals.keep_seen(scratch, db.engine, seen, arrived)
    return found


def check_every_person(db: Any, folder: Path, nights: list[Rows], **asked: Any) -> None:
    """Without any one person all measurements together differ by at most the norm that is charged."""
    shape = shape_of(Made(db, folder, [], **(ASKED | asked)).spec)
    assert shape.factor is not None
    whole = measure_nights(db, shape, nights)
    for person in {row[0] for rows in nights for row in rows}:
        others = measure_nights(db, shape, [[row for row in rows if row[0] != person] for rows in nights])
        for place, one in enumerate(shape.series):
            change = sum(
                sum((int(x) - int(y)) ** 2 for x, y in zip(a[place], b[place], strict=True))
                for a, b in zip(whole, others, strict=True)
            )
            assert change <= one.l2 * shape.factor.squares, (person, one)
            if person == 99 and nights[0] == EVERYWHERE:  # the norm is attained by those who come in the first night
                assert change == one.l2 * shape.factor.squares


def with_person(nights: list[Rows], more: list[Rows]) -> list[Rows]:
    return [[*rows, *own] for rows, own in zip(nights, more, strict=True)]


@pytest.mark.thorough
def test_one_person_changes_no_more_than_the_norm_of_all_nights(shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, with_person(nights_of("one", 1), ADVERSARIAL["erased and back"]))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_nobody_changes_more_than_the_norm_of_all_nights(name: str, shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, with_person(nights_of(name, 4), ADVERSARIAL[name]))
    two = "[{by: [region, sex]}, {by: [sex], totals: false}]"
    check_every_person(shared_db, tmp_path, with_person(nights_of(name, 2), ADVERSARIAL[name]), tables=two)


def first_groups(nights: list[Rows], groups: int) -> list[dict[int, set[str]]]:
    """By night the persons of each finest group who arrive in it, from the words of the documentation."""
    seen: set[str] = set()
    found = []
    for rows in nights:
        placed = [(own_name(pid), CELLS.index((r, s)), None) for pid, r, s, *_ in rows if (r, s) in CELLS]
        arrived = defaultdict(set)
        for person, cells in bounded(placed, "key", groups, 2).items():
            for cell in cells if person not in seen else ():
                arrived[cell].add(person)
        seen |= {person for person, _, _ in placed}
        found.append(dict(arrived))
    return found


def test_running_counts_are_those_of_first_rows(shared_db: Any, tmp_path: Path) -> None:
    nights = with_person(nights_of("oracle", 25), ADVERSARIAL["in other groups every night"])
    shape = shape_of(Made(shared_db, tmp_path, [], **ASKED).spec)
    assert shape.factor is not None
    measured = measure_nights(shared_db, shape, nights)
    expected = first_groups(nights, 2)
    for place, one in enumerate(shape.series):
        node = shape.tables[0].levels[one.level].node
        for night in range(NIGHTS):
            there = np.vstack([row[place] for row in measured[: night + 1]])
            for weights, since in ((shape.factor.running, 0), (shape.factor.arrived, night)):
                persons: dict[int, set[Any]] = defaultdict(set)
                for cells in expected[since : night + 1]:
                    for cell, arrived in cells.items():
                        persons[int(node[cell])] |= arrived
                counts = [len(persons[group]) for group in range(shape.tables[0].levels[one.level].size)]
                assert combine(weights, there) == pytest.approx(counts, abs=1e-6)


def next_night(made: Made, rows: Rows, **asked: Any) -> Any:
    made.db.engine.execute(f"DELETE FROM {made.source}")
    for row in rows:
        values = ", ".join("NULL" if one is None else repr(one) for one in row)
        made.db.engine.execute(f"INSERT INTO {made.source} VALUES ({values})")
    return made.run(**asked)


def make_due(made: Made) -> None:
    long_ago = "UPDATE _sqlanon.catalog SET checked_at = '2020-01-01T00:00:00+00:00' WHERE release = '{}'"
    made.db.engine.execute(long_ago.format(made.name))


@pytest.mark.thorough
@pytest.mark.every_engine
def test_every_night_is_published_and_all_are_paid_once(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy, "add_noise", lambda exact, *_: exact)
    tonight: list[Rows] = [
        [(pid, "north", "FM"[pid % 2], 5, 5.0) for pid in range(6)],
        [(pid, "south", "F", 5, 5.0) for pid in range(4, 9)],
    ]
    asked = ASKED | {"contributions": "{groups: 1, rows: 1}"}
    made = Made(shared_db, tmp_path, tonight[0], **asked)
    first = made.run()
    assert (first.noisy.night, first.noisy.nights, first.noisy.spent) == (1, NIGHTS, pytest.approx(1, rel=1e-3))
    assert next_night(made, tonight[1]).outcome == "fresh"
    second = made.run(spend=True)
    assert (second.noisy.night, second.noisy.spent) == (2, first.noisy.spent)
    counts = {
        (row["night"], row["region"], row["sex"]): (round(row["people"]), round(row["people_new"]))
        for row in made.rows()
        if row["level"] != 1 and (row["region"] != "empty" and row["region"] != "it's")
    }
    assert counts == {
        (1, None, None): (6, 6),
        (1, "north", "F"): (3, 3),
        (1, "north", "M"): (3, 3),
        (1, "south", "F"): (0, 0),
        (1, "south", "M"): (0, 0),
        (2, None, None): (9, 3),
        (2, "north", "F"): (3, 0),
        (2, "north", "M"): (3, 0),
        (2, "south", "F"): (3, 3),
        (2, "south", "M"): (0, 0),
    }
    answer = shared_db.query(f"SELECT sex, sum(people) AS people FROM release.{made.view} GROUP BY sex").to_dict()
    assert {row["sex"]: round(row["people"]["estimate"]) for row in answer["rows"]} == {"F": 6, "M": 3}
    assert shared_db.audit(f"release.{made.view}", spec=made.spec).satisfied
    assert "all 4 nights together cost epsilon 1, and this is night 3" in shared_db.plan(made.spec).notes[0]


@pytest.mark.thorough
def test_a_night_that_was_lost_is_charged_once_more_and_one_that_was_drawn_is_taken_up(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, [(1, "north", "F", 5, 5.0)], **ASKED)
    made.run()
    with monkeypatch.context() as patched:
        patched.setattr(noisy, "add_noise", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next_night(made, [(2, "north", "F", 5, 5.0)], spend=True)
    make_due(made)
    with pytest.raises(GuardError, match="charged and never published"):
        made.run()
    with monkeypatch.context() as patched:
        patched.setattr(PublishStage, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            made.run(spend=True)
    events = Ledger(shared_db.engine).read()[made.budget]
    charges = [event for event in events if event.kind == "reserved"]
    assert [(one.night, len(one.mechanisms)) for one in charges] == [(1, 1), (2, 0), (2, 1)]
    shape, noise = shape_of(made.spec), noise_of(shape_of(made.spec))
    again = [one.l2 * 4096**2 / (2 * scale**2) for one, scale in zip(shape.series, noise.scales, strict=True)]
    assert charges[-1].mechanisms[0].cost == pytest.approx(sum(again))
    with monkeypatch.context() as patched:
        patched.setattr(noisy, "add_noise", lambda *_: pytest.fail("noise was drawn again"))
        taken = next_night(made, [])
    assert (taken.version, taken.noisy.night) == (2, 2)
    assert made.states() == ["published", "lost", "published"]
    seen, measured = name_kept_tables(shared_db.engine, made.budget, charges[0].seq)
    assert shared_db.engine.fetch(f"SELECT night, count(*) FROM {seen} GROUP BY night ORDER BY night") == [
        (1, 1),
        (2, 1),
    ]
    assert [night for (night,) in shared_db.engine.fetch(f"SELECT DISTINCT night FROM {measured} ORDER BY night")] == [
        1,
        2,
    ]


@pytest.mark.thorough
def test_nights_end_and_begin_anew_only_when_they_are_paid_again(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, [(1, "north", "F", 5, 5.0)], **(ASKED | {"more": "running: {nights: 2}"}))
    made.run()
    second = made.run(spend=True)
    made.write(**(ASKED | {"more": "running: {nights: 3}"}))
    make_due(made)
    with pytest.raises(GuardError, match="the policy, or sqlanon, is another"):
        made.run()
    made.write(**(ASKED | {"more": "running: {nights: 2}"}))
    make_due(made)
    with pytest.raises(GuardError, match="all 2 declared nights have been measured"):
        made.run()
    third = made.run(spend=True)
    assert third.noisy.night == 1
    assert third.noisy.spent > second.noisy.spent
    (seq,) = {event.paid_by for event in Ledger(shared_db.engine).read()[made.budget][-3:] if event.kind == "reserved"}
    seen, measured = name_kept_tables(shared_db.engine, made.budget, seq)
    shared_db.engine.execute(f"DELETE FROM {measured}")
    make_due(made)
    with pytest.raises(GuardError, match="private tables of the earlier nights are not as they were left"):
        made.run()
    assert shared_db.engine.fetch(f"SELECT count(*) FROM {seen}") == [(1,)]


@pytest.mark.thorough
def test_nights_end_with_another_type_of_the_key(shared_db: Any, tmp_path: Path) -> None:
    """Another type may write the same key as another text, and everybody would arrive once more for one charge."""
    made = Made(shared_db, tmp_path, [(pid, "north", "F", 5, 5.0) for pid in range(500)], **ASKED)
    first = made.run()
    shared_db.engine.execute(f"ALTER TABLE {made.source} ALTER COLUMN pid TYPE BIGINT")
    assert made.run(spend=True).noisy.night == 2
    shared_db.engine.execute(f"ALTER TABLE {made.source} ALTER COLUMN pid TYPE DOUBLE PRECISION")
    make_due(made)
    with pytest.raises(GuardError, match="the type or order of the columns that say whose row it is"):
        made.run()
    third = made.run(spend=True)
    assert (third.noisy.night, third.noisy.spent > first.noisy.spent) == (1, True)
    assert {row["night"] for row in made.rows()} == {1}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["twice", "in more groups"])
def test_a_person_who_arrives_too_often_is_noticed(name: str, shared_db: Any, tmp_path: Path) -> None:
    """A table of persons seen that was changed by hand: the run stops, and the version is charged."""
    made = Made(shared_db, tmp_path, [(1, "north", "F", 5, 5.0)], **ASKED)
    made.run()
    (charge,) = [event for event in Ledger(shared_db.engine).read()[made.budget] if event.kind == "reserved"]
    seen, _ = name_kept_tables(shared_db.engine, made.budget, charge.seq)
    for cell in range(3):
        night = 2 if name == "twice" else 1
        shared_db.engine.execute(
            f"INSERT INTO {seen} SELECT number, person, {cell}, {night} FROM {seen} WHERE cell = 0"
        )
    with pytest.raises(PrivacyViolation, match="arrives more often than the noise is drawn for"):
        made.run(spend=True)
    assert made.states() == ["published", "withheld"]


REFUSED = {
    "rows": ({"measures": "{n: rows}"}, "running counts are of persons, and n is not"),
    "no delta": ({"budget": "epsilon: 3"}, "needs the budget's delta"),
    "laplace": ({"more": "running: {nights: 4}\n      noise: laplace"}, "needs the budget's delta"),
    "one night": ({"more": "running: {nights: 1}"}, "too small"),
    "too many numbers": (
        {
            "more": "running: {nights: 4000}",
            "tables": "[{by: [age]}]",
            "groups": f"{{age: {{bins: {list(range(600))}}}}}",
        },
        "that for 4000 nights",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_running_counts_is_refused(what: str, shared_db: Any, tmp_path: Path) -> None:
    asked, text = REFUSED[what]
    made = Made(shared_db, tmp_path, [], **(ASKED | asked))
    with pytest.raises(PolicyError, match=text) as raised:
        made.run()
    assert len(raised.value.problems) == 1
    assert made.budget not in Ledger(shared_db.engine).read()


RUNS = 3_000


@pytest.mark.thorough
def test_a_reader_of_all_nights_learns_no_more_than_is_claimed(shared_db: Any, tmp_path: Path) -> None:
    """Membership of somebody who comes in the first night, by the likelihood ratio of all measurements."""
    nights = [[(1, "north", "F", 5, 5.0)]] + [[]] * (NIGHTS - 1)
    made = Made(shared_db, tmp_path, [], **ASKED)
    shape = shape_of(made.spec)
    noise = noise_of(shape)
    without, with_ = (measure_nights(shared_db, shape, some) for some in ([[]] * NIGHTS, nights))
    ratios = [np.zeros(RUNS), np.zeros(RUNS)]
    for night in range(NIGHTS):
        for place, scale in enumerate(noise.scales):
            base, other = (some[night][place].astype(float) for some in (without, with_))
            for side, truth in enumerate((without, with_)):
                drawn = add_noise(np.tile(truth[night][place], RUNS), noise.law, scale).reshape(RUNS, -1)
                gain = ((drawn - base) ** 2 - (drawn - other) ** 2).sum(axis=1)
                ratios[side] += gain / (2 * float(scale) ** 2)
    found = max(
        lower_bound(RUNS, int((ratios[1] >= at).sum()), int((ratios[0] >= at).sum()), 1e-6) for at in (0.2, 0.5, 1, 2)
    )
    assert found < float(made.spec.noisy.epsilon)  # type: ignore[union-attr]


@pytest.mark.thorough
def test_errors_of_nights_are_those_that_are_stated(shared_db: Any, tmp_path: Path) -> None:
    made = Made(
        shared_db, tmp_path, [], **(ASKED | {"tables": "[{by: [sex], totals: false}]", "groups": "{sex: [F, M]}"})
    )
    shape = shape_of(made.spec)
    noise = noise_of(shape)
    assert shape.factor is not None
    arrived = np.full((NIGHTS, 2), 100)
    exact = np.vstack([measure(shape.factor, arrived[: night + 1]) for night in range(NIGHTS)])
    inside = total = 0
    for _ in range(200):
        drawn = add_noise(exact.reshape(-1), noise.law, noise.scales[0]).reshape(NIGHTS, 2)
        (both,) = estimate_night(shape, noise, [drawn]).values()
        for one, truth in zip(both, (100 * NIGHTS, 100), strict=True):
            inside += int(((one.low <= truth) & (truth <= one.high)).sum())
            total += len(one.value)
    # 400 independent pairs of numbers: of 0.95 they are below 0.9 with a probability far below 1e-6.
    assert inside / total > 0.9
