"""A bound on the loss is a promise.

A method that breaks it publishes nothing, and too little privacy publishes nothing.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

import sqlanon
from sqlanon.methods.base import Assignment
from sqlanon.methods.onedim.method import Hilbert
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.safety.people import private_tables

COLUMNS = {
    "n": "INTEGER",
    "d": "DECIMAL(6,2)",
    "f": "DOUBLE PRECISION",
    "day": "DATE",
    "at": "TIMESTAMP",
    "city": "TEXT",
    "size": "TEXT",
    "hole": "INTEGER",
    "same": "INTEGER",
    "s": "TEXT",
}
CITIES = ("lyon", "nice", "rome", "pisa")
LEVELS = "lyon;fr;*\nnice;fr;*\nrome;it;*\npisa;it;*\n"
ROWS = [
    (
        i,
        Decimal(i) / 100,
        i / 10,
        dt.date(2024, 1, 1 + i),
        dt.datetime(2024, 1, 1, i),
        CITIES[i % 4],
        "SML"[i % 3],
        [None, 5][i % 2],
        7,
        "xyz"[i % 3],
    )
    for i in range(12)
]

# What all rows as one class lose in each column, and a little less.
WIDE = {
    "n": ("11", "10.5"),
    "d": ("0.11", "0.1"),
    "f": ("1.1", "1.0999"),
    "day": ("11", "10"),
    "at": ("11/24", "109/240"),
    "city": ("4", "3"),
    "size": ("2", "1"),
}


class OneClass(Hilbert):
    """Puts all rows into one class, whatever the bound."""

    def assign(self, context):
        table = context.scratch.table("assign")
        context.scratch.engine.execute(
            f'CREATE TEMPORARY TABLE "{table.name}" AS SELECT rid, 0 AS class FROM "{context.encoded.work.name}"'
        )
        return Assignment(table, "kernel")


@pytest.fixture(scope="module")
def bounded(shared_db):
    """The table, with a good release that readers must keep."""
    create_table(shared_db, "bounded", COLUMNS, ROWS)
    shared_db.anonymize("bounded", quasi="n", sensitive="s", rest="drop", k=12)
    return "bounded"


@pytest.fixture
def release(shared_db, bounded, monkeypatch, tmp_path):
    """Releases the table by the method that breaks bounds."""
    declare(monkeypatch, "bad", OneClass, like="hilbert")
    (tmp_path / "city.csv").write_text(LEVELS, encoding="utf-8")

    def run(**arguments):
        quasi = arguments.get("quasi", ["n"])
        given = {
            "quasi": quasi,
            "sensitive": "s",
            "rest": "drop",
            "method": "bad",
            "maximize": "k",
            "at_least": {"k": 1},
            "hierarchies": {"city": tmp_path / "city.csv"} if "city" in quasi else {},
            "ordered": {"size": ["S", "M", "L"]} if "size" in quasi else {},
        }
        return shared_db.anonymize(bounded, allow_weaker=True, **given | arguments)

    return run


def violated(db, release, **arguments) -> str:
    """Refused by verify; readers keep what they had."""
    before, kept = db.releases("bounded"), read_table(db, ("release", "bounded"))
    tables = private_tables(db.engine)
    with pytest.raises(sqlanon.PrivacyViolation) as caught:
        release(**arguments)
    assert caught.value.exit_code == 1
    assert db.releases("bounded") == before
    assert read_table(db, ("release", "bounded")) == kept
    assert private_tables(db.engine) == tables
    return str(caught.value)


@pytest.mark.cover("column form")
@pytest.mark.parametrize("form", ["ranges", "labels", "points"])
@pytest.mark.parametrize("column", WIDE)
def test_an_extent_that_is_broken(shared_db, release, column, form):
    enough, less = WIDE[column]
    assert release(quasi=[column], max_extent={column: enough}, format=form).report.verified
    text = violated(shared_db, release, quasi=[column, "same"], max_extent={column: less}, format=form)
    assert text.startswith(f"column {column}: a class reaches further than ")


def test_null_beside_values_is_within_no_extent(shared_db, release):
    text = violated(shared_db, release, quasi=["hole"], max_extent={"hole": 1_000_000})
    assert text.startswith("column hole: a class reaches further than ")


@pytest.mark.cover
@pytest.mark.parametrize("form", ["ranges", "labels", "points"])
def test_a_loss_that_is_broken(shared_db, release, form):
    """n alone loses 1, with a constant column beside it the mean of 1 and 0."""
    assert release(quasi=["n", "same"], max_loss=0.5, format=form).report.loss.il_inf == 0.5
    text = violated(shared_db, release, quasi=["n", "same"], max_loss=0.4999, format=form)
    assert text.startswith("the NCP of a class is 0.500000, at most 0.4999 was promised")
    assert "1.000000, at most 0 was" in violated(shared_db, release, quasi=["n"], max_loss=0)


@pytest.mark.cover("name goal least")
@pytest.mark.parametrize("name", ["tree", "hilbert", "idistance", "mondrian"])
@pytest.mark.parametrize(
    ("goal", "least", "said"),
    [
        ("l", {"l": 2}, "reached k = 1, l = 1 of s; at_least asks l = 2 of s. Nothing was published."),
        ("k", {"k": 2}, "reached k = 1; at_least asks k = 2. Nothing was published."),
        ("l", {"l": 1, "k": 2}, "reached k = 1, l = 1 of s; at_least asks k = 2. Nothing was published."),
    ],
)
def test_too_little_privacy(shared_db, release, name, goal, least, said):
    """Every n is alone where nothing may be lost."""
    before = shared_db.releases("bounded")
    with pytest.raises(sqlanon.InfeasibleError) as caught:
        release(method=name, maximize=goal, at_least=least, max_loss=0)
    assert caught.value.exit_code == 4
    if name == "mondrian" and least.get("k") and goal == "l":
        assert "found no classes within the bound" in str(caught.value)
    else:
        assert said in str(caught.value)
    assert shared_db.releases("bounded") == before
