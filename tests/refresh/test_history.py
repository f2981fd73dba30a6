"""What two versions reveal together.

It has the two leaks of the literature, and compares every figure with an oracle in plain Python.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from tests.covering import seeds
from tests.engines import create_table
from tests.refresh.conftest import release

COLUMNS = {"id": "INTEGER", "age": "INTEGER", "illness": "TEXT"}
SPEC: dict[str, Any] = {"quasi": "age", "sensitive": "illness", "identifiers": "id", "key": "id", "k": 3, "l": None}


def write(db: Any, table: str, rows: list[tuple[Any, ...]]) -> None:
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    create_table(db, table, COLUMNS, rows)


WARD = [(1, 30, "flu"), (2, 30, "flu"), (3, 30, "hiv"), *((i, 60, ("flu", "cold", "hiv")[i % 3]) for i in range(4, 10))]


def test_a_newcomer_is_given_away(shared_db):
    """The class {flu, flu, hiv} becomes {flu, flu, hiv, cancer}.

    Each is 3-anonymous, both together name the newcomer.
    """
    write(shared_db, "h1", WARD)
    shared_db.run(release("h1", **SPEC))
    write(shared_db, "h1", [*WARD, (10, 30, "cancer")])
    planned = shared_db.plan(release("h1", **SPEC))
    second = shared_db.run(release("h1", **SPEC))
    assert planned.history == second.history
    (one,) = second.history
    assert (one.old, one.new, one.values, one.components) == (1, 2, True, 2)
    assert (one.arrived.rows, one.arrived.smallest, one.arrived.l, one.arrived.failing) == (1, 1, 1.0, 1)
    assert (one.left.rows, one.left.smallest, one.left.l) == (0, None, None)
    assert (one.common.rows, one.common.smallest, one.common.l, one.common.failing) == (9, 3, 1.5, 0)
    assert one.failing == 1
    assert (second.data.before, second.data.after, second.data.added) == (9, 10, 1)
    assert shared_db.history("h1") == second.history


def test_a_deletion_is_given_away(shared_db):
    rows = [*WARD, (10, 30, "cancer")]
    write(shared_db, "h2", rows)
    shared_db.run(release("h2", **SPEC))
    write(shared_db, "h2", WARD)
    (one,) = shared_db.run(release("h2", **SPEC)).history
    assert (one.left.rows, one.left.smallest, one.left.failing, one.arrived.rows) == (1, 1, 1, 0)
    assert one.failing == 1


def test_a_changed_row_left_and_arrived(shared_db):
    write(shared_db, "h3", WARD)
    shared_db.run(release("h3", **SPEC))
    write(shared_db, "h3", [(1, 30, "cancer"), *WARD[1:]])
    report = shared_db.run(release("h3", **SPEC))
    (one,) = report.history
    assert (one.left.rows, one.arrived.rows, one.common.rows) == (1, 1, 8)
    assert one.failing == 3  # the changed row, and the two that were beside it
    assert (report.data.added, report.data.removed, report.data.changed) == (0, 0, 1)


def test_max_failing_stops_plan_and_run(shared_db):
    write(shared_db, "h4", WARD)
    strict = release("h4", **SPEC, max_failing=0)
    shared_db.run(strict)
    write(shared_db, "h4", [*WARD, (10, 30, "cancer")])
    for act in (shared_db.plan, shared_db.run):
        with pytest.raises(sqlanon.PrivacyViolation, match="together with version 1 this version would leave 1 row"):
            act(strict)
    assert [row.version for row in shared_db.releases("h4")] == [1]
    loose = release("h4", **SPEC, max_failing=1)
    with pytest.raises(sqlanon.GuardError, match=r"history.max_failing 0 -> 1 \(weaker\)"):
        shared_db.run(loose)
    assert shared_db.run(loose, allow_weaker=True).version == 2


@pytest.mark.thorough
def test_without_a_key_it_is_said_that_nobody_can_know(shared_db):
    write(shared_db, "h5", WARD)
    spec = release("h5", **{**SPEC, "key": ()})
    assert shared_db.run(spec).notes == ()
    write(shared_db, "h5", [*WARD[:-1], (10, 60, "flu")])
    for report in (shared_db.plan(spec), shared_db.run(spec)):
        assert report.history == ()
        assert [note for note in report.notes if "without key the rows of two versions" in note]
    with pytest.raises(sqlanon.PolicyError, match="0 of its versions have a history"):
        shared_db.history("h5")
    with pytest.raises(sqlanon.PolicyError, match="nosuch is not a release"):
        shared_db.history("nosuch")
    keyed = shared_db.run(release("h5", **SPEC))
    assert [note for note in keyed.notes if "made without key" in note]


@pytest.mark.parametrize(
    ("rows", "reported"),
    [([*WARD, (1, 60, "flu")], "1 row repeats one"), ([*WARD, (None, 60, "flu")], r"1 row has none \(NULL\)")],
)
def test_a_key_that_distinguishes_no_rows(shared_db, rows, reported):
    write(shared_db, "h6", rows)
    with pytest.raises(sqlanon.GuardError, match=reported):
        shared_db.run(release("h6", **SPEC, accept_repeats="id"))


def test_a_key_that_is_no_column(shared_db):
    write(shared_db, "h7", WARD)
    with pytest.raises(sqlanon.PolicyError, match="h7 has no column number"):
        shared_db.run(release("h7", **{**SPEC, "key": "number"}))


def test_the_history_outlives_the_version_and_holds_no_value(shared_db):
    write(shared_db, "h8", WARD)
    for night in range(4):
        write(shared_db, "h8", [*WARD, *((20 + i, 30, "canary") for i in range(3 * night))])
        shared_db.run(release("h8", **SPEC))
    assert [row.status for row in shared_db.releases("h8")] == ["dropped", "dropped", "replaced", "published"]
    assert [(one.old, one.new) for one in shared_db.history("h8")] == [(1, 2), (2, 3), (3, 4)]
    tables = shared_db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' AND table_name LIKE "
        "'h8%history'"
    )
    assert len(tables) == 4
    for (name,) in tables:
        for row in shared_db.engine.fetch(f'SELECT person, mark, s1 FROM _sqlanon."{name}"'):
            assert all(len(str(cell)) in (32, 64) and int(str(cell), 16) >= 0 for cell in row)


@pytest.mark.thorough
def test_other_columns_compare_by_the_key_alone(shared_db):
    write(shared_db, "h9", WARD)
    shared_db.run(release("h9", **SPEC))
    (one,) = shared_db.run(
        release("h9", **{**SPEC, "sensitive": (), "insensitive": "illness"}), allow_weaker=True
    ).history
    assert (one.values, one.common.rows, one.common.l, one.failing) == (False, 9, None, 0)


# --- against an oracle -----------------------------------------------------------------------------------------------


def links(db: Any, version: int, name: str) -> dict[str, int]:
    """person hash -> class of a version, as the private schema has it."""
    (physical,) = db.engine.fetch(
        f"SELECT physical FROM _sqlanon.catalog WHERE release = '{name}' AND version = {version}"
    )[0]
    return dict(db.engine.fetch(f'SELECT person, class FROM _sqlanon."{physical}_history"'))


def expected(old: dict, new: dict, k: int, l: Fraction) -> dict[str, Any]:  # noqa: E741
    """``old`` and ``new``: person -> (class, values); the groups as sets of persons, by breadth-first search."""
    same = {p for p in old.keys() & new.keys() if old[p][1] == new[p][1]}
    beside = defaultdict(set)
    for p in same:
        beside[("o", old[p][0])].add(("n", new[p][0]))
        beside[("n", new[p][0])].add(("o", old[p][0]))
    nodes = {("o", c) for c, _ in old.values()} | {("n", c) for c, _ in new.values()}
    part: dict[Any, int] = {}
    for node in sorted(nodes):
        todo = [node] if node not in part else []
        while todo:
            at = todo.pop()
            if at not in part:
                part[at] = len(set(part.values())) if at == node else part[node]
                todo += beside[at]
    groups: dict[str, dict[Any, list]] = {
        "arrived": defaultdict(list),
        "left": defaultdict(list),
        "common": defaultdict(list),
    }
    for p, (c, values) in new.items():
        if p in same:
            groups["common"][old[p][0], c].append((p, values))
        else:
            groups["arrived"][part["n", c]].append((p, values))
    for p, (c, values) in old.items():
        if p not in same:
            groups["left"][part["o", c]].append((p, values))
    failing: set[Any] = set()
    reported: dict[str, Any] = {"components": len(set(part.values()))}
    for kind, found in groups.items():
        least, bad = [], []
        for members in found.values():
            top = max(Counter(values[-1] for _, values in members).values())
            least.append(Fraction(len(members), top))
            if len(members) < k or top * l > len(members):
                bad += [p for p, _ in members]
        failing |= set(bad)
        reported[kind] = (
            sum(map(len, found.values())),
            len(found),
            min(map(len, found.values()), default=None),
            float(min(least)) if least else None,
            len(bad),
        )
    return {**reported, "failing": len(failing)}


@pytest.mark.parametrize("seed", seeds(4))
def test_every_figure_is_the_oracles(shared_db, seed):
    rng, name = random.Random(seed), f"o{seed}"
    people = {i: (rng.randint(20, 60), rng.choice(["flu", "cold", "hiv", "gout", None])) for i in range(60)}
    spec = release(name, **{**SPEC, "l": 1.5, "method": rng.choice(["tree", "mondrian", "hilbert"])})
    seen, hashes = [], []
    for _ in range(3):
        write(shared_db, name, [(i, *values) for i, values in people.items()])
        report = shared_db.run(spec)
        seen.append(dict(people))
        hashes.append(links(shared_db, report.version, name))
        for i in rng.sample(sorted(people), 6):
            del people[i]
        for i in rng.sample(sorted(people), 5):
            people[i] = (people[i][0], rng.choice(["flu", "cold"]))
        people |= {100 * report.version + i: (rng.randint(20, 60), "gout") for i in range(7)}
    for one in shared_db.history(name):
        old, new = seen[one.old - 1], seen[one.new - 1]
        person = _persons(shared_db, name)
        sides = [
            {person[i]: (where[person[i]], values) for i, values in side.items()}
            for side, where in ((old, hashes[one.old - 1]), (new, hashes[one.new - 1]))
        ]
        assert {person[i] for i in old} == set(hashes[one.old - 1])
        reported = expected(*sides, k=3, l=Fraction(3, 2))
        for kind in ("arrived", "left", "common"):
            sets = getattr(one, kind)
            assert (sets.rows, sets.groups, sets.smallest, sets.l, sets.failing) == reported[kind], kind
        assert (one.components, one.failing) == (reported["components"], reported["failing"])


def _persons(db: Any, name: str) -> dict[int, str]:
    """id -> its keyed hash, computed here from the stored secret: SHA-256 of the secret, /key/ and the counted text."""
    import hashlib

    ((secret,),) = db.engine.fetch(f"SELECT secret FROM _sqlanon.secrets WHERE release = '{name}'")
    return {i: hashlib.sha256(f"{secret}/key/{len(str(i))}:{i}".encode()).hexdigest() for i in range(1000)}


PAIRED = {**SPEC, "identifiers": ["id", "card"], "max_failing": 0}


def ward(db: Any, table: str, *newcomers: str, id_type: str = "INTEGER", age_type: str = "INTEGER") -> None:
    """The ward with a second identifier, and what its columns are declared as."""
    rows = [*WARD, *((10 + i, 30, illness) for i, illness in enumerate(newcomers))]
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    columns = {"id": id_type, "age": age_type, "illness": "TEXT", "card": "TEXT"}
    create_table(db, table, columns, [(*row, f"c{row[0]}") for row in rows])


def test_the_order_of_the_keys_columns_is_nothing(shared_db):
    ward(shared_db, "w1")
    shared_db.run(release("w1", **{**PAIRED, "key": ["id", "card"]}))
    ward(shared_db, "w1", "cancer")
    with pytest.raises(sqlanon.PrivacyViolation, match="would leave 1 row"):
        shared_db.run(release("w1", **{**PAIRED, "key": ["card", "id"]}))


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize(
    ("key", "id_type", "reported"),
    [("card", "INTEGER", "the key's columns or their types changed"), ("id", "DECIMAL(10,1)", "their types changed")],
)
def test_another_key_is_never_reported_as_nobody(shared_db, key, id_type, reported):
    """Where rows cannot be matched everything seems to have left and arrived, in groups as large as classes."""
    table = f"w2_{key}"
    ward(shared_db, table)
    shared_db.run(release(table, **{**PAIRED, "key": "id"}))
    ward(shared_db, table, "cancer", id_type=id_type)
    changed = release(table, **{**PAIRED, "key": key})
    if key != "id":
        with pytest.raises(sqlanon.GuardError, match=r"key id -> card \(weaker\)"):
            shared_db.run(changed)
    with pytest.raises(sqlanon.PrivacyViolation, match=reported):
        shared_db.run(changed, allow_weaker=True)
    loose = release(table, **{**PAIRED, "key": key, "max_failing": None})
    (one,) = shared_db.run(loose, allow_weaker=True).history
    assert (one.unknown[:4], one.failing, one.common.rows) == ("the ", 10, 0)


def test_another_type_compares_by_the_key_alone(shared_db):
    ward(shared_db, "w3")
    shared_db.run(release("w3", **PAIRED))
    ward(shared_db, "w3", "cancer", age_type="DECIMAL(10,1)")
    with pytest.raises(sqlanon.PrivacyViolation, match="would leave 1 row"):
        shared_db.run(release("w3", **PAIRED))


@pytest.mark.thorough
def test_hashes_that_match_nowhere(shared_db):
    """The secret that they were made with is lost."""
    ward(shared_db, "w4")
    shared_db.run(release("w4", **PAIRED))
    shared_db.engine.execute("DELETE FROM _sqlanon.secrets WHERE release = 'w4'")
    ward(shared_db, "w4", "cancer")
    with pytest.raises(sqlanon.PrivacyViolation, match="they cannot be compared: no row of the one"):
        shared_db.run(release("w4", **PAIRED))
