"""The generators: seeded, of the declared shape, loadable on both engines; LeFevre's distributions."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from benchmarks import generators
from benchmarks.generators import ADMISSIONS, INTEGERS, TABLES, Synthetic, lefevre, load_duckdb, load_postgres
from tests.conftest import ready
from tests.engines import ENGINES


def _joined(table: Synthetic, rows: int, seed: int) -> dict[str, list[object]]:
    chunks = list(table.chunks(rows, seed))
    return {name: [value for chunk in chunks for value in chunk[name].tolist()] for name, _ in table.columns}


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_seed_decides_the_table(table, monkeypatch):
    monkeypatch.setattr(generators, "CHUNK", 400)
    one, again, other = (_joined(table, 1000, seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert {len(values) for values in one.values()} == {1000}
    assert list(one) == [name for name, _ in table.columns]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_column_has_one_role_or_is_unpublished(table):
    listed = [*table.quasi, table.sensitive, *table.identifiers, *table.insensitive, *table.unpublished]
    assert sorted(listed) == sorted(name for name, _ in table.columns)
    assert len(table.quasi) == 7


def test_admissions_are_correlated_and_of_the_types_promised():
    table = _joined(ADMISSIONS, 20_000, 1)
    assert table["id"] == list(range(1, 20_001))
    assert [type(table[name][0]) for name in ADMISSIONS.quasi] == [int, int, int, dt.datetime, str, str, str]
    age, cost, stay = (np.array(table[name], dtype=float) for name in ("age", "cost", "stay"))
    assert np.corrcoef(age, stay)[0, 1] > 0.3
    assert np.corrcoef(stay, cost)[0, 1] > 0.3
    departments = np.array(table["department"])
    assert age[departments == "pediatrics"].max() < 20
    assert age[departments == "geriatrics"].min() >= 60
    assert set(np.array(table["sex"])[departments == "obstetrics"]) == {"female"}


def test_integers_are_small_and_correlated():
    table = _joined(INTEGERS, 20_000, 1)
    values = np.array([table[name] for name in table])
    assert values.min() == 0
    assert values.max() < 100
    assert np.corrcoef(values)[~np.eye(len(values), dtype=bool)].min() > 0.05


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_loads_into_duckdb(table, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.setattr(generators, "CHUNK", 300)
    with duckdb.connect() as connection:
        load_duckdb(connection, table, 1000)
        rows = connection.execute(f"SELECT * FROM {table.name} ORDER BY ALL").fetchall()
        types = [row[1] for row in connection.execute(f"DESCRIBE {table.name}").fetchall()]
    shown = {"TEXT": "VARCHAR", "DOUBLE PRECISION": "DOUBLE"}
    assert types == [shown.get(kind, kind) for _, kind in table.columns]
    assert rows == _expected(table)


@pytest.mark.postgres
@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_loads_into_postgres(table, tmp_path: Path, monkeypatch):
    engine = ready(ENGINES[2])
    import psycopg

    monkeypatch.setattr(generators, "CHUNK", 300)
    url = engine.fresh(tmp_path)
    try:
        with psycopg.connect(url) as connection:
            load_postgres(connection, table, 1000)
            rows = connection.execute(f"SELECT * FROM {table.name}".encode()).fetchall()
    finally:
        engine.drop(url)
    assert sorted(rows) == _expected(table)


def _expected(table: Synthetic) -> list[tuple[object, ...]]:
    columns = _joined(table, 1000, 1)
    if "admitted" in columns:
        columns["admitted"] = [value.date() for value in columns["admitted"]]  # type: ignore[attr-defined]
    return sorted(zip(*columns.values(), strict=True))


def test_uniform_values_are_equally_likely():
    points = lefevre(10_000, 5, distribution="uniform", seed=3)
    counts = np.apply_along_axis(np.bincount, 0, points, minlength=8)
    assert points.shape == (10_000, 5)
    assert counts.shape == (8, 5)
    assert abs(counts - 1250).max() < 5 * np.sqrt(1250 * 7 / 8)


@pytest.mark.parametrize("sigma", [0.1, 0.2, 0.4])
def test_skewed_values_have_the_mean_and_sigma_asked_for(sigma):
    points = lefevre(50_000, 3, distribution="skewed", sigma=sigma, seed=3, cardinality=50)
    assert points.min() >= 0
    assert points.max() <= 49
    assert points.mean() == pytest.approx(24.5, abs=0.3)
    if sigma <= 0.2:  # the wider ones lose their tails to the interval
        assert points.std() == pytest.approx(50 * sigma, rel=0.05)
    assert abs(np.corrcoef(points.T)[0, 1]) < 0.02


def test_less_sigma_means_more_skew():
    most = [
        np.bincount(lefevre(10_000, 1, distribution="skewed", sigma=sigma, seed=1)[:, 0]).max()
        for sigma in (0.1, 0.2, 0.3, 0.4, 0.5)
    ]
    assert most == sorted(most, reverse=True)
