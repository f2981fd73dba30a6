"""The stored Hilbert functions: on every engine the drawn curve, the kernel's keys and the kernel's order."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.engines.base import TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.methods.onedim.kernels.hilbert import WORD_BITS, make_byte_keys, make_word_keys
from sqlanon.sqltext import statement
from sqlanon.table.functions import install_temporary
from tests.engines import ENGINES
from tests.oracle.hilbert import curve

DRAWN = [(1, 1), (1, 9), (2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (7, 1), (6, 2), (8, 1)]
RANDOM = [
    (1, 31),
    (2, 31),
    (3, 21),
    (4, 15),
    (5, 12),
    (6, 10),
    (7, 9),
    (8, 7),
    (9, 7),
    (30, 2),
    (62, 1),
    (63 // 21, 20),
]
LONG = [(2, 31), (3, 22), (4, 16), (5, 21), (6, 11), (7, 10), (8, 8), (8, 21), (30, 3), (30, 21), (62, 2), (62, 31)]


@pytest.fixture(scope="module")
def installed(shared_db: Any) -> Any:
    shared_db.install_functions()
    return shared_db


def listed(count: int) -> str:
    return f"ARRAY[{', '.join(f'c{i}' for i in range(count))}]"


def load(db: Any, points: np.ndarray) -> None:
    db.engine.execute('DROP TABLE IF EXISTS "points"')
    columns = {f"c{i}": points[:, i].astype("int32") for i in range(points.shape[1])}
    db.engine.load_arrays(TableRef(None, "points"), {"rid": np.arange(len(points), dtype="int32"), **columns})


def keys(db: Any, function: str, points: np.ndarray, bits: int) -> list[Any]:
    """What a stored function says of every point."""
    load(db, points)
    query = f'SELECT sqlanon.{function}({listed(points.shape[1])}, {bits}) FROM "points" ORDER BY rid'
    return [bytes(key) if function.endswith("bytes") else key for (key,) in db.engine.fetch(query)]


def random_points(d: int, bits: int, count: int) -> np.ndarray:
    """Random cells and the corners of the grid."""
    made = np.random.default_rng((d, bits)).integers(0, 2**bits, (count, d))
    made[0], made[1] = 0, 2**bits - 1
    return made.astype(np.uint32)


@pytest.mark.cover("d bits")
@pytest.mark.parametrize(("d", "bits"), DRAWN)
def test_keys_are_the_places_on_the_drawn_curve(installed: Any, d: int, bits: int) -> None:
    drawn = curve(d, bits)
    points = np.array(drawn, np.uint32)
    assert keys(installed, "hilbert_key", points, bits) == list(range(len(drawn)))
    size = -(-d * bits // 8)
    assert keys(installed, "hilbert_key_bytes", points, bits) == [
        place.to_bytes(size, "big") for place in range(len(drawn))
    ]


@pytest.mark.cover("d bits")
@pytest.mark.parametrize(("d", "bits"), RANDOM)
def test_words_are_those_of_the_kernel(installed: Any, d: int, bits: int) -> None:
    assert d * bits <= WORD_BITS
    points = random_points(d, bits, 200)
    out = np.empty(len(points), np.int64)
    make_word_keys(points, bits, out)
    assert keys(installed, "hilbert_key", points, bits) == out.tolist()


@pytest.mark.cover("d bits")
@pytest.mark.parametrize(("d", "bits"), RANDOM + LONG)
def test_bytes_are_those_of_the_kernel(installed: Any, d: int, bits: int) -> None:
    points = random_points(d, bits, 60)
    out = np.empty((len(points), -(-d * bits // 8)), np.uint8)
    make_byte_keys(points, bits, out)
    assert keys(installed, "hilbert_key_bytes", points, bits) == [row.tobytes() for row in out]


def test_one_attribute_is_its_own_key(installed: Any) -> None:
    points = np.arange(2000, dtype=np.uint32).reshape(-1, 1)
    assert keys(installed, "hilbert_key", points, 11) == list(range(2000))


@pytest.mark.parametrize(("function", "d", "bits"), [("hilbert_key", 4, 6), ("hilbert_key_bytes", 6, 12)])
def test_plain_sql_sorts_as_the_kernel(installed: Any, function: str, d: int, bits: int) -> None:
    points = random_points(d, bits, 3000)
    load(installed, points)
    out = np.empty((len(points), -(-d * bits // 8)), np.uint8)
    make_byte_keys(points, bits, out)
    expected = sorted(range(len(points)), key=lambda row: (out[row].tobytes(), row))
    query = f'SELECT rid FROM "points" ORDER BY sqlanon.{function}({listed(d)}, {bits}), rid'
    assert [rid for (rid,) in installed.engine.fetch(query)] == expected


@pytest.mark.parametrize("function", ["hilbert_key", "hilbert_key_bytes"])
@pytest.mark.parametrize("cells", ["NULL", "ARRAY[1, NULL]", "ARRAY[NULL, 9]"])
def test_null_has_no_key(installed: Any, function: str, cells: str) -> None:
    query = f"SELECT sqlanon.{function}(CAST({cells} AS INTEGER[]), 3)"
    assert installed.engine.fetch(query) == [(None,)]
    assert installed.engine.fetch(f"SELECT sqlanon.{function}(ARRAY[1, 2], NULL)") == [(None,)]


@pytest.mark.parametrize("function", ["hilbert_key", "hilbert_key_bytes"])
@pytest.mark.parametrize(
    ("cells", "bits", "said"),
    [
        ("ARRAY[1, 8]", 3, "every cell must be 0 to 2^bits - 1"),
        ("ARRAY[-1, 2]", 3, "every cell must be 0 to 2^bits - 1"),
        ("ARRAY[1, 2]", 0, "bits must be 1 to 31"),
        ("ARRAY[1, 2]", 32, "bits must be 1 to 31"),
        ("ARRAY[1, 2]", 2**31 - 1, "bits must be 1 to 31"),
        ("ARRAY[1, 2]", -(2**31), "bits must be 1 to 31"),
        ("CAST(ARRAY[] AS INTEGER[])", 3, "there must be 1 to 62 cells"),
        (f"ARRAY[{', '.join('0' * 63)}]", 1, "there must be 1 to 62 cells"),
    ],
)
def test_what_is_outside_is_an_error_that_says_why(
    installed: Any, function: str, cells: str, bits: int, said: str
) -> None:
    with pytest.raises(DatabaseError) as caught:
        installed.engine.fetch(f"SELECT sqlanon.{function}({cells}, {bits})")
    assert f"{function}: {said}" in str(caught.value.__cause__)


def test_a_key_that_is_too_long_for_a_word_names_the_other_function(installed: Any) -> None:
    with pytest.raises(DatabaseError) as caught:
        installed.engine.fetch("SELECT sqlanon.hilbert_key(ARRAY[0, 0, 0, 0], 16)")
    assert "use hilbert_key_bytes" in str(caught.value.__cause__)


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("function", ["hilbert_key", "hilbert_key_bytes"])
def test_columns_may_have_any_name(installed: Any, function: str) -> None:
    """The caller's names are not those inside the function, whatever they are."""
    expected = installed.engine.fetch(f"SELECT sqlanon.{function}(ARRAY[5, 2], 3)")
    names = [
        "p",
        "w",
        "v",
        "s",
        "k",
        "j",
        "x",
        "y",
        "r",
        "c",
        "i",
        "t",
        "b",
        "n",
        "ones",
        "level",
        "cells",
        "bits",
        "key",
    ]
    for one, two in product(names, repeat=2):
        if one != two:
            query = f"SELECT sqlanon.{function}(ARRAY[{one}, p.{two}], 3) FROM (SELECT 5 AS {one}, 2 AS {two}) AS p"
            assert installed.engine.fetch(query) == expected, (one, two)


def test_installing_again_replaces_and_any_schema_will_do(db: Any) -> None:
    assert {'"sqlanon".hilbert_key', '"sqlanon".hilbert_key_bytes'} <= set(db.install_functions())
    for _ in range(2):
        names = db.install_functions('My "odd" schema')
    for name in (name for name in names if "hilbert" in name):
        ((key,),) = db.engine.fetch(f"SELECT {name}(ARRAY[1, 1], 1)")
        assert key in (2, b"\x02")


@pytest.mark.parametrize("schema", ["", "_sqlanon", "x" * 300])
def test_schemas_that_cannot_hold_functions(db: Any, schema: str) -> None:
    with pytest.raises(PolicyError):
        db.install_functions(schema)


def test_a_file_keeps_the_functions_for_every_client(tmp_path: Path) -> None:
    import duckdb

    import sqlanon

    url = ENGINES[1].fresh(tmp_path)
    with sqlanon.connect(url) as db:
        db.install_functions()
    with duckdb.connect(url.removeprefix("duckdb:///")) as client:
        query = "SELECT sqlanon.hilbert_key([3, 1], 2), sqlanon.hilbert_key_bytes([3, 1], 2)"
        place = curve(2, 2).index((3, 1))
        assert client.execute(query).fetchall() == [(place, bytes([place]))]


def test_temporary_functions_end(db: Any) -> None:
    with db.engine.snapshot(), install_temporary(db.engine) as schema:
        query = f"SELECT {schema}.hilbert_key(ARRAY[1, 1], 1)"
        assert db.engine.fetch(query) == [(2,)]
    with pytest.raises(DatabaseError):
        db.engine.fetch(query)
    left = {
        "duckdb": "SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE 'hilbert%'",
        "postgres": "SELECT count(*) FROM pg_proc WHERE proname LIKE 'hilbert%'",
    }
    assert db.engine.fetch(left[db.engine.dialect]) == [(0,)]


@pytest.mark.cover
@pytest.mark.parametrize("bits", [2, 3, 21])
@pytest.mark.parametrize("sensitive", [[], ["s1", "s2"]], ids=["", "sensitive"])
def test_the_hilbert_order_is_key_codes_occurrence_sensitive_row(
    shared_db: Any, bits: int, sensitive: list[str]
) -> None:
    """Against the places on the drawn curve; the axes of the curve are in another order than the columns."""
    engine = shared_db.engine
    random = np.random.default_rng(bits)
    count, codes, quasi = 400, 6, ["q1", "q2", "q3"]
    columns = {name: random.integers(0, codes, count).astype("int16") for name in quasi}
    columns |= {name: random.integers(0, 3, count).astype("int32") for name in ("s1", "s2")}
    rids = random.permutation(count).astype("int32")
    axes = ["q3", "q1", "q2"]
    cells = {name: random.integers(0, min(2**bits, 2**5), codes) for name in axes}  # some codes share a cell
    coarse = min(bits, 3)
    if bits > coarse:  # cells of a fine grid at the corners of coarse ones keep the coarse curve's order
        cells = {name: (cell % 2**coarse) << (bits - coarse) for name, cell in cells.items()}
    cells = {name: cell % 2**bits for name, cell in cells.items()}
    drawn = {cell: place for place, cell in enumerate(curve(3, coarse))}

    work, keyed, placed = (TableRef(None, name) for name in ("work", "keyed", "placed"))
    for table in (work, keyed, placed):
        engine.execute(statement("table/drop", engine.dialect, target=table))
    engine.load_arrays(placed, {"rid": rids, **{name: cells[name][columns[name]].astype("int32") for name in axes}})
    engine.load_arrays(work, {"rid": rids, **columns})

    with install_temporary(engine) as functions:
        made = statement(
            "onedim/hilbert_keys", engine.dialect, keyed=keyed, cells=placed, axes=axes, bits=bits, functions=functions
        )
        engine.execute(made)
    query = statement(
        "onedim/stream", engine.dialect, work=work, keyed=keyed, keys=["key0"], quasi=quasi, sensitive=sensitive
    )
    blocks = list(engine.stream_arrays(query, ["int64"] + ["int32"] * (1 + len(quasi + sensitive)), 150))
    _, *columns_found = (np.concatenate(parts).tolist() for parts in zip(*blocks, strict=True))
    found = list(zip(*columns_found, strict=True))

    rows = [
        {"rid": int(rid), **{name: int(column[i]) for name, column in columns.items()}} for i, rid in enumerate(rids)
    ]
    seen: dict[tuple[int, ...], int] = {}
    ranked = []
    for row in sorted(rows, key=lambda row: row["rid"]):
        group = tuple(row[name] for name in quasi + sensitive)
        seen[group] = seen.get(group, 0) + 1
        place = drawn[tuple(int(cells[name][row[name]]) >> (bits - coarse) for name in axes)]
        ranked.append(
            (place, [row[name] for name in quasi], seen[group], [row[name] for name in sensitive], row["rid"])
        )
    assert found == [(rid, *qi, *sa) for _, qi, _, sa, rid in sorted(ranked)]
