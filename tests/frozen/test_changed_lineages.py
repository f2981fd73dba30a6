"""Lineages that somebody changed, keys that identify nothing, and what needs a new lineage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.release.frozen.next_version import NextVersion, look
from sqlanon.spec import RefreshSpec
from tests.frozen.changes import SAYS, TAMPERED
from tests.frozen.wards import begun, classes, hashed, lineage_table, seen, write


def test_what_needs_a_new_lineage(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    stronger = replace(spec, privacy=replace(spec.privacy, k=4))
    for changed in (stronger, replace(spec, format=replace(spec.format, kind="labels"))):
        with pytest.raises(GuardError, match="--new-lineage"):
            shared_db.run(changed)
    leaving = replace(spec, refresh=RefreshSpec())
    with pytest.raises(GuardError, match="--allow-weaker"):
        shared_db.run(leaving)
    with pytest.raises(PolicyError, match="--new-lineage is for"):
        shared_db.run(leaving, new_lineage=True, allow_weaker=True)
    other = replace(spec, method=replace(spec.method, name="mondrian"))
    assert shared_db.run(other).lineage.number == 1
    anew = shared_db.run(stronger, new_lineage=True)
    assert (anew.lineage.number, anew.why[-1]) == (2, "a new lineage begins")
    write(shared_db, table, source)
    shared_db.run(replace(leaving, privacy=stronger.privacy), allow_weaker=True)
    back = shared_db.run(stronger)
    assert (back.lineage.number, back.lineage.published) == (3, 20)


def test_a_key_that_does_not_identify_rows_publishes_nothing(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    rows = seen(shared_db, table)
    for more, said in (
        (f"SELECT * FROM {table} WHERE id = 3", "1 row repeats one"),
        ("VALUES (NULL, 1, 1, 'flu', 0)", "1 row has none"),
    ):
        write(shared_db, table, source)
        shared_db.engine.execute(f"INSERT INTO {table} {more}")
        with pytest.raises(GuardError, match=f"key id does not identify rows: {said}.*correct the source"):
            shared_db.run(spec)
    assert seen(shared_db, table) == rows


def test_repeated_keys_are_found_whatever_the_lineage_has_of_them(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    source |= {100: (1, 1, "flu", 0)}
    write(shared_db, table, source)
    assert shared_db.run(spec).lineage.waiting == 1
    held = set(classes(shared_db, table, [3]).values())
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    gone = next(n for n, of in classes(shared_db, table, source).items() if of in held and n != 3)
    shown = [n for n in source if n not in (3, gone, 100)]
    source.pop(3)
    write(shared_db, table, source)
    shared_db.run(spec)
    rows = seen(shared_db, table)
    cases = {
        "published": ([shown[0]], 1),
        "waiting": ([100], 1),
        "new": ([200] * 3, 2),
        "erased": ([3] * 2, 1),
        "its class left": ([gone], 1),
        "several": ([shown[0], shown[0], shown[1], 100, 3, 3, 200, 200], 6),
    }
    lineage, key = lineage_table(shared_db, table), hashed(shared_db, table, shown[2])
    twice = f"INSERT INTO {lineage} SELECT * FROM {lineage} WHERE _sqlanon_key = '{key}'"
    for lineage_too in (False, True):  # the lineage has a key of the source twice, and the source has others twice
        if lineage_too:
            shared_db.engine.execute(twice)
        for name, (more, repeats) in cases.items():
            write(shared_db, table, source)
            values = ", ".join(f"({number}, 1, 1, 'flu', 0)" for number in more)
            shared_db.engine.execute(f"INSERT INTO {table} VALUES {values}")
            with pytest.raises(GuardError, match=f": {repeats} rows? repeats? one"):
                pytest.fail(f"{name}: {shared_db.run(spec)}")
    assert seen(shared_db, table) == rows


def test_a_lineage_that_is_gone_is_not_made_up(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.engine.execute(f"DROP TABLE {lineage_table(shared_db, table)}")
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with pytest.raises(GuardError, match="is gone"):
        shared_db.run(spec)
    planned = shared_db.plan(spec, new_lineage=True)
    with pytest.raises(PrivacyViolation, match="cannot be compared: the lineage of version 1 is gone"):
        shared_db.run(replace(spec, refresh=replace(spec.refresh, max_failing=20)), new_lineage=True)
    anew = shared_db.run(spec, new_lineage=True)
    assert anew.lineage.number == 2
    for (found,) in (planned.history, anew.history, shared_db.history(table)):
        assert (found.old, found.new, found.failing) == (1, 2, 21)
        assert found.unknown == "the lineage of version 1 is gone"


@pytest.mark.cover
@pytest.mark.parametrize("what", TAMPERED)
def test_verify_refuses_a_lineage_that_was_changed(shared_db: Any, what: str) -> None:
    table, spec, source = begun(shared_db)
    rows = lineage_table(shared_db, table)
    classes = f'{rows[:-1]}_classes"'
    least = min(
        source,
        key=lambda number: shared_db.engine.fetch(
            f"SELECT _sqlanon_class FROM {rows} WHERE _sqlanon_key = '{hashed(shared_db, table, number)}'"
        )[0][0],
    )
    before = seen(shared_db, table)
    shared_db.engine.execute(TAMPERED[what].format(rows=rows, classes=classes, key=hashed(shared_db, table, least)))
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with pytest.raises(PrivacyViolation, match=f"{SAYS[what]}.*nothing was published"):
        shared_db.run(spec)
    assert seen(shared_db, table) == before


def test_releases_list_the_loss_of_all_that_is_published(shared_db: Any) -> None:
    """A mean over the view: of every row the widths of its intervals, as shares of what its own cohort has."""
    table, spec, source = begun(shared_db)
    new = {number: (number % 7, number % 3, ("flu", "hiv")[number % 2], 1) for number in range(100, 108)}
    shown = f"SELECT age_lo, age_hi, dose_lo, dose_hi, ill, cost FROM release.{table}"
    first = Counter(shared_db.engine.fetch(shown))
    write(shared_db, table, source | new)
    shared_db.run(spec)
    widths = 0.0
    for rows, found in ((source, first), (new, Counter(shared_db.engine.fetch(shown)) - first)):
        ages, doses = ([row[i] for row in rows.values()] for i in (0, 1))
        for (low, high, least, most, *_), n in found.items():
            age, dose = (high - low) / (max(ages) - min(ages)), (most - least) / (max(doses) - min(doses))
            widths += n * (age + dose) / 2
    listed = {row.version: row.gcp for row in shared_db.releases(table)}
    assert listed[2] == pytest.approx(widths / 28)
    del source[0]  # a version without a cohort
    write(shared_db, table, source | new)
    shared_db.run(spec)
    assert shared_db.releases(table)[-1].gcp == pytest.approx(widths / 28)


def test_rows_by_other_keys_are_not_published_a_second_time(shared_db: Any) -> None:
    """The source has none of the published keys: all classes would leave, and the same rows would enter."""
    table, spec, source = begun(shared_db)
    rows = seen(shared_db, table)
    anew = {number + 1000: row for number, row in source.items()}
    write(shared_db, table, anew)
    for does in (shared_db.plan, shared_db.run):
        with pytest.raises(PrivacyViolation, match=r"none of the 20 published rows would stay.*20 rows") as stopped:
            does(spec)
        assert stopped.value.options == ("--new-lineage",)
    assert seen(shared_db, table) == rows
    alike = {number: (*row[:2], "flu", row[3]) for number, row in anew.items()}
    write(shared_db, table, alike)  # which no class can hold: it is not tried
    with pytest.raises(PrivacyViolation, match="none of the 20 published rows would stay"):
        shared_db.run(spec)
    write(shared_db, table, anew | {0: source[0]})
    assert shared_db.run(spec).lineage.entered == 20
    write(shared_db, table, source)
    assert shared_db.run(spec, new_lineage=True).lineage.published == 20


@pytest.mark.thorough
def test_an_audit_says_that_lineages_of_two_secrets_are_not_compared(shared_db: Any) -> None:
    table, spec, _ = begun(shared_db)
    shared_db.engine.execute(f"DELETE FROM _sqlanon.secrets WHERE release = '{table}'")
    said = "the lineage of version 1 was made with another secret"
    planned = shared_db.plan(spec, new_lineage=True)
    anew = shared_db.run(spec, new_lineage=True)
    assert shared_db.run(spec, full=True).version == 3
    first, second = shared_db.history(table)
    for (found,) in (planned.history, anew.history, (first,)):
        assert (found.old, found.new, found.failing, found.unknown) == (1, 2, 20, said)
    assert (second.old, second.new, second.failing, second.unknown) == (2, 3, 0, "")


def test_verify_refuses_two_records_of_a_key_that_nothing_else_counts(shared_db: Any) -> None:
    """It waits for a new lineage, and the source has it no more."""
    table, spec, source = begun(shared_db)
    write(shared_db, table, source | {number: (number, 1, "flu", 1) for number in range(50, 60)})
    assert shared_db.run(spec).lineage.refused == 10
    rows, key = lineage_table(shared_db, table), hashed(shared_db, table, 50)
    shared_db.engine.execute(f"INSERT INTO {rows} SELECT * FROM {rows} WHERE _sqlanon_key = '{key}'")
    write(shared_db, table, source)
    with pytest.raises(PrivacyViolation, match="1 keys have more than one record in the lineage"):
        shared_db.run(spec)


def test_verify_refuses_a_class_that_leaves_too_early(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever decided which classes leave."""

    def leave(looked: NextVersion) -> NextVersion:
        assert looked.compared is not None
        rows, leaving = looked.compared.rows.name, looked.compared.leaving.name
        shared_db.engine.execute(f"INSERT INTO {leaving} SELECT MIN(class) FROM {rows}")
        return looked

    _refused(shared_db, monkeypatch, leave, r"[3-9] rows of the source are in classes that leave")


def test_verify_counts_the_published_rows_of_the_source_itself(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is published is counted as retained, and another one as waiting: the numbers add up."""

    def count(looked: NextVersion) -> NextVersion:
        stays = replace(looked.stays, retained=looked.stays.retained + 1)
        return replace(looked, stays=stays, after=replace(looked.after, refused=looked.after.refused + 1))

    _refused(shared_db, monkeypatch, count, "20 rows of the source are published, and 19 were counted")


def _refused(db: Any, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[NextVersion], NextVersion], said: str) -> None:
    """A run whose outlook is wrong publishes nothing."""
    table, spec, source = begun(db)
    rows = seen(db, table)
    write(db, table, source | {99: (1, 1, "flu", 1)})
    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.release.versions.lineage.look", lambda *given, **more: wrong(look(*given, **more)))
        with pytest.raises(PrivacyViolation, match=said):
            db.run(spec)
    assert seen(db, table) == rows
    assert db.run(spec).lineage.waiting == 1
