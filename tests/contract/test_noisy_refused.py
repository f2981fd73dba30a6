"""Noisy statistics: what is refused, warned of, planned and audited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.dbt.describe import describe_releases
from sqlanon.errors import DatabaseError, GuardError, InfeasibleError, PolicyError, UnsupportedError
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.catalog.catalog import Catalog
from tests.contract.noisy_releases import Made, stays
from tests.engines import ENGINES

pytest.importorskip("opendp")

REFUSED: dict[str, tuple[type[Exception], dict[str, Any], str]] = {
    "a column that is not there": (PolicyError, {"measures": "{c: {sum: x, range: [0, 1]}}"}, "has no column x"),
    "a sum of texts": (PolicyError, {"measures": "{c: {sum: sex, range: [0, 1]}}"}, "are of numbers"),
    "more than the budget": (PolicyError, {"epsilon": "4"}, "more than the budget"),
    "no range": (PolicyError, {"measures": "{c: {mean: cost}}"}, "never taken from the data"),
    "no groups": (PolicyError, {"tables": "[{by: [age]}]"}, "the groups of age are not declared"),
    "groups of the data": (PolicyError, {"groups": '{region: "steps:5", sex: [F, M]}'}, "never taken from the data"),
    "a mark without persons": (PolicyError, {"more": "show: {persons: 3}"}, "no measure counts persons"),
    "Gaussian noise without a delta": (
        PolicyError,
        {"more": "noise: gaussian", "budget": "epsilon: 3"},
        "needs a delta",
    ),
    "a large delta": (PolicyError, {"budget": "epsilon: 3, delta: 0.01"}, "too large"),
    "a delta above one in the persons that may be there": (
        PolicyError,
        {"budget": "epsilon: 3, delta: 2e-6"},
        "above one in 1,000,000 persons",
    ),
    "a delta above one in the declared persons": (
        PolicyError,
        {"budget": "epsilon: 3, delta: 0.001, most_persons: 1001"},
        "above one in 1,001 persons",
    ),
    "no contributions": (PolicyError, {"contributions": "{groups: 2}"}, "rows: is missing"),
    "too little epsilon": (
        PolicyError,
        {"epsilon": "1/1000000000", "measures": "{c: {sum: cost, range: [0, 1000000000]}}"},
        "too small for what is measured",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_is_spent_by_what_is_refused(what: str, shared_db: Any, tmp_path: Path) -> None:
    error, asked, text = REFUSED[what]
    made = Made(shared_db, tmp_path, stays("refused"), **asked)
    with pytest.raises(error, match=text) as raised:
        made.run()
    assert len(raised.value.problems) == 1
    assert made.budget not in Ledger(shared_db.engine).read()


def test_a_view_as_source_is_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("view"))
    table = made.source
    made.source = f"w_{table}"
    shared_db.engine.execute(f"CREATE VIEW {made.source} AS SELECT * FROM {table}")
    made.write()
    with pytest.raises(PolicyError, match="is a view: it may rank persons"):
        made.run()
    assert made.budget not in Ledger(shared_db.engine).read()


@pytest.mark.every_engine
def test_columns_that_the_database_refuses_cost_nothing(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("names"), measures="{order: rows}", more="kept: false")
    assert made.run().noisy.spent == pytest.approx(1, rel=1e-3)
    spent = Ledger(shared_db.engine).read()[made.budget]
    long = "n" * 70  # PostgreSQL cuts names, so that the three columns of a measure have one
    made.write(measures=f"{{{long}: rows}}")
    if shared_db.engine.dialect == "postgres":
        with pytest.raises(DatabaseError):
            made.run(spend=True)
        assert Ledger(shared_db.engine).read()[made.budget] == spent


@pytest.mark.parametrize("kind", ["a view", "a table of persons' rows"])
def test_a_hierarchy_table_of_the_data_is_refused(kind: str, shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("groups"))
    listed = made.source
    if kind == "a view":
        listed = f"groups_{made.source}"
        query = f"SELECT DISTINCT region, '*' AS root FROM {made.source} WHERE region IS NOT NULL"
        shared_db.engine.execute(f"CREATE VIEW {listed} AS {query}")
    made.write(groups=f"{{region: {{hierarchy: {{table: {listed}}}}}, sex: [F, M]}}")
    with pytest.raises(PolicyError, match=f"is {kind}.*: groups that follow from the data"):
        made.run()
    assert made.budget not in Ledger(shared_db.engine).read()


def test_keys_of_rows_and_a_foreign_source_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("keys"))
    text = made.file.read_text()
    made.file.write_text(text.replace("    every:", "    privacy: {k: 5}\n    every:"))
    with pytest.raises(PolicyError, match="privacy is about rows and their classes") as raised:
        made.run()
    assert len(raised.value.problems) == 1
    made.file.write_text(text.replace(f"source: {made.source}", "source: others"))
    with pytest.raises(PolicyError, match="is no table of the budget"):
        made.run()
    made.file.write_text(
        text.replace("releases:", f"  - {{name: b, persons: {{{made.source}: pid}}, epsilon: 1}}\nreleases:")
    )
    with pytest.raises(PolicyError, match="two budgets of the same persons are no bound"):
        made.run()


@pytest.mark.thorough
def test_another_budget_of_the_same_table_is_refused_by_the_ledger(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("two"), anchor=False)
    assert any("has no anchor" in one for one in made.run().warnings)
    made.budget = f"again {made.budget}"
    made.write(anchor=False)
    with pytest.raises(PolicyError, match="is a table of the budget"):
        made.run(spend=True)


@pytest.mark.thorough
def test_a_table_that_was_not_there_when_its_budget_was_opened_is_recognized(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("later"), anchor=False)
    later = f"later_{made.source}"
    made.file.write_text(made.file.read_text().replace(": pid}", f": pid, {later}: pid}}"))
    made.run()
    shared_db.engine.execute(f"CREATE TABLE {later} AS SELECT * FROM {made.source}")
    made.source, made.budget, made.name, made.view = later, f"later {made.budget}", later, f"v_{later}"
    made.write(anchor=False)
    with pytest.raises(PolicyError, match="is a table of the budget"):
        made.run()


@pytest.mark.thorough
def test_other_persons_of_a_table_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("whose"))
    made.run()
    made.file.write_text(made.file.read_text().replace(": pid}", ": [pid, age]}"))
    with pytest.raises(PolicyError, match="epsilon bounds nothing where persons change"):
        made.run(spend=True, allow_weaker=True)
    assert made.states() == ["published"]


@pytest.mark.thorough
def test_two_releases_share_a_budget(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("share"))
    first = made.run()
    made.name, made.view = f"second {made.name}", f"s_{made.view}"
    made.write()
    second = made.run()
    assert first.noisy.spent < second.noisy.spent <= 2
    made.name, made.view = f"third {made.name}", f"t_{made.view}"
    made.write(epsilon="3")
    with pytest.raises(InfeasibleError):
        made.run()


@pytest.mark.thorough
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_a_key_that_is_compared_without_case_is_refused(collation: str, connect: Any, tmp_path: Path) -> None:
    """The same person in two spellings would have two hashes, and arrive in two nights for one charge."""
    db = connect(ENGINES[0])
    made = Made(db, tmp_path, stays("case"), measures="{people: persons}", more="running: {nights: 3}")
    db.engine.execute(f"ALTER TABLE {made.source} ALTER COLUMN pid TYPE VARCHAR COLLATE {collation}")
    for call in (made.run, lambda: db.plan(made.spec)):
        with pytest.raises(PolicyError, match="column pid says whose row it is, and its collation takes different"):
            call()
    assert made.budget not in Ledger(db.engine).read()


@pytest.mark.thorough
def test_groups_that_the_source_compares_without_case_are_not_asked_by_bytes(connect: Any, tmp_path: Path) -> None:
    db = connect(ENGINES[0])
    made = Made(db, tmp_path, stays("case"))
    db.engine.execute(f"ALTER TABLE {made.source} ALTER COLUMN sex TYPE VARCHAR COLLATE NOCASE")
    made.run()
    for condition in ("sex = 'f'", "sex < 'a'"):
        with pytest.raises(UnsupportedError, match="column sex: the source compares it by a collation"):
            db.query(f"SELECT count(*) FROM release.{made.view} WHERE {condition}")
    db.query(f"SELECT count(*) FROM release.{made.view} WHERE region = 'north'")


@pytest.mark.thorough
def test_rows_of_the_same_persons_are_warned_of_in_the_words_of_the_page(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("beside", 60))
    shared_db.anonymize(
        made.source,
        name=f"rows of {made.source}",
        identifiers="pid",
        quasi=["age"],
        rest="drop",
        k=3,
        rows_are="events",
        persons="ignored",
        effort="fast",
        publish=f"release.r_{made.view}",
    )
    (warned,) = [one for one in made.run().warnings if "the same persons" in one]
    assert "change the odds about one person by at most e^3 (but for delta), whatever a reader already knows" in warned
    assert warned.endswith(f"what rows of {made.source} reveals is not bounded")


@pytest.mark.thorough
def test_commands_about_rows_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("rows"))
    made.run()
    for call in (
        lambda: shared_db.attack(made.name),
        lambda: shared_db.attack_with_control(made.spec),
        lambda: shared_db.preview(made.spec),
        lambda: shared_db.history(made.name),
        lambda: shared_db.report(made.name, frame="wp216"),
        lambda: shared_db.assess(f"release.{made.view}"),
    ):
        with pytest.raises(UnsupportedError):
            call()
    with pytest.raises(PolicyError, match="exact answers"):
        made.run(keep_scratch=True, spend=True)
    with pytest.raises(GuardError, match="--spend"):
        made.run(full=True, spend=True)
    with pytest.raises(PolicyError, match="no published release of rows"):
        describe_releases(shared_db, [made.name])


def test_plan_says_what_it_costs_and_to_the_owner_what_bounding_cuts(shared_db: Any, tmp_path: Path) -> None:
    rows = [(pid, "north", "F", 5, 5.0) for pid in range(10) for _ in range(4)]
    made = Made(shared_db, tmp_path, rows)
    report = shared_db.plan(made.spec)
    assert "a version costs epsilon" in report.notes[0]
    assert "of 3 would be spent then, and it suffices for" in report.notes[0]
    assert "region, sex: 50.0% of the rows in declared groups are counted" in report.notes[-1]
    assert report.stages == (
        f"{made.name}: charge the budget {made.budget} with epsilon 1",
        f"{made.name}: bound each person's rows, answer 1 table, draw noise",
        f"write, verify and publish version 1 of {made.name}",
    )
    assert made.budget not in Ledger(shared_db.engine).read()
    made.run()
    assert shared_db.plan(made.spec).state == "unchanged"
    made.write(epsilon="3")
    with pytest.raises(InfeasibleError, match="does not suffice"):
        shared_db.plan(made.spec)


@pytest.mark.thorough
def test_a_delta_above_one_in_the_number_of_persons_is_refused_by_plan(shared_db: Any, tmp_path: Path) -> None:
    rows = [(pid, "north", "F", 5, 5.0) for pid in range(1001)]
    made = Made(shared_db, tmp_path, rows, budget="epsilon: 3, delta: 0.001, most_persons: 1000", anchor=False)
    with pytest.raises(PolicyError, match="above one in the number of persons"):
        shared_db.plan(made.spec)


@pytest.mark.thorough
def test_an_audit_checks_the_ledger_and_the_table(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("audit"))
    made.run()
    report = shared_db.audit(f"release.{made.view}", spec=made.spec)
    assert (report.satisfied, report.rows) == (True, len(made.rows()))
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    shared_db.engine.execute(f'UPDATE "_sqlanon"."{entry.physical}" SET n = n + 1 WHERE level = 0')
    assert not shared_db.audit(f"release.{made.view}").satisfied
    with pytest.raises(PolicyError, match="name no columns"):
        shared_db.audit(f"release.{made.view}", quasi=["region"])


@pytest.mark.thorough
def test_the_report_of_a_budget_lists_every_charge(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("listed"))
    budget = made.spec.noisy.budget  # type: ignore[union-attr]
    (before,) = shared_db.budgets([budget])
    assert (before.spent, before.left, before.versions) == (0, 3, ())
    made.run()
    (after,) = shared_db.budgets([budget], made.budget)
    assert [(one.release, one.version, one.state) for one in after.versions] == [(made.name, 1, "published")]
    assert after.spent + after.left == pytest.approx(3)
    with pytest.raises(PolicyError, match="is no budget of the policy"):
        shared_db.budgets([budget], "others")
