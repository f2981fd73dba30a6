"""What no method can do, and the edges of what each can: one message, the right exit code, nothing published."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sqlanon
from sqlanon.declared import METHODS
from tests.cli.conftest import HEADER, make_duckdb, people, write_csv
from tests.cli.test_bad_input import refused
from tests.contract.axes import Way, by_options, ways
from tests.declared import limited
from tests.oracle.methods import ORACLES, K

EVERY = pytest.mark.parametrize("method", METHODS)
GENERAL = pytest.mark.parametrize("way", by_options([w for w in ways() if K in ORACLES[w.method].kinds(w.options)]))
"""Those that release any table."""
SOURCE = ["anonymize", "people", "--identifier", "id", "--k", "1"]


def written(way: Way) -> str:
    """As ``--method`` takes it."""
    options = ",".join(f"{name}={value}" for name, value in way.options.items())
    return f"{way.method}:{options}" if options else way.method


def asked(warehouse: str, method: str, quasi: str = "age,zip,sex", sensitive: str = "disease") -> list[str]:
    own = ["--boxes", "own"] if METHODS[method.partition(":")[0]].own_boxes else []
    return [*SOURCE, "--db", warehouse, "--qi", quasi, "--sensitive", sensitive, "--method", method, *own]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """As ``warehouse``, for commands that are refused: none of them has published anything."""
    folder = tmp_path_factory.mktemp("untouched")
    file = write_csv(folder / "people.csv", HEADER, people())
    url = make_duckdb(
        folder / "warehouse.duckdb",
        f"CREATE TABLE people AS SELECT * FROM read_csv('{file}', types = {{'zip': 'VARCHAR'}})",
    )
    yield url
    with sqlanon.connect(url) as db:
        assert db.releases() == ()


def nothing_published(cli, warehouse) -> None:
    assert cli("releases", "--db", warehouse, "--json").json["releases"] == []


@EVERY
def test_l_above_what_the_column_allows(cli, untouched, method):
    ended = cli(*asked(untouched, method), "--l", "4")
    if method in (
        "topdown",
        "freeform",
        "koptimize",
        "matchings",
        "microaggregation",
    ):  # known before the data are read
        refused(ended, 2, f"{method} is for k alone")
    else:
        refused(ended, 4, "disease", "largest feasible value is 3")


@EVERY
def test_k_above_the_rows(cli, untouched, method):
    least = ["--k", "61", "--l", "61"] if method == "anatomy" else ["--k", "61"]
    refused(cli(*asked(untouched, method), *least), 4, "largest feasible value is 60")


@EVERY
def test_a_sensitive_column_among_the_quasi(cli, untouched, method):
    refused(cli(*asked(untouched, method, quasi="age,disease"), "--k", "2"), 2, "disease", "one role")


@GENERAL
def test_one_attribute(cli, warehouse, way):
    """Not an error: a class is a range. Where values are shown or hidden, all are hidden: no age occurs four times."""
    words = [*asked(warehouse, written(way), quasi="age"), "--rest", "drop", "--k", "4", "--json"]
    ended = cli(*words)
    assert ended.code == 0, ended.out + ended.err
    assert ended.json["min_class"] >= 4
    # Without a hierarchy fulldomain and tds have two levels, the value and all.
    assert ended.json["classes"] > 2 or way.method in ("suppress", "fulldomain", "tds")


@GENERAL
def test_a_constant_attribute(cli, tmp_path, way):
    """Alone it distinguishes nobody; beside others it costs nothing. NULL throughout is constant as well."""
    warehouse = make_duckdb(
        tmp_path / "c.duckdb",
        "CREATE TABLE people AS SELECT i AS id, 7 AS same, NULL::DATE AS none, i % 16 AS age FROM range(32) AS r(i)",
    )
    words = ["anonymize", "people", "--db", warehouse, "--identifier", "id", "--method", written(way), "--k", "2"]
    alone = cli(*words, "--qi", "same,none", "--rest", "drop", "--json")
    assert alone.code == 0, alone.out + alone.err
    assert alone.json["loss"]["gcp"] == 0
    beside = cli(*words, "--qi", "same,none,age", "--json")
    assert beside.code == 0, beside.out + beside.err
    assert beside.json["loss"]["gcp"] == 0
    assert beside.json["classes"] == 16


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if "minimize" in kind.words])
def test_one_row_more_than_a_solver_takes(cli, warehouse, monkeypatch, method):
    """The exact sum of extents costs the square of the rows; on a line it does not."""
    limited(monkeypatch, method, 59)
    ended = cli(*asked(warehouse, f"{method}:minimize=sum"), "--k", "2")
    if method.endswith("_fast"):
        assert ended.code == 0, ended.err
        return
    refused(ended, 2, method, "59", "60", "minimize=gcp")
    nothing_published(cli, warehouse)
    limited(monkeypatch, method, 60)
    assert cli(*asked(warehouse, f"{method}:minimize=sum"), "--k", "2").code == 0


def test_one_row_more_than_topdown_takes(cli, untouched, monkeypatch):
    limited(monkeypatch, "topdown", 59)
    refused(cli(*asked(untouched, "topdown"), "--k", "2"), 2, "topdown", "59", "60", "tree")


@pytest.mark.parametrize("method", ["idistance", "idistance_fast"])
def test_one_column_more_than_idistance_takes(cli, warehouse, monkeypatch, method):
    """From 128 columns on it used to compute for ever; `test_idistance` has the number."""
    limited(monkeypatch, method, 2)
    refused(cli(*asked(warehouse, method), "--k", "2"), 2, method, "at most 2", "are 3", "use tree or hilbert")
    nothing_published(cli, warehouse)
    limited(monkeypatch, method, 3)
    assert cli(*asked(warehouse, method), "--k", "2").code == 0


def test_a_requirement_that_the_method_does_not_take(cli, untouched):
    refused(cli(*asked(untouched, "topdown"), "--l", "2"), 2, "topdown", "tree")
    refused(cli(*asked(untouched, "hilbert:minimize=max"), "--l", "2"), 2, "minimize=max")
    refused(cli(*asked(untouched, "hilbert_fast"), "--k", "1", "--distinct-l", "2"), 2, "hilbert_fast", "use hilbert")


@EVERY
def test_an_option_or_value_that_there_is_not(cli, untouched, method):
    ended = cli(*asked(untouched, f"{method}:zqcanary=high"), "--k", "2")
    refused(ended, 2, method, "no such option", *METHODS[method].words)
    assert "canary" not in ended.err
    for name, values in METHODS[method].words.items():
        ended = cli(*asked(untouched, f"{method}:{name}=zqcanary"), "--k", "2")
        refused(ended, 2, name, *values)
        assert "canary" not in ended.err
    for name, span in METHODS[method].numbers.items():
        needed = "objective=mixed," if name == "w" else ""
        for value in (str(span[0] - 1), "-1", "1.5", "many", "٣", str(span[-1] + 1), "9" * 40):
            ended = cli(*asked(untouched, f"{method}:{needed}{name}={value}"), "--k", "2")
            refused(ended, 2, name, str(span[-1]))
