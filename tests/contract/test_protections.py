"""Protections of counts on every engine: what each publishes, and what its verification refuses."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics.protections import cell_key, controlled_rounding
from tests.contract.counted import Made, cells_of, key, stays
from tests.engines import read_table
from tests.unit.cells.test_rounding import NONE

pytest.importorskip("highspy")

PROTECT = {
    "suppress": "{persons: 3, bounds: exact}",
    "cell_key": "{persons: 3, method: cell_key, deviation: 5, variance: 3, no_result: 2}",
    "additive": "{persons: 3, method: cell_key, deviation: 5, variance: 3, additive: true}",
    "rule": "{persons: 3, method: cell_key, rule: '10_5'}",
    "round": "{persons: 3, method: round, base: 3}",
}
SOME = [one if one in ("additive", "round") else pytest.param(one, marks=pytest.mark.thorough) for one in PROTECT]
TWO: dict[str, str] = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]"}


@pytest.mark.every_engine
@pytest.mark.parametrize("method", SOME)
def test_every_cell_is_published_once_with_bounds_that_hold(method: str, shared_db: Any, tmp_path: Path) -> None:
    rows = stays("protected")
    made = Made(shared_db, tmp_path, rows, protect=PROTECT[method])
    made.run()
    truth, view = cells_of(rows), made.rows()
    assert sorted(map(repr, map(key, view))) == sorted(map(repr, truth))
    assert all(row["n_low"] <= truth[key(row)] <= row["n_high"] for row in view)
    answer = shared_db.query(f"SELECT sex, count(*) AS n FROM {made.source} WHERE age < 40 GROUP BY sex ORDER BY sex")
    for row in answer.rows:
        n = sum(one[1] == row["sex"] and one[2] is not None and one[2] < 40 for one in rows)
        assert row["n"].low <= row["n"].estimate <= row["n"].high
        assert row["n"].low <= n <= row["n"].high


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("method", PROTECT)
def test_a_release_is_audited_attacked_and_reported(method: str, shared_db: Any, tmp_path: Path) -> None:
    rows = stays("attacked", 80)
    made = Made(shared_db, tmp_path, rows, protect=PROTECT[method], **TWO)
    made.run()
    status = {"suppress": "hidden", "round": "rounded"}.get(method, "perturbed")
    audited = shared_db.audit(f"release.{made.view}")
    assert (audited.satisfied, audited.cell_status) == (True, status)
    found = shared_db.attack(made.name)
    assert (found.held, found.status) == (True, status)
    assert shared_db.audit_statistics([f"release.{made.view}"]).status == status
    text = shared_db.report(made.name, form="md") + shared_db.report(made.name, form="md", frame="sdc")
    assert f"{status} cells" in text.lower()
    assert (method == "suppress") == ("hidden" in text)
    averaging = [one for one in found.attacks if one.name == "averaging"]
    assert len(averaging) == (method in ("cell_key", "additive"))
    report = shared_db.audit_statistics([f"release.{made.view}"])
    assert not report.contradictions
    truth = cells_of(rows)
    for cell in report.found:
        levels = {"region": 1, "sex": 1, "age": 2}
        at = tuple((0, cell.values[name]) if name in cell.values else (top, None) for name, top in levels.items())
        assert cell.low <= truth[at] <= cell.high
    assert made.name in shared_db.report(made.name)
    shared_db.engine.execute(f"DELETE FROM {made.source} WHERE pid = 1")
    with pytest.raises(GuardError, match="would publish other counts"):
        made.run()


@pytest.mark.thorough
@pytest.mark.every_engine
def test_noise_is_of_the_persons_in_a_cell(shared_db: Any, tmp_path: Path) -> None:
    """Keys of persons by HMAC, their sum modulo 2^32, and a change by the chances: computed once more in Python."""
    rows = stays("keyed", 60)
    made = Made(shared_db, tmp_path, rows, protect=PROTECT["cell_key"], **TWO)
    made.run()
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    secrets = read_table(shared_db, ("_sqlanon", "secrets"))
    (secret,) = [row["secret"] for row in secrets if row["release"] == made.name]
    of_release = hmac.digest(secret.encode(), b"cell keys", "sha256")
    keys = {}
    for pid in {row[3] for row in rows}:
        person = hashlib.sha256(f"{secret}/person/of/{len(str(pid))}:{pid}".encode()).hexdigest()
        keys[pid] = int(hmac.new(of_release, person.encode(), "sha256").hexdigest()[:8], 16)
    kept = {part: read_table(shared_db, (table.schema, table.name)) for part, table in entry.counts.items()}
    levels = {row["cell"]: (row["l1"], row["k1"], row["l2"], row["k2"]) for row in kept["cells"]}
    changes: dict[tuple[int, int], set[int]] = {}
    for row in kept["noise"]:
        l1, k1, l2, k2 = levels[row["cell"]]
        inside = [
            one[3]
            for one in rows
            if (l1 == 1 or k1 == ("n" if one[0] is None else f"v{one[0]}")) and (l2 == 1 or k2 == f"v{one[1]}")
        ]
        assert (row["key"], row["value"]) == (sum(keys[pid] for pid in inside) % 2**32, len(inside))
        number = min(row["value"], max(one["number"] for one in kept["chances"]))
        (chance,) = [
            one for one in kept["chances"] if one["number"] == number and one["first"] <= row["key"] < one["until"]
        ]
        assert row["change"] == chance["change"]
        changes.setdefault((row["key"], row["value"]), set()).add(row["change"])
    assert all(len(some) == 1 for some in changes.values())
    assert {row["n"] for row in made.rows()}.isdisjoint({1, 2})


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["additive", "round"])
def test_published_numbers_add_up(method: str, shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("added", 90), protect=PROTECT[method], **TWO)
    made.run()
    view = made.rows()
    finest = [row for row in view if row["level_region"] == row["level_sex"] == 0]
    for row in view:
        parts = [
            one["n"]
            for one in finest
            if all(row[f"level_{name}"] == 1 or row[name] == one[name] for name in ("region", "sex"))
        ]
        assert row["n"] == sum(parts)
        assert method != "round" or row["n"] % 3 == 0


@pytest.mark.thorough
def test_metadata_and_plan_say_what_averaging_gives_back(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("said", 80)
    made = Made(shared_db, tmp_path, rows, protect=PROTECT["cell_key"], **TWO)
    notes = shared_db.plan(made.spec).notes
    report = made.run()
    (row,) = [one for one in read_table(shared_db, ("release", f"{made.view}_metadata")) if one["column_name"] == ""]
    said = json.loads(row["published"])["statistics"]
    finest = {row[:2] for row in rows}
    groups = {
        frozenset(one[3] for one in rows if (r in (one[0], "*")) and s in (one[1], "*"))
        for r in _all(rows, 0)
        for s in _all(rows, 1)
    }
    different = len(groups - {frozenset()})
    expected = (3**0.5, (3 * len(finest) / different) ** 0.5)
    assert report.statistics.errors == pytest.approx(expected)
    assert (said["error"], said["error_of_all_cells"]) == pytest.approx(expected, abs=1e-4)
    assert f"off by {expected[0]:.2f} (root of the mean squared error), and by {expected[1]:.2f} for who" in notes[-1]
    assert (said["method"], said["deviation"], said["variance"], said["no_result"]) == ("cell_key", 5, "3", 2)


def _all(rows: Any, place: int) -> list[Any]:
    return [*{row[place] for row in rows}, "*"]


TAMPERED = {
    "a number with noise": ("cell_key", "rows", "UPDATE {physical} SET n = n + 1 WHERE level_sex = 1"),
    "a narrow bound": ("cell_key", "rows", "UPDATE {physical} SET n_low = n_high, n_high = n_high + 1"),
    "a change": ("cell_key", "changes of cells", "UPDATE {noise} SET change = change + 1 WHERE cell = 1"),
    "a key": ("cell_key", "keys of cells", "UPDATE {noise} SET key = 0 WHERE cell = 1"),
    "no noise": ("cell_key", "keys of cells", "DELETE FROM {noise} WHERE cell = 1"),
    "a chance": ("cell_key", "ranges of keys", "UPDATE {chances} SET until = until - 1 WHERE number = 1"),
    "a large change": ("cell_key", "changes", "UPDATE {chances} SET change = change + 9"),
    "chances of a mean": ("cell_key", "changes|chances", "UPDATE {chances} SET change = 0"),
    "an omitted margin": ("additive", "not published", "DELETE FROM {physical} WHERE level_region = 1"),
    "a sum": ("additive", "sums of the finest", "UPDATE {physical} SET n = n + 1 WHERE level_region = 1"),
    "numbers that are far": ("additive", "not the nearest", "UPDATE {physical} SET n = 2 * n"),
    "no multiple": ("round", "rows", "UPDATE {physical} SET n = n + 1 WHERE level_region = 1"),
    "far from the number": ("round", "rows", "UPDATE {physical} SET n = n + 3"),
    "no witness": ("round", "without witnesses", "DELETE FROM {witness}"),
    "a witness of other numbers": ("round", "bounds that a witness leaves", "UPDATE {witness} SET change = change + 9"),
}


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("what", TAMPERED)
def test_verification_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method, expected, text = TAMPERED[what]
    rows = [("a", "F", 20, 1), ("a", "M", 20, 2), *(("a", "M", 20, 10 + pid) for pid in range(7))]
    rows += [("b", "F", 20, 30 + pid) for pid in range(8)] + [("b", "M", 20, 50 + pid) for pid in range(5)]
    made = Made(shared_db, tmp_path, rows, protect=PROTECT[method], **TWO)
    module = controlled_rounding if method == "round" else cell_key
    verify = module.verify_source

    def tampered(scratch: Any, shape: Any, stage: Any, kept: Any, release: str) -> None:
        verify(scratch, shape, stage, kept, release)
        stem = kept.cells.name.removesuffix("_cells")
        parts = ("noise", "chances", "witness")
        names = {part: f'"_sqlanon"."{stem}_{part}"' for part in parts}
        scratch.engine.execute(text.format(physical=f'"_sqlanon"."{stem}"', **names))

    monkeypatch.setattr(module, "verify_source", tampered)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        made.run()
    assert shared_db.releases(made.name) == ()


@pytest.mark.thorough
def test_what_a_method_cannot_protect_is_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("rows", 30, 3), protect=PROTECT["cell_key"], **TWO)
    with pytest.raises(PolicyError, match="a person has several rows"):
        made.run()
    names = [(f"r{region}", f"s{sex}", 10 * age) for region, sex, age in NONE]
    counts = [(*codes, n) for codes, n in zip(names, NONE.values(), strict=True)]
    rows = [
        (region, sex, age, pid) for at, (region, sex, age, n) in enumerate(counts) for pid in range(9 * at, 9 * at + n)
    ]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}, sex: {}, age: {}}",
        protect="{persons: 3, method: round, base: 5}",
    )
    with pytest.raises(InfeasibleError, match="there is no rounding to multiples of 5"):
        made.run()
    assert shared_db.releases(made.name) == ()
