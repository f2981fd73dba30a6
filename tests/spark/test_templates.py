"""Templates as Spark has to read them, and the rows that they number and count."""

from __future__ import annotations

import random

import pytest

import sqlanon
from sqlanon.sqltext import statement, template_names


@pytest.mark.thorough
def test_templates_are_sql_of_spark(session):
    """Every statement parses as it is rendered for Spark; `tests.project.render` has the samples."""
    from sqlanon.sqltext.find import template_path
    from tests.project.render import Sample, needed

    parser = session._jsparkSession.sessionState().sqlParser()
    failed = []
    for name in template_names():
        try:
            path, _ = template_path(name, "spark")
        except FileNotFoundError:
            continue  # another engine's own
        samples: dict[str, object] = {field: Sample("sample") for field in needed(path)}
        if "link_of" in path.read_text():
            samples["link"] = ()
        if "needed{{ c.place }}" in path.read_text():  # its places are in names of the statement
            samples["neighbour"] = [{"place": 1}, {"place": 2}]
        text = statement(name, "spark", **samples).text
        assert "HASH(" not in text.replace("XXHASH64(", ""), name
        try:
            parser.parsePlan(text)
        except Exception as error:  # noqa: BLE001 - which ones is the result
            if "UNSUPPORTED_DATATYPE" not in str(error):  # a sample is no type
                failed.append(f"{name}: {str(error)[:200]}")
    assert not failed


def test_repeated_numbers_of_an_identifier(session):
    """At most one break only where no value repeats."""
    for name, last, breaks in (("apart", 4, 0), ("twice", 3, 2)):
        session.sql(f"CREATE TABLE {name} AS SELECT EXPLODE(ARRAY(1, 2, 3, {last})) AS n")
        with sqlanon.connect(session, temporary=True) as db:
            read = statement("table/distinct", "spark", source=db.engine.target(name), column="n")
            assert db.engine.fetch(read) == [(breaks,)]


def test_repeats_are_counted(session):
    """Twice, NULL with them, in any order of the rows and in any type of whole numbers."""
    draw = random.Random(7)
    for at, kind in enumerate(("tinyint", "int", "bigint") * 2):
        width = {"tinyint": 7, "int": 31, "bigint": 63}[kind]
        numbers: list[int | None] = [draw.randrange(-(2**width), 2**width) for _ in range(60)]
        numbers += [-(2**width), 2**width - 1, None][at % 2 :] * (1 + at // 3)
        made = session.createDataFrame([(n,) for n in draw.sample(numbers, len(numbers))], f"n {kind}")
        made.repartition(3).write.saveAsTable(f"repeats_{at}")
        with sqlanon.connect(session, temporary=True) as db:
            read = statement("table/distinct", "spark", source=db.engine.target(f"repeats_{at}"), column="n")
            assert db.engine.fetch(read) == [(2 * (len(numbers) - len({*numbers} - {None})),)]


def test_hashes_are_added_up_exactly(session):
    """The sum of 64-bit hashes, of both signs, is the whole number that it is; of no rows it is 0."""
    made = session.range(3000).selectExpr("CAST(id AS INT) AS rid", "id * 7919 AS link", "CAST(id % 13 AS STRING) AS v")
    made.repartition(3).write.saveAsTable("hashed_rows")
    session.sql("CREATE TABLE no_hashed_rows AS SELECT * FROM hashed_rows WHERE FALSE")
    hashed = "XXHASH64(rid, link, v, rid IS NULL, link IS NULL, v IS NULL)"
    each = session.sql(f"SELECT {hashed} AS h FROM hashed_rows").collect()
    hashes = [row.h for row in each]
    assert min(hashes) < 0 < max(hashes)
    for name, total in (("hashed_rows", sum(hashes)), ("no_hashed_rows", 0)):
        with sqlanon.connect(session, temporary=True) as db:
            read = statement("table/links", "spark", rows=db.engine.target(name), beside=["v"])
            assert db.engine.fetch(read) == [(len(hashes) if total else 0, str(total))]


def test_rows_are_counted_by_their_numbers(session):
    """Numbers that repeat, are missing, negative or NULL count as COUNT(DISTINCT ..) counts them."""
    draw = random.Random(5)
    for name, numbers in {
        "none": [],
        "whole": [*range(200)],
        "lost": [*range(63), *range(64, 130), 128],
        "odd": [
            None,
            None,
            -1,
            -64,
            -65,
            -65,
            0,
            63,
            64,
            2**31 - 1,
            -(2**31),
            *draw.choices(range(300), k=200),
        ],
    }.items():
        made = session.createDataFrame([(n,) for n in numbers], "rid int")
        made.repartition(3).write.saveAsTable(f"numbers_{name}")
        with sqlanon.connect(session, temporary=True) as db:
            read = statement("verify/distinct_rows", "spark", classed=db.engine.target(f"numbers_{name}"))
            there = [n for n in numbers if n is not None]
            least, greatest = (min(there), max(there)) if there else (None, None)
            assert db.engine.fetch(read) == [(len(numbers), len(set(there)), least, greatest)], name
