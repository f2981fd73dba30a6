"""Queries over noisy statistics: without noise they have the answers of the source, and they say where noise ends."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.query.answer import NoiseInterval
from sqlanon.query.refusal import RefusedQueryError
from sqlanon.release.versions import noisy
from tests.contract.noisy_releases import Made, Rows, stays

pytest.importorskip("opendp")

WHOLE: dict[str, Any] = {
    "tables": "[{by: [region, sex]}, {by: [sex, age]}]",
    "groups": "{region: [north, south, it's], sex: [F, M], age: {bins: [0, 20, 40, 60]}}",
    "measures": "{n: rows, people: persons, total: {sum: cost, range: [0, 50]}, mean: {mean: cost, range: [0, 50]}}",
    "contributions": "{groups: 2, rows: 6}",
}
"""Every row is counted."""

ANSWERED = (
    "SELECT count(*) AS n FROM {t}",
    "SELECT count(*) AS n, sum(cost) AS s FROM {t} WHERE region = 'north'",
    "SELECT region, count(*) AS n, avg(cost) AS m FROM {t} GROUP BY region",
    "SELECT region, sex, count(*) AS n, sum(cost) AS s FROM {t} GROUP BY region, sex",
    "SELECT sex, count(*) FILTER (WHERE region <> 'north') AS n FROM {t} GROUP BY sex",
    "SELECT count(*) AS n FROM {t} WHERE region IN ('south', 'it''s') OR sex = 'F'",
    "SELECT upper(region) AS r, sum(cost) AS s FROM {t} WHERE NOT sex = 'M' GROUP BY upper(region)",
    "SELECT count(*) AS n FROM {t} WHERE age < 20 OR age >= 40",
    "SELECT sex, count(*) AS n FROM {t} WHERE age BETWEEN 20 AND 39 GROUP BY sex",
    "SELECT count(*) AS n FROM {t} WHERE NOT 20 > age AND sex = 'M'",
    "SELECT count(*) AS n FROM {t} WHERE age > 19.5 AND age <= 59",
    "SELECT region, count(*) AS n FROM {t} GROUP BY region ORDER BY n DESC LIMIT 2",
    "SELECT region AS a, count(*) AS n FROM {t} GROUP BY region UNION ALL SELECT sex, count(*) FROM {t} GROUP BY sex",
)

CONDITIONS = {
    "region": ("region = 'north'", "region = 'south'", "region = 'it''s'"),
    "sex": ("sex = 'F'", "sex = 'M'"),
    "age": ("age >= 0 AND age < 20", "age >= 20 AND age < 40", "age >= 40 AND age < 60"),
}

REFUSED = {
    "SELECT count(*) AS n FROM {t} WHERE age < 30": "the ends 0, 20, 40, 60",
    "SELECT count(*) AS n FROM {t} WHERE age + 0 < 20": "compare it with their ends",
    "SELECT count(*) AS n FROM {t} WHERE age < 20 AND region = 'north'": "no table of the release has these columns",
    "SELECT count(*) AS n FROM {t} WHERE region IS NOT NULL": "or not declared, are in no group",
    "SELECT sum(people) AS n FROM {t} WHERE sex = 'F' OR region = 'north'": "numbers of persons do not add up",
    "SELECT avg(cost) AS n FROM {t} WHERE sex = 'F' OR region = 'north'": "means do not add up",
    "SELECT count(cost) AS n FROM {t}": "it has count",
    "SELECT count(DISTINCT sex) AS n FROM {t}": "it has count",
    "SELECT max(cost) AS n FROM {t}": "it has count",
    "SELECT n + 1 AS n FROM {t} GROUP BY n + 1": "is a number of groups",
    "SELECT region, count(*) AS n FROM {t} GROUP BY region HAVING count(*) > 5": "noise would decide",
    "SELECT count(*) AS n FROM {t} WHERE cost > 5": "is a number of groups",
    "SELECT count(*) AS n FROM (SELECT DISTINCT region FROM {t}) AS q": "groups of groups",
}


def declared_stays(seed: object, persons: int = 12) -> Rows:
    """At most two groups of each table a person, all declared, and values inside of the range."""
    draw = random.Random(str(seed))
    rows: Rows = []
    for pid in range(persons):
        region, age = draw.choice(["north", "south", "it's"]), draw.choice([5, 25, 45])
        rows += [(pid, region, draw.choice("FM"), age, float(draw.randrange(50))) for _ in range(1 + draw.randrange(3))]
    return rows


@pytest.fixture(scope="module")
def published(shared_db: Any, tmp_path_factory: pytest.TempPathFactory) -> Made:
    made = Made(shared_db, tmp_path_factory.mktemp("noisy"), declared_stays("query"), **WHOLE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(noisy, "add_noise", lambda exact, *_: exact)
        patched.setattr(noisy, "try_law", lambda *_: None)
        made.run()
    return made


@pytest.mark.every_engine
@pytest.mark.parametrize("sql", ANSWERED)
def test_without_noise_answers_are_those_of_the_source(sql: str, published: Made) -> None:
    answer = published.db.query(sql.format(t=f"release.{published.view}"))
    rows = published.db.engine.fetch(sql.format(t=published.source))
    found = [tuple(row[name] for name in answer.columns) for row in answer.rows]
    assert all(isinstance(cell.interval, NoiseInterval) for row in found for cell in row if hasattr(cell, "interval"))
    seen = [tuple(getattr(cell, "estimate", cell) for cell in row) for row in found]
    assert len(seen) == len(rows)
    for own, other in zip(sorted(seen, key=repr), sorted(rows, key=repr), strict=True):
        assert [one for one in own if isinstance(one, str)] == [one for one in other if isinstance(one, str)]
        numbers = [one for one in own if not isinstance(one, str)]
        assert numbers == pytest.approx([float(one) for one in other if not isinstance(one, str)], abs=1e-2)


def test_quantiles_are_those_of_published_groups(shared_db: Any, tmp_path: Path) -> None:
    measures = "{n: rows, paid: {quantiles: [0.5, 0.9], of: cost, range: [0, 50], steps: 10}}"
    made = Made(shared_db, tmp_path, declared_stays("quantiles"), measures=measures)
    made.run()
    view = f"release.{made.view}"
    median = "percentile_cont(0.5) WITHIN GROUP (ORDER BY cost)"
    answer = shared_db.query(f"SELECT region, {median} AS m FROM {view} GROUP BY region")
    known = {row["region"]: row for row in made.rows() if row["level"] == 1}
    for row in answer.rows:
        own = known[row["region"]]
        ends = (row["m"].estimate, row["m"].interval.low, row["m"].interval.high)
        assert ends == tuple(own[f"paid_p50{end}"] for end in ("", "_low", "_high"))
    for sql, text in (
        (f"SELECT percentile_cont(0.4) WITHIN GROUP (ORDER BY cost) AS m FROM {view}", "it has"),
        (f"SELECT {median} AS m FROM {view} WHERE region <> 'north'", "quantiles do not add up"),
        (f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS m FROM {view}", "age"),
    ):
        with pytest.raises(UnsupportedError, match=text):
            shared_db.query(sql)


def test_groups_of_intervals_are_listed_as_they_are_published(published: Made) -> None:
    answer = published.db.query(f"SELECT age, sum(n) AS n FROM release.{published.view} GROUP BY age")
    assert [row["age"] for row in answer.rows] == ["[0, 20)", "[20, 40)", "[40, 60)"]
    assert (answer.unlisted_groups, answer.certain) == (True, (False,) * 3)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_has_no_answer_is_refused(sql: str, published: Made) -> None:
    with pytest.raises(RefusedQueryError, match=REFUSED[sql]):
        published.db.query(sql.format(t=f"release.{published.view}"))


def test_an_answer_has_an_interval_and_no_bounds(shared_db: Any, tmp_path: Path) -> None:
    made = Made(
        shared_db,
        tmp_path,
        stays("interval"),
        measures="{n: rows, people: persons}",
        groups="{sex: [F, M]}",
        tables="[{by: [sex]}]",
    )
    made.run()
    view = f"release.{made.view}"
    rows = {row["sex"]: row for row in made.rows()}
    for sex, row in rows.items():
        where = "" if sex is None else f" WHERE sex = '{sex}'"
        (found,) = shared_db.query(f"SELECT count(*) AS n, sum(people) AS p FROM {view}{where}").rows
        for name, own in (("n", "n"), ("p", "people")):
            cell = found[name]
            assert (cell.low, cell.high, cell.tight, cell.exact) == (None, None, False, False)
            ends = (cell.estimate, cell.interval.low, cell.interval.high, cell.interval.level)
            assert ends == pytest.approx((row[own], row[f"{own}_low"], row[f"{own}_high"], 0.95), abs=0.51)
    wide, narrow = (
        shared_db.query(f"SELECT count(*) AS n FROM {view}", interval=level).rows[0]["n"].interval
        for level in (0.999, 0.95)
    )
    assert (wide.level, wide.high > narrow.high) == (0.999, True)
    (none,) = shared_db.query(f"SELECT count(*) FILTER (WHERE sex = 'x') AS n FROM {view}").rows
    assert (none["n"].estimate, none["n"].undefined_possible) == (None, True)
    with pytest.raises(UnsupportedError, match="noise has no bounds"):
        shared_db.query(f"SELECT sex, count(*) AS n FROM {view} GROUP BY sex", merge_narrow=20)


@pytest.mark.thorough
def test_an_evaluation_asks_releases_of_rows_the_same(published: Made) -> None:
    db, source = published.db, published.source
    db.anonymize(
        source,
        name=f"rows {source}",
        identifiers="pid",
        quasi=["region", "sex", "age"],
        rest="drop",
        k=3,
        rows_are="events",
        persons="ignored",
        effort="fast",
        publish=f"release.r_{published.view}",
    )
    found = db.evaluate(published.name)
    (beside,) = found.beside
    assert (beside.release, found.noise, found.sound) == (f"rows {source}", True, True)
    for by, family, other in zip((["region", "sex"], ["sex", "age"]), found.families, beside.families, strict=True):
        assert family.name == other.name == ", ".join(by)
        assert (family.errors.cells, family.errors.absolute.mean) == (6, pytest.approx(0, abs=1e-6))
        errors = []
        for values in product(*(CONDITIONS[name] for name in by)):
            sql = f"SELECT count(*) AS n FROM {source} WHERE {' AND '.join(values)}"
            (row,) = db.query(sql, release=f"release.r_{published.view}").rows
            errors.append(abs(row["n"].estimate - db.engine.fetch(sql)[0][0]))
        assert other.errors.absolute.mean == pytest.approx(sum(errors) / len(errors))


def test_reports_say_what_is_promised_and_paid(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("report"))
    made.run()
    owner = shared_db.report(made.name, form="md")
    assert "change the odds about one person by at most e^3 = 20.1" in owner
    assert "No budget pays for these figures" in owner
    readers = shared_db.report(f"release.{made.view}", audience="readers", form="md")
    assert "change the odds about one person by at most e^1 = 2.72" in readers
    assert not {"Accuracy", "What was paid", "error"} & set(readers.replace("\n", " ").split())
