"""Rows of one database in another: every value arrives, and both databases compute the same hash of all rows."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

import sqlanon
from sqlanon.engines.base import TableRef
from sqlanon.engines.portable import Portable, PortableColumn, write_line
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.publish.carry import CarryRoute
from sqlanon.sqltext import statement
from tests.engines import ENGINES, TestEngine

pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]
KINDS = {engine.family: engine for engine in (ENGINES[0], ENGINES[2])}

VALUES: dict[str, list[str | None]] = {
    "smallint": ["-32768", "32767", "0", None],
    "bigint": ["-9223372036854775808", "9223372036854775807", "1", None],
    "double precision": ["NaN", "Infinity", "-Infinity", "-0.0", "0.0", "1e-320", "0.1", "1e+20", None],
    "real": ["0.1", "-0.0", "3.4e38", None],
    "numeric(20,3)": ["-1.500", "12345678901234567.125", "0", None],
    "numeric(9,9)": ["0.5", "-0.000000001", "0", "0.999999999", None],
    "numeric(2,2)[]": ["{0.5,-0.25,0}", None],
    "boolean": ["true", "false", None],
    "text": ["", " ", "N", "1:a", "a\tb\\c\nd\r", "q\"'", "{}", "NULL", "\\N", "äöü€🙂", "a;b", None],
    "date": ["0044-03-15 BC", "0001-01-01", "9999-12-31", "12345-06-07", "infinity", "-infinity", None],
    "timestamp": ["0044-03-15 10:00:00.5 BC", "2020-02-29 23:59:59.999999", "infinity", "1969-12-31 00:00:00", None],
    "timestamptz": ["0044-03-15 10:00:00+00 BC", "2020-02-29 23:59:59.123+05", "-infinity", None],
    "time": ["00:00:00", "23:59:59.999999", "10:00:00.5", None],
    "uuid": ["39c363e6-3e05-4cf1-8176-6eb81058c8c4", None],
    "text[]": ["{}", '{NULL,"",NULL}', '{"a,b","c\\"d","{e}"," f "}', "{1:a}", None],
    "double precision[]": ["{NaN,-0.0,0.1}", "{}", None],
    "date[]": ['{"0044-03-15 BC",2020-01-01}', None],
}


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[tuple[Any, Any]]:
    """Two empty databases of the named kinds."""
    with ExitStack() as opened:
        made = [KINDS[kind] for kind in request.param.split("-")]
        yield tuple(opened.enter_context(_open(engine, tmp_path)).engine for engine in made)  # type: ignore[misc]


class _open:  # noqa: N801 - a context manager
    def __init__(self, kind: TestEngine, folder: Any) -> None:
        if why := kind.missing():
            pytest.skip(why)
        self.kind, self.url = kind, kind.fresh(folder)

    def __enter__(self) -> Any:
        self.db = sqlanon.connect(self.url)
        return self.db

    def __exit__(self, *_: object) -> None:
        self.db.close()
        self.kind.drop(self.url)


def send(source: Any, target: Any, table: TableRef, block: int = 3) -> list[tuple[str, str]]:
    """Send a table; gives name and type of its columns there, and compares both hashes."""
    columns = [
        PortableColumn(column.name, source.transfer.read_type(column))
        for column in source.look_up([table]).columns(table)
    ]
    asked = [column.parameters() for column in columns]
    there = target.target("copied")
    if target.reception.reads_arrow and (stream := source.transfer.stream_arrow(table, columns)) is not None:
        with target.publishing():
            target.reception.load_arrow(there, columns, stream)
        assert marks(source, table, asked) == marks(target, there, asked)
        target.execute(f"ALTER TABLE {there.name} RENAME TO by_arrow")
    rows = statement("sent/rows", source.dialect, target=table, columns=asked)
    with target.publishing():
        target.reception.load_texts(there, columns, source.transfer.stream_rows(rows, block))
    assert marks(source, table, asked) == marks(target, there, asked)
    return [(column.name, column.type) for column in target.look_up([there]).columns(there)]


def marks(engine: Any, table: TableRef, asked: Any) -> tuple[object, ...]:
    return engine.fetch(statement("sent/fingerprint", engine.dialect, target=table, columns=asked))[0]


def written(kind: str, value: str | None, dialect: str) -> str:
    if value is None:
        return "NULL"
    text = value.replace("'", "''")
    if dialect == "duckdb" and kind.endswith("[]"):
        items = {
            "{}": "[]",
            '{NULL,"",NULL}': "[NULL, '', NULL]",
            '{"a,b","c\\"d","{e}"," f "}': "['a,b', 'c\"d', '{e}', ' f ']",
            "{1:a}": "['1:a']",
            "{0.5,-0.25,0}": "['0.5', '-0.25', '0']",
            "{NaN,-0.0,0.1}": "['NaN', '-0.0', '0.1']",
            '{"0044-03-15 BC",2020-01-01}': "['0044-03-15 (BC)', '2020-01-01']",
        }
        return f"CAST({items[value]} AS {kind})"
    if dialect == "duckdb" and text.endswith(" BC"):
        day, _, time = text.removesuffix(" BC").partition(" ")
        text = f"{day} (BC) {time}".strip()
    return f"CAST('{text}' AS {kind})"


@pytest.mark.parametrize(
    "pair", ["duckdb-postgres", "postgres-duckdb", "duckdb-duckdb", "postgres-postgres"], indirect=True
)
def test_every_value_arrives(pair):
    source, target = pair
    longest = max(map(len, VALUES.values()))
    names = ", ".join(f'"c {i}" {kind}' for i, kind in enumerate(VALUES))
    source.execute(f'CREATE TABLE "My t" ({names})')
    for at in range(longest):
        row = ", ".join(written(kind, values[at % len(values)], source.dialect) for kind, values in VALUES.items())
        source.execute(f'INSERT INTO "My t" VALUES ({row}), ({row})')
    found = send(source, target, source.target('"My t"'))
    assert [name for name, _ in found] == [f"c {i}" for i in range(len(VALUES))]


@pytest.mark.parametrize(
    ("pair", "types"),
    [("postgres-postgres", ["character(4)", "character(2)[]"]), ("postgres-duckdb", ["VARCHAR", "VARCHAR[]"])],
    indirect=["pair"],
)
def test_blanks_at_the_end_arrive(pair, types):
    source, target = pair
    rows = [("a", "{x,NULL,é}"), ("", "{}"), (None, None), ("äb\\c", '{"\\"x"}')]
    source.execute("CREATE TABLE padded (a character(4), b character(2)[])")
    source.load_rows(source.target("padded"), [("a", "character(4)"), ("b", "character(2)[]")], rows)
    assert [kind for _, kind in send(source, target, source.target("padded"))] == types
    arrived = target.fetch("SELECT a, b FROM copied")
    assert Counter(map(str, arrived)) == Counter(map(str, source.fetch("SELECT a, b FROM padded")))
    assert ("a   ", ["x ", None, "é "]) in arrived
    assert ("    ", []) in arrived


@pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-duckdb"], indirect=True)
def test_other_rows_have_another_hash(pair):
    """Values that change places between columns, rows or elements; a value for a missing one; a row twice."""
    asked = [PortableColumn("a", Portable("text")), PortableColumn("b", Portable("text", array=True))]
    seen = set()
    tables = [
        [("x", "['y']")],
        [("y", "['x']")],
        [("x", "['y']"), ("x", "['y']")],
        [(None, "['y']")],
        [("N", "['y']")],
        [("x", "[NULL]")],
        [("x", "['N']")],
        [("x", "['y', '']")],
        [("x", "['y,0:']")],
        [("x", "[]")],
        [("x", None)],
    ]
    for engine in pair:
        for at, rows in enumerate(tables):
            engine.execute("DROP TABLE IF EXISTS t")
            engine.execute("CREATE TABLE t (a text, b text[])")
            for a, b in rows:
                lists = b if b is None else f"CAST({'ARRAY' if engine.dialect == 'postgres' else ''}{b} AS text[])"
                engine.execute(f"INSERT INTO t VALUES ({'NULL' if a is None else repr(a)}, {lists or 'NULL'})")
            seen.add((at, marks(engine, engine.target("t"), [column.parameters() for column in asked])))
    assert len(seen) == len(tables) == len({mark for _, mark in seen})


@pytest.mark.parametrize(
    ("dialect", "kind"),
    [
        ("duckdb", "TIMESTAMP_NS"),
        ("duckdb", "INTERVAL"),
        ("duckdb", "STRUCT(a INTEGER)"),
        ("duckdb", "INTEGER[][]"),
        ("postgres", "interval"),
        ("postgres", "jsonb"),
        ("postgres", "inet"),
        ("postgres", "numeric"),
    ],
)
def test_types_that_no_other_database_has(dialect, kind, tmp_path):
    with _open(KINDS[dialect], tmp_path) as db:
        db.engine.execute(f"CREATE TABLE t (a {kind})")
        (column,) = db.engine.relation("t").columns
        assert db.engine.transfer.read_type(column) is None


def test_types_that_one_of_both_lacks(tmp_path):
    made: dict[str, Callable[[Portable], str | None]] = {}
    with _open(KINDS["duckdb"], tmp_path) as duck, _open(KINDS["postgres"], tmp_path) as post:
        made = {"duckdb": duck.engine.reception.write_type, "postgres": post.engine.reception.write_type}
    wide = Portable("decimal", 60, 2)
    assert (made["duckdb"](wide), made["postgres"](wide)) == (None, "numeric(60,2)")
    assert made["duckdb"](Portable("decimal", 5, -2)) is None
    assert made["postgres"](Portable("uint64", array=True)) == "numeric(20)[]"
    assert made["duckdb"](Portable("uint64")) == "UBIGINT"


def _draw_texts(rows: int) -> list[tuple[object, ...]]:
    """Texts, lists of texts and bytes of characters that lines, lists and SQL give a meaning."""
    draw = random.Random(7)
    words = ["\\", '"', "{", "}", ",", "\t", "\n", "\r", "\b", "\f", "\v", "N", "NULL", "'", " ", "e", "t", "é", "\\x"]

    def text() -> str:
        return "".join(draw.choice(words) for _ in range(draw.randrange(5)))

    def maybe(value: object) -> object:
        return None if draw.random() < 0.1 else value

    return [
        (i, maybe(text()), maybe([maybe(text()) for _ in range(draw.randrange(4))]), maybe(draw.randbytes(3)))
        for i in range(rows)
    ]


@pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-duckdb", "duckdb-duckdb"], indirect=True)
def test_texts_of_any_characters_are_read_as_they_were(pair):
    source, target = pair
    rows = _draw_texts(400)
    table, there = source.target("texts"), target.target("copied")
    columns = [
        PortableColumn("i", Portable("int32")),
        PortableColumn("a", Portable("text")),
        PortableColumn("b", Portable("text", array=True)),
        PortableColumn("c", Portable("bytes")),
    ]
    spelled = [(i, a, b, None if c is None else f"\\x{c.hex()}") for i, a, b, c in rows]
    with source.publishing():  # lines as Spark sends them
        source.reception.load_texts(table, columns, [[write_line(row) for row in spelled]])
    asked = [column.parameters() for column in columns]
    sent = source.transfer.stream_rows(statement("sent/rows", source.dialect, target=table, columns=asked), 100)
    with target.publishing():
        target.reception.load_texts(there, columns, sent)
    for engine, place in ((source, "texts"), (target, "copied")):
        assert engine.fetch(f"SELECT i, a, b, c FROM {place} ORDER BY i") == rows


@pytest.mark.parametrize("pair", ["postgres-duckdb", "duckdb-postgres"], indirect=True)
def test_rows_on_their_way_are_a_few_blocks(pair):
    """Python's own memory, for 15 blocks in one transaction."""
    source, target = pair
    series = "range(150000)" if source.dialect == "duckdb" else "generate_series(1, 150000)"
    source.execute(f"CREATE TABLE t AS SELECT 'a long text ' || i AS a FROM {series} AS r(i)")
    tracemalloc.start()
    try:
        send(source, target, source.target("t"), 10_000)
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("end", ["cancelled", "refused"])
@pytest.mark.parametrize("pair", ["duckdb-postgres"], indirect=True)
def test_the_servers_log_gets_no_row_of_a_copy_that_ends_early(pair, end):
    """The log has the context of the error: the line that the server has read last, from its beginning."""
    _, target = pair

    def lines() -> Iterator[list[str]]:
        if end == "refused":
            yield ["4711777\t4711777"]
        for block in range(2000):
            if block == 1000:  # more than the system holds on the way: the server is reading
                target.cancel()
            yield ["4711777"] * 1000

    columns = [PortableColumn("pad0", Portable("text"))]
    with pytest.raises(DatabaseError) as caught, target.publishing():
        target.reception.load_texts(target.target("copied"), columns, lines())
    cause = caught.value.__cause__
    assert isinstance(cause, psycopg.errors.QueryCanceled if end == "cancelled" else psycopg.errors.BadCopyFileFormat)
    assert "line " in str(cause.diag.context)
    assert '"   ' in str(cause.diag.context)
    assert "4711777" not in str(cause)


@pytest.mark.parametrize("value", ["DATE '5874898-01-01'", "TIMESTAMP '4714-01-01 (BC)'", "[DATE '5874898-01-01']"])
@pytest.mark.parametrize("pair", ["duckdb-postgres"], indirect=True)
def test_times_that_postgresql_cannot_hold_are_not_sent(pair, value):
    source, target = pair
    source.execute(f"CREATE TABLE times AS SELECT 'a BC 999999-' AS a, {value} AS day FROM range(3)")
    with pytest.raises(UnsupportedError, match="publish_to: column day has times in years that PostgreSQL cannot hold"):
        send(source, target, source.target("times"))
    assert not target.exists(target.target("copied"))


@pytest.mark.parametrize("pair", ["duckdb-postgres"], indirect=True)
def test_more_columns_than_a_table_has_there(pair: tuple[Any, Any]) -> None:
    """One more is needed while lines arrive."""
    source, target = pair
    road = CarryRoute("r", source, target, Stopwatch("r", SilentProgress()))
    source.execute(f"CREATE TABLE many AS SELECT {', '.join(f'TRUE AS c{i}' for i in range(1600))}")
    with pytest.raises(PolicyError, match="1600 columns are published, and the other place takes at most 1599: leave"):
        road.list_columns(source.target("many"))


@pytest.mark.thorough
@pytest.mark.parametrize("pair", ["duckdb-postgres"], indirect=True)
def test_as_many_columns_as_a_table_has_there(pair: tuple[Any, Any]) -> None:
    """They arrive; a row that is too wide ends the transaction."""
    source, target = pair
    road = CarryRoute("r", source, target, Stopwatch("r", SilentProgress()))
    for name, columns, kind in (("most", 1599, "BOOLEAN"), ("wide", 1100, "BIGINT")):
        listed = ", ".join(f"CAST(1 AS {kind}) AS c{i}" for i in range(columns))
        source.execute(f"CREATE TABLE {name} AS SELECT {listed}")
    most, wide = source.target("most"), source.target("wide")
    with target.publishing():
        road.carry(most, target.target("most"), road.list_columns(most))
    assert len(target.relation("most").columns) == 1599
    with pytest.raises(DatabaseError, match="rows of at most 8 kB"), target.publishing():
        road.carry(wide, target.target("wide"), road.list_columns(wide))
    assert not target.exists(target.target("wide"))
