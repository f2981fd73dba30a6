"""A release with all four extensions from plan to rollback on both engines, and what verification finds of bad ones."""

from __future__ import annotations

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from sqlanon.declared import FORMATS
from sqlanon.methods.base import Assignment, Context
from sqlanon.policy import release
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.sqltext import add_template
from sqlanon.workload_spec import GeneratorSpec, WorkloadSpec
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.extend.ends import DECLARED, Ends
from tests.extend.installed import installed
from tests.extend.leading import Leading

ROWS, K, SHARE = 60, 4, Fraction(1, 2)

FEW_QUERIES = WorkloadSpec(
    generators=(
        GeneratorSpec("ranges", "ranges", queries=4, selectivity=Fraction(1, 5)),
        GeneratorSpec("datacube 1", "datacube", level=1),
    )
)


@pytest.fixture(autouse=True)
def extended() -> Iterator[None]:
    """The extensions are there for a test."""
    with installed():
        yield


def rows_of(count: int) -> list[tuple[Any, ...]]:
    rng = random.Random(7)
    return [(rng.randrange(20, 80), rng.randrange(5) or None, rng.choice("abcd"), i) for i in range(count)]


@pytest.fixture
def table(shared_db: Any) -> str:
    name = f"walk_{uuid.uuid4().hex[:10]}"
    types = {"age": "INTEGER", "visits": "INTEGER", "illness": "TEXT", "id": "INTEGER"}
    create_table(shared_db, name, types, rows_of(ROWS))
    return name


def asked(table: str, **more: Any) -> Any:
    given = {
        "source": table,
        "name": table,
        "quasi": ["age", "visits"],
        "sensitive": "illness",
        "identifiers": "id",
        "key": "id",
        "k": K,
        "requirements": {"max_share": "1/2"},
        "method": "leading",
        "format": "ends",
    }
    return release(**{**given, **more})


def classes_of(rows: list[dict[str, Any]]) -> list[Counter[Any]]:
    """The illnesses of every group of equal released ends, by brute force."""
    groups: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        groups[tuple(value for name, value in row.items() if name != "illness")][row["illness"]] += 1
    return list(groups.values())


@pytest.mark.thorough
def test_the_whole_walk(shared_db: Any, table: str) -> None:
    spec = asked(table)
    plan = shared_db.plan(spec)
    assert (plan.method, plan.format, plan.state) == ("leading", "ends", "first release")
    assert [one.publishes for one in plan.columns if one.role == "quasi"] == [
        ("age_from", "age_to"),
        ("visits_from", "visits_to", "visits_null"),
    ]

    first = shared_db.run(spec)
    published = read_table(shared_db, ("release", table))
    classes = classes_of(published)
    assert Counter(row["illness"] for row in published) == Counter(row[2] for row in rows_of(ROWS))
    assert min(one.total() for one in classes) >= K
    assert max(Fraction(max(one.values()), one.total()) for one in classes) <= SHARE
    assert first.verified
    assert first.classes == len(classes) > 1
    assert [one.name for one in first.requirements] == ["k", "max_share"]
    crowd = Fraction(sum(one.total() ** 2 for one in classes), ROWS)
    assert first.loss.more == {"crowd": pytest.approx(float(crowd))}

    audit = shared_db.audit(f"release.{table}", spec=spec)
    assert (audit.k, audit.classes) == (first.min_class, first.classes)
    assert all(one.satisfied for one in audit.requirements)
    young = f"SELECT count(*) AS n FROM {table} WHERE age < 40"
    cell = shared_db.query(young).rows[0]["n"]
    truth = sum(row[0] < 40 for row in rows_of(ROWS))
    assert cell.low == sum(row["age_to"] < 40 for row in published) <= truth
    assert cell.high == sum(row["age_from"] < 40 for row in published) >= truth
    assert cell.low < cell.high
    evaluated = shared_db.evaluate(table, FEW_QUERIES)
    assert evaluated.sound
    assert evaluated.rows == ROWS
    assert [cube.kld > 0 for cube in evaluated.cubes] == [True] * len(evaluated.cubes) != []
    entry = Catalog(shared_db.engine).entries(table)[-1]
    assert (entry.policy["format"]["kind"], entry.policy["privacy"]["max_share"]) == ("ends", "1/2")
    assert shared_db.version(f"{table}@1").report["loss"]["more"] == first.loss.more

    assert shared_db.run(spec).outcome == "unchanged"
    shared_db.engine.execute(f"INSERT INTO {table} VALUES (30, 1, 'a', 900), (31, 2, 'b', 901)")
    second = shared_db.run(spec)
    assert (second.version, second.replaces, second.rows) == (2, 1, ROWS + 2)
    assert shared_db.history(table)
    assert shared_db.rollback(table).version == 1
    assert classes_of(read_table(shared_db, ("release", table))) == classes


class Careless(Leading):
    """A method that forgets what was asked: every row is a class."""

    def assign(self, context: Context) -> Assignment:
        return super().assign(replace(context, requirements=()))


def test_a_bad_method_is_refused(shared_db: Any, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No method is trusted: verification counts the published rows by itself."""
    declare(monkeypatch, "careless", Careless, like="leading")
    with pytest.raises(sqlanon.PrivacyViolation, match=r"k: asked 4, reached 1; [0-9]+ classes fail"):
        shared_db.run(asked(table, method="careless"))
    assert shared_db.releases(table) == ()


add_template(
    "lying/shown",
    """\
-- name: lying/shown
-- params: shown (table to make), boxes (table), columns (list of {code, domain, names}), codes (none)
-- returns: as ends/shown, and the upper ends are the lower ones
CREATE {{ shown | scratch }} AS
SELECT
    b.class AS _sqlanon_class
{% for c in columns %}
    , l{{ c.code }}.value AS {{ c.names.lo | ident }}
    , l{{ c.code }}.value AS {{ c.names.hi | ident }}
{% if c.names.null %}
    , 'none' AS {{ c.names.null | ident }}
{% endif %}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = b.lo_{{ c.code }}
{% endfor %}
""",
)


class Wrong(Ends):
    """A format that publishes boxes which do not hold their rows."""

    shown = "lying/shown"


class Forgetful(Wrong):
    """Its covering predicate has not seen all rows."""

    def count_covered(self, *arguments: Any) -> tuple[int, int]:
        return super().count_covered(*arguments)[0] - 1, 0


class Lying(Wrong):
    """Its covering predicate says that all is well."""

    def count_covered(self, *arguments: Any) -> tuple[int, int]:
        return super().count_covered(*arguments)[0], 0


@pytest.mark.parametrize("code", [Wrong, Forgetful])
def test_a_wrong_format_is_refused_by_its_own_predicate(
    shared_db: Any, table: str, code: type[Ends], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS._known, "wrong", replace(DECLARED, name="wrong", code=code))
    with pytest.raises(sqlanon.PrivacyViolation, match=r"cover|rows"):
        shared_db.run(asked(table, format="wrong"))
    assert shared_db.releases(table) == ()


def test_a_format_that_lies_in_both_is_not_found_out_but_its_groups_are_judged(
    shared_db: Any, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formats are trusted code: they say what covers.

    Requirements are measured on the published rows whatever they say.
    """
    monkeypatch.setitem(FORMATS._known, "lying", replace(DECLARED, name="lying", code=Lying))
    assert shared_db.run(asked(table, format="lying")).verified
    assert min(one.total() for one in classes_of(read_table(shared_db, ("release", table)))) >= K
    declare(monkeypatch, "careless", Careless, like="leading")
    with pytest.raises(sqlanon.PrivacyViolation, match=r"asked"):
        shared_db.run(asked(table, format="lying", method="careless"))
    shared_db.unpublish(table, purge=True)  # what reads the catalog needs the formats of what is published


def test_two_metrics_do_not_share_an_alias(shared_db: Any, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extension cannot change what another metric sums."""
    from tests.extend.crowd import Crowd

    monkeypatch.setattr(Crowd, "aggregates", lambda *_: {"squares": "CAST(0 AS DOUBLE)"})
    with pytest.raises(sqlanon.PolicyError, match="metric crowd: squares is another aggregate already"):
        shared_db.run(asked(table))
    assert shared_db.releases(table) == ()
