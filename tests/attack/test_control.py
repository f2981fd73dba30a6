"""Attacks with a control group: every entry of the registry, kernels against plain Python, and whole trials."""

from __future__ import annotations

import itertools
import math
import random
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sqlanon.attack.control.base import MissingFigure, Outcome, Successes
from sqlanon.attack.control.hold_out import divide_persons
from sqlanon.attack.control.rates import find_interval, measure_risk
from sqlanon.attack.control.registry import ATTACKS
from sqlanon.attack.control.singling_out import correct_size, expect_isolated
from sqlanon.attack.kernels import nearest
from sqlanon.attack.kernels.predicates import AT_LEAST, AT_MOST, EQUAL, IN, NOT, Predicates, count_released, count_rows
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.policy import loads
from tests.attack.spaces import covers, distance, draw_space, make_space, make_trial
from tests.engines import create_table

CODES = [300, 300, 300, 300, 4]


def draw_rows(seed: int, rows: int = 250) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(codes) for codes in CODES] for _ in range(rows)]


def of_original(rows: Sequence[Sequence[int]]) -> Any:
    columns = [[("range", (row[a], row[a], False)) for row in rows] for a in range(5)]
    return make_space(columns, CODES, [True, True, True, False, False], [False] * 5)


def of_one_class(rows: Sequence[Sequence[int]]) -> Any:
    counts = Counter(row[4] for row in rows)
    columns: list[list[Any]] = [[("range", (0, codes - 1, False))] * len(counts) for codes in CODES[:4]]
    columns.append([("range", (value, value, False)) for value in counts])
    space = make_space(columns, CODES, [True, True, True, False, False], [False] * 5)
    return space._replace(members=np.array(list(counts.values()), np.int64))


@pytest.mark.parametrize("name", ATTACKS)
def test_the_original_is_attacked_and_one_class_is_not(name: str) -> None:
    if name == "classifier":
        pytest.importorskip("sklearn")
    inside, outside = draw_rows(1), draw_rows(2)
    made = list(ATTACKS[name].run(make_trial(of_original(inside), inside, outside)))
    assert made
    for outcome in made:
        assert isinstance(outcome, Outcome)
        assert measure_risk(outcome)[0] > 0.9
        assert outcome.main.share > outcome.naive
    for outcome in ATTACKS[name].run(make_trial(of_one_class(inside), inside, outside)):
        assert isinstance(outcome, Outcome)
        low, risk, _ = measure_risk(outcome)
        assert low == 0
        assert risk < 0.1


def test_no_sensitive_column_and_one_column() -> None:
    space = make_space([[("range", (0, 0, False)), ("range", (1, 1, False))]], [2], [True], [False])
    trial = make_trial(space, [[0], [1]], [[0]], "q")
    for name in ("linkability", "inference", "multivariate"):
        assert [type(one) for one in ATTACKS[name].run(trial)] == [MissingFigure]


@pytest.mark.parametrize("seed", range(6))
def test_distances_links_guesses_and_matches(seed: int) -> None:
    space, columns = draw_space(seed)
    rng = random.Random(seed + 100)
    rows = np.array([[rng.randrange(codes) for codes in (9, 5, 4, 3)] for _ in range(12)], np.int32)
    b, members = len(space.members), space.members.tolist()

    def far(row: Any, known: Sequence[int]) -> list[int]:
        return [sum(distance(space, columns, a, j, int(row[a])) for a in known) for j in range(b)]

    def near(row: Any, known: Sequence[int]) -> list[int]:
        every = far(row, known)
        return [j for j in range(b) if every[j] == min(every)]

    found = np.empty(b, np.int32)
    known = np.array([0, 1, 2])
    linked = nearest.link(space, np.array([0]), np.array([1, 2]), rows)
    guessed = nearest.guess(space, known, 3, rows)
    matched = nearest.match(space, rows)
    for i, row in enumerate(rows):
        nearest.find_distances(space, known, row, found)
        assert found.tolist() == far(row, [0, 1, 2])
        left, right = ([j for j in near(row, one) for _ in range(members[j])] for one in ([0], [1, 2]))
        pairs = [(x, y) for x in enumerate(left) for y in enumerate(right) if x[1] == y[1]]
        same = sum(members[j] for j in set(left) & set(right))
        assert linked[i] == pytest.approx(same / (len(left) * len(right)))
        assert len(pairs) >= same
        counts: Counter[int] = Counter()
        for j in near(row, [0, 1, 2]):
            counts[columns[3][j][1][0]] += members[j]
        best = [value for value, n in counts.items() if n == max(counts.values())]
        assert guessed[i] == pytest.approx((row[3] in best) / len(best))
        assert matched[i] == any(all(covers(columns[a][j], row[a]) for a in range(4)) for j in range(b))


@pytest.mark.parametrize("seed", range(4))
def test_predicates_against_plain_python(seed: int) -> None:
    space, columns = draw_space(seed)
    rng = random.Random(seed)
    rows = np.array([[rng.randrange(codes) for codes in (9, 5, 4, 3)] for _ in range(40)], np.int32)
    asked = []
    for _ in range(60):
        chosen = sorted(rng.sample(range(4), 2))
        kinds = [rng.choice([IN, NOT, EQUAL] if a == 1 else [AT_LEAST, AT_MOST, IN, NOT, EQUAL]) for a in chosen]
        values = [
            rng.randrange(9) if kind == IN else rng.randrange([9, 5, 4, 3][a])
            for a, kind in zip(chosen, kinds, strict=True)
        ]
        asked.append((chosen, kinds, values))
    made = Predicates(*(np.array([one[at] for one in asked], np.int32) for at in range(3)))

    def holds(a: int, kind: int, value: int, code: int) -> bool:
        if kind == IN:
            return covers(columns[a][value], code)
        if kind in (NOT, EQUAL):
            return (code == value) == (kind == EQUAL)
        if code == 0 and space.nulls[a]:
            return False
        return code >= value if kind == AT_LEAST else code <= value

    expected = [sum(all(holds(a, k, v, row[a]) for a, k, v in zip(*one, strict=True)) for row in rows) for one in asked]
    assert count_rows(space, made, rows, 1000).tolist() == expected
    # A released row that is counted satisfies the predicate with each value that its cells cover.
    certain = np.flatnonzero((count_released(space, made, 0) > 0) & ~np.isin(made.kinds, [NOT, EQUAL]).any(axis=1))
    assert len(certain)
    for p in certain:
        assert any(
            all(
                all(holds(a, k, v, code) for code in range(int(space.codes[a])) if covers(columns[a][j], code))
                for a, k, v in zip(*asked[p], strict=True)
            )
            for j in range(len(space.members))
        )


def test_expected_isolations_are_those_of_all_samples() -> None:
    rows, counts = 7, np.array([0, 1, 2, 3, 7])
    for size in range(1, 8):
        expected = 0.0
        for c in counts:
            samples = list(itertools.combinations(range(rows), size))
            expected += sum(sum(i < c for i in sample) == 1 for sample in samples) / len(samples)
        assert expect_isolated(counts, rows, size) == pytest.approx(expected)


def test_a_smaller_control_group_is_corrected() -> None:
    """Weights from 0 to 1/300, evenly, as the model has them: of 2,000 rows so many are isolated as computed."""
    weights = np.linspace(0, 1 / 300, 20001)[1:]
    counts = np.random.default_rng(3).binomial(500, weights)
    expected = float((2000 * weights * (1 - weights) ** 1999).sum())
    assert correct_size(counts, 500, 2000) == pytest.approx(expected, rel=0.06)
    assert correct_size(counts, 500, 500) == (counts == 1).sum()


def test_intervals_and_risk() -> None:
    """Wilson's interval of 0 of 10 is 0 to z^2 / (10 + z^2); Newcombe 1998, example (a): 56/70 and 48/80."""
    square = 1.959963984540054**2
    assert find_interval(Successes(0, 10)) == pytest.approx((0, square / (10 + square)))
    outcome = Outcome("x", (), Successes(56, 70), Successes(48, 80), 0.5, every=True, gain=True)
    assert measure_risk(outcome) == pytest.approx((0.0524, 0.2, 0.3339), abs=5e-5)
    outcome = Outcome("x", (), Successes(60, 100), Successes(20, 100), 0, every=True)
    low, risk, high = measure_risk(outcome)
    assert risk == pytest.approx(0.5)
    assert 0 < low < risk < high < 1
    everything = Outcome("x", (), Successes(10, 10), Successes(10, 10), 0, every=True)
    assert measure_risk(everything)[:2] == (0, 0)
    assert measure_risk(Outcome("x", (), Successes(0, 0), Successes(0, 0), 0, every=True)) == (0, 0, 0)


def test_persons_are_held_out_whole() -> None:
    person = np.array([3, 1, 3, 2, 1, 0, 4, 4], np.int32)
    held, first = divide_persons(person, 8, 0.4, 5)
    assert len({int(one) for one in person[held]}) == 2
    assert not {int(one) for one in person[held]} & {int(one) for one in person[~held]}
    assert sorted(person[first].tolist()) == [0, 1, 2, 3, 4]
    for share in (0.01, 0.99):
        with pytest.raises(PolicyError, match="need one at least"):
            divide_persons(person, 8, share, 5)


POLICY = """
version: 1
releases:
  - name: {name}
    source: {name}
    rows_are: events
    person: who
    persons: whole
    columns:
      who: {{role: identifier}}
      age: {{role: quasi}}
      sex: {{role: quasi}}
      disease: {{role: sensitive}}
      ward: {{role: insensitive}}
    privacy: {{k: 3}}
"""


def make_events(db: Any, rows: int = 90) -> Any:
    rng, name = random.Random(4), f"control_{uuid.uuid4().hex[:10]}"
    made = []
    for i in range(rows):
        age = rng.choice([*range(20, 40), None])
        made.append((i // 2, age, rng.choice("fm"), rng.choice(["flu", "cold"]), rng.choice("abc")))
    kinds: dict[str, Any] = {"who": "INTEGER", "age": "INTEGER", "sex": "TEXT", "disease": "TEXT", "ward": "TEXT"}
    rng.shuffle(made)
    create_table(db, name, kinds, made)
    return loads(POLICY.format(name=name), {}).releases[0]


def test_trials_are_the_same_on_all_engines_and_leave_nothing(both_dbs: tuple[Any, ...]) -> None:
    reports = []
    for db in both_dbs:
        spec = make_events(db)
        report = db.attack_with_control(spec, 0.2, seed=11)
        assert (report.counted, report.inside, report.outside) == ("persons", 36, 9)
        assert (report.rows, report.released) == (72, 72)
        assert db.releases(spec.name) == ()
        assert not db.engine.has_schema(db.engine.target("_sqlanon.x"))
        reports.append(report)
    assert len({repr(one.attacks) for one in reports}) == 1
    for one in reports[0].attacks:
        assert 0 <= one.low <= one.risk <= one.high <= 1
        assert not math.isnan(one.naive)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"share": 0.0}, "above 0 and below 1"),
        ({"share": float("nan")}, "above 0 and below 1"),
        ({"seed": -1}, "from 0"),
        ({"sets": [["age"]]}, "two sets of columns"),
        ({"sets": [["age"], ["disease"]]}, "no quasi column disease; there are: age, sex"),
        ({"sets": [["age"], ["AGE"]]}, "age is in both sets"),
    ],
)
def test_bad_input_is_one_error(shared_db: Any, asked: dict[str, Any], message: str) -> None:
    spec = make_events(shared_db)
    with pytest.raises(PolicyError, match=message) as found:
        shared_db.attack_with_control(spec, **asked)
    assert "\n" not in str(found.value)


def test_two_tables_are_refused(shared_db: Any) -> None:
    name = f"control_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"age": "INTEGER", "disease": "TEXT"}, [(i, "ab"[i % 2]) for i in range(40)])
    text = f"""
version: 1
releases:
  - name: {name}
    source: {name}
    columns: {{age: {{role: quasi}}, disease: {{role: sensitive}}}}
    privacy: {{l: 2}}
    method: anatomy
    format: anatomy
"""
    spec = loads(text, {}).releases[0]
    with pytest.raises(UnsupportedError, match="two tables"):
        shared_db.attack_with_control(spec, 0.5, seed=1)
