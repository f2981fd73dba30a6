"""The independent evaluator against figures worked out by hand."""

import pytest

from benchmarks.evaluate import measure

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t (age INTEGER, sex TEXT)")
        opened.execute("INSERT INTO t VALUES (20, 'f'), (30, 'm'), (40, 'm'), (60, 'x'), (60, 'é')")
        opened.execute("CREATE TABLE v (age_lo INTEGER, age_hi INTEGER, sex_lo TEXT, sex_hi TEXT)")
        yield opened


def test_worked_example(connection):
    """Ages span 40; sexes by bytes: f 0, m 1, x 2, é 3. Box one: 10/40 and 1/3 (twice). Box two: 20/40 and 2/3 (three times)."""
    connection.execute("INSERT INTO v SELECT 20, 30, 'f', 'm' FROM range(2)")
    connection.execute("INSERT INTO v SELECT 40, 60, 'm', 'é' FROM range(3)")
    found = measure(connection, "t", "v", ("age", "sex"), 2)
    assert (found.rows, found.classes, found.min_class, found.max_class) == (5, 2, 2, 3)
    assert found.dm == 2**2 + 3**2
    assert found.c_avg == pytest.approx(5 / (2 * 2))
    assert found.columns == pytest.approx({"age": (2 * 0.25 + 3 * 0.5) / 5, "sex": (2 / 3 + 3 * 2 / 3) / 5})
    assert found.range_ncp == pytest.approx((0.4 + (2 / 3 + 2) / 5) / 2)


def test_classes_differ_by_any_end(connection):
    connection.execute(
        "INSERT INTO v VALUES (20, 30, 'f', 'm'), (20, 40, 'f', 'm'), (20, 30, 'f', 'x'), (30, 30, 'f', 'm'),"
        " (20, 30, 'f', 'm')"
    )
    found = measure(connection, "t", "v", ("age", "sex"), 1)
    assert (found.classes, found.min_class, found.max_class, found.dm) == (4, 1, 2, 7)


def test_a_constant_column_loses_nothing(connection):
    connection.execute("UPDATE t SET age = 7")
    connection.execute("INSERT INTO v SELECT 7, 7, 'f', 'f' FROM range(5)")
    assert measure(connection, "t", "v", ("age", "sex"), 5).range_ncp == 0


def test_refuses_what_it_cannot_judge(connection):
    connection.execute("INSERT INTO v SELECT 20, NULL, 'f', 'f' FROM range(5)")
    with pytest.raises(ValueError, match="NULL"):
        measure(connection, "t", "v", ("age", "sex"), 1)
    connection.execute("DELETE FROM v")
    connection.execute("INSERT INTO v VALUES (20, 20, 'f', 'f')")
    with pytest.raises(ValueError, match="number of rows"):
        measure(connection, "t", "v", ("age", "sex"), 1)
