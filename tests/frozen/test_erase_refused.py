"""Erasures that stop, or that later runs keep to: what is said, what stays, and what nothing keeps."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.spec import RefreshSpec
from tests.frozen.changes import SAYS, TAMPERED
from tests.frozen.wards import begun, hashed, hashes, lineage_table, seen, spec_of, ward, write

FRESH = count()


@pytest.mark.cover
@pytest.mark.parametrize("what", [name for name in TAMPERED if "twice" not in name and "own version" not in name])
def test_an_erasure_does_not_publish_a_lineage_that_was_changed(shared_db: Any, what: str) -> None:
    """It empties the cells of classes that leave; those that stay are compared with what readers have before."""
    table, spec, source = begun(shared_db)
    rows = lineage_table(shared_db, table)
    keys = hashes(shared_db, table, source)
    of = dict(shared_db.engine.fetch(f"SELECT _sqlanon_key, _sqlanon_class FROM {rows}"))
    least = min(source, key=lambda number: of[keys[number]])
    other = max(source, key=lambda number: of[keys[number]])
    before = seen(shared_db, table)
    change = TAMPERED[what].format(rows=rows, classes=f'{rows[:-1]}_classes"', key=keys[least])
    shared_db.engine.execute(change)
    said = f"{SAYS[what]}|does not say what version 1 published"
    with pytest.raises(PrivacyViolation, match=f"({said}).*nothing was published"):
        shared_db.erase(spec, [{"id": other}], confirmed=True)
    assert seen(shared_db, table) == before


def test_an_erasure_drops_what_a_run_kept_for_the_search_of_an_error(shared_db: Any) -> None:
    """These tables hold rows of the source."""
    _, spec, _ = begun(shared_db)
    kept = shared_db.run(spec, full=True, keep_scratch=True).scratch
    listed = (
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_sqlanon' AND table_name LIKE "
        "'scratch\\__%' ESCAPE '\\'"
    )
    assert shared_db.engine.fetch(listed) == [(len(kept),)]
    shared_db.erase(spec, [{"id": 3}])
    assert shared_db.engine.fetch(listed) == [(len(kept),)]
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert shared_db.engine.fetch(listed) == [(0,)]


@pytest.mark.thorough
def test_a_refused_erasure_says_that_the_rows_stay_published(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    stronger = replace(spec, privacy=replace(spec.privacy, k=4))
    for confirmed in (False, True):
        with pytest.raises(GuardError, match=r"Nothing was erased: what is published of these keys stays") as refused:
            shared_db.erase(stronger, [{"id": 3}], confirmed=confirmed)
        assert refused.value.options == ("--new-lineage",)
    assert sum(seen(shared_db, table).values()) == len(source)
    assert shared_db.erase(spec, [{"id": 3}], confirmed=True).done
    assert shared_db.run(stronger, new_lineage=True).lineage.published == len(source) - 1


def test_erase_says_before_that_nothing_would_stay(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    everybody = [{"id": number} for number in source]
    assert shared_db.erase(spec, everybody).stays == 0
    some = shared_db.erase(spec, everybody[:1])
    assert some.stays == len(source) - some.rows > 0
    shared_db.unpublish(table)
    assert shared_db.erase(spec, everybody).stays is None


def test_a_new_lineage_of_which_all_rows_are_erased(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.unpublish(table)
    shared_db.erase(spec, [{"id": number} for number in source], confirmed=True)
    for does in (shared_db.plan, shared_db.run):
        with pytest.raises(InfeasibleError, match="all 20 rows of the source have keys that were erased"):
            does(spec, new_lineage=True)


@pytest.mark.thorough
@pytest.mark.parametrize("withdrawn", [False, True])
def test_histories_of_versions_without_a_lineage_keep_nothing_of_erased_classes(
    shared_db: Any, withdrawn: bool
) -> None:
    """Of versions before the policy was frozen, and after it was for a time not."""
    table, spec, source = begun(shared_db)
    full = replace(spec, refresh=RefreshSpec("full", keep=spec.refresh.keep))
    shared_db.run(full, allow_weaker=True)
    for asked, said in ((full, "the policy has no refresh"), (spec, "the newest version is in no lineage")):
        with pytest.raises(PolicyError, match=rf"{said}.*delete the rows.*and run; then erase the keys"):
            shared_db.erase(asked, [{"id": 3}], confirmed=True)
    assert shared_db.run(spec).lineage.number == 2
    (name,) = shared_db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' "
        f"AND table_name LIKE '{table}%\\_v2\\_history' ESCAPE '\\'"
    )
    history = f'_sqlanon."{name[0]}"'
    rows = dict(shared_db.engine.fetch(f"SELECT person, class FROM {history}"))
    key = hashed(shared_db, table, 3)
    if withdrawn:
        shared_db.unpublish(table)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    left = dict(shared_db.engine.fetch(f"SELECT person, class FROM {history}"))
    assert left == {person: of for person, of in rows.items() if of != rows[key]}
    assert 0 < len(left) < len(source)
    assert shared_db.history(table)


def test_a_history_keeps_nothing_of_erased_keys_that_its_version_left_out(shared_db: Any) -> None:
    """Those have no class there."""
    table = f"stays_{next(FRESH)}"
    source = {number: (5, 1, ("flu", "cold", "hiv")[number % 3], 1) for number in range(20)}
    write(shared_db, table, source | {50: (75, 1, "flu", 1)})
    spec = spec_of(table, l=None)
    method: dict[str, Any] = {"method": {"name": "fulldomain", "search": "global"}}
    method["hierarchies"] = {"age": {"steps": [10, 20, 40]}, "dose": {"steps": [2, 4]}}
    left = spec_of(table, l=None, suppression={"limit": "2/20", "rows": "left_out"}, **method)
    assert shared_db.run(replace(left, refresh=RefreshSpec("full"))).left_out == 1
    shared_db.run(spec, allow_weaker=True)
    key = hashed(shared_db, table, 50)
    (name,) = shared_db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' "
        f"AND table_name LIKE '{table}%\\_v1\\_history' ESCAPE '\\'"
    )
    kept = f"SELECT COUNT(*) FROM _sqlanon.\"{name[0]}\" WHERE person = '{key}'"
    assert shared_db.engine.fetch(kept) == [(1,)]
    shared_db.erase(spec, [{"id": 50}], confirmed=True)
    assert shared_db.engine.fetch(kept) == [(0,)]


TABLES = """
version: 1
releases:
  - name: together_{table}
    person: id
    rest: drop
    suppression: {{limit: 1, rows: left_out}}
    tables:
      - {{source: {table}, name: {table}, publish: release.{table}, privacy: {{k: 2}}, columns: {columns}{key}}}
      - {{source: {other}, name: {other}, publish: release.{other}, privacy: {{k: 2}}, \
columns: {{id: pseudonym, age: quasi}}}}
"""


def test_tables_that_are_published_together_have_no_erased_key(shared_db: Any) -> None:
    """A table of several has the name of a release that was frozen before."""
    table, source = f"stays_{next(FRESH)}", ward(random.Random(1), 20)
    spec, other = spec_of(table, name=f"together_{table}.{table}"), f"visits_{table}"
    for name in (table, other):
        write(shared_db, name, source)
    shared_db.run(spec)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    rows = seen(shared_db, table)
    columns = "{id: pseudonym, age: quasi, dose: quasi, ill: {role: sensitive, accept_unique: true}}"

    def together(key: str) -> Any:
        text = TABLES.format(table=table, other=other, columns=columns, key=key)
        return shared_db.run_tables(policy.loads(text, {}).releases, allow_weaker=True)

    with pytest.raises(GuardError, match="name the key"):
        together("")
    assert seen(shared_db, table) == rows
    with pytest.raises(GuardError, match="keys of 1 row of the source were erased"):
        together(", key: [id]")
    write(shared_db, table, {number: row for number, row in source.items() if number != 3})
    assert {one.outcome for one in together(", key: [id]")} == {"published"}


@pytest.mark.parametrize(("other", "withdrawn"), [("secret", False), ("type", False), ("type", True)])
def test_of_a_lineage_in_which_nobody_finds_a_key_no_cell_is_kept(shared_db: Any, other: str, withdrawn: bool) -> None:
    table, spec, _ = begun(shared_db)
    if other == "secret":
        shared_db.engine.execute(f"DELETE FROM _sqlanon.secrets WHERE release = '{table}'")
    else:
        shared_db.engine.execute(f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT")
    shared_db.run(spec, new_lineage=True)
    if withdrawn:
        shared_db.unpublish(table)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    first, second = (lineage_table(shared_db, table, number) for number in (1, 2))
    for rows, some in ((first, False), (second, True)):
        classes = f'{rows[:-1]}_classes"'
        for what in (
            f"ill), COUNT(cost), COUNT(_sqlanon_mark) FROM {rows}",
            f"age_lo), COUNT(dose_hi), COUNT(age_hi) FROM {classes}",
        ):
            assert {n > 0 for n in shared_db.engine.fetch(f"SELECT COUNT({what}")[0]} == {some}
    with pytest.raises(PolicyError):
        shared_db.rollback(table, 1)
    assert shared_db.run(spec).outcome == ("published" if withdrawn else "unchanged")
    assert [bool(one.unknown) for one in shared_db.history(table)] == [True, False]


def test_of_erased_keys_that_were_never_published_nothing_is_kept(shared_db: Any) -> None:
    """Those that wait for their cohort, and those of a cohort that was refused."""
    table, spec, source = begun(shared_db)
    alike = {number: (number, 1, "flu", 1) for number in range(50, 58)}
    write(shared_db, table, source | alike)
    assert shared_db.run(spec).lineage.refused == 8
    write(shared_db, table, source | alike | {70: (1, 1, "flu", 1)})
    assert shared_db.run(spec).lineage.waiting == 1
    rows = seen(shared_db, table)
    done = shared_db.erase(spec, [{"id": 50}, {"id": 70}], confirmed=True)
    assert (done.waiting, done.rows) == (2, 0)
    keys = ", ".join(f"'{hashed(shared_db, table, number)}'" for number in (50, 51, 70))
    of = f"SELECT COUNT(*) FROM {lineage_table(shared_db, table)} WHERE _sqlanon_key IN ({keys})"
    assert shared_db.engine.fetch(of) == [(1,)]
    found = shared_db.run(spec, full=True).lineage
    assert (found.refused, found.waiting, found.erased, seen(shared_db, table)) == (7, 0, 2, rows)
