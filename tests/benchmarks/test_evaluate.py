"""The independent evaluator against figures worked out by hand."""

import pytest

from benchmarks.evaluate import measure, set_loss

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t (age INTEGER, sex TEXT)")
        opened.execute("INSERT INTO t VALUES (20, 'f'), (30, 'm'), (40, 'm'), (60, 'x'), (60, 'é')")
        opened.execute("CREATE TABLE v (age_lo INTEGER, age_hi INTEGER, sex_lo TEXT, sex_hi TEXT)")
        yield opened


def test_worked_example(connection):
    """Ages span 40; sexes by bytes: f 0, m 1, x 2, é 3. Box one: 10/40 and 1/3 (twice).

    Box two: 20/40 and 2/3 (three times).
    """
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


def test_loss_by_sets(connection):
    """Ages 20, 30, 40, 60 and sexes f, m, x, é: 3 steps each.

    Rows 1 and 2: 1/3, 1/3; the others 40, 60, 60 and m, x, é: 1/3, 2/3.
    """
    connection.execute("CREATE TABLE s AS SELECT row_number() OVER () AS id, * FROM t")
    connection.execute("CREATE TABLE p (id BIGINT, age_lo INTEGER, age_hi INTEGER, sex TEXT[])")
    connection.execute("INSERT INTO p VALUES (2, 20, 30, ['f', 'm']), (1, 20, 30, ['f', 'm'])")
    connection.execute("INSERT INTO p SELECT i, 40, 60, ['m', 'x', 'é'] FROM range(3, 6) AS r(i)")
    found = set_loss(connection, "s", "p", ("age", "sex"), "id")
    assert (found.rows, found.classes, found.min_class, found.max_class) == (5, 2, 2, 3)
    assert found.columns == pytest.approx({"age": 1 / 3, "sex": (2 / 3 + 3 * 2 / 3) / 5})
    assert found.set_ncp == pytest.approx((1 / 3 + 8 / 15) / 2)


def test_loss_by_sets_distinguishes_classes_by_every_published_column(connection):
    """One range of ages, two sets of sexes: two classes. Another column that is no quasi-identifier takes no part."""
    connection.execute("CREATE TABLE s AS SELECT row_number() OVER () AS id, * FROM t")
    connection.execute("CREATE TABLE p AS SELECT id, id AS other, 20 AS age_lo, 60 AS age_hi, [id < 3] AS sex FROM s")
    assert set_loss(connection, "s", "p", ("age", "sex"), "id").classes == 2


def test_loss_by_sets_refuses_other_rows(connection):
    connection.execute("CREATE TABLE s AS SELECT row_number() OVER () AS id, * FROM t")
    for rows in ("range(1, 5)", "range(2, 7)", "(SELECT 1 UNION ALL FROM range(1, 5))"):
        connection.execute(
            f"CREATE OR REPLACE TABLE p AS SELECT i AS id, 20 AS age_lo, 60 AS age_hi, 'f' AS sex FROM {rows} AS r(i)"
        )
        with pytest.raises(ValueError, match="same rows"):
            set_loss(connection, "s", "p", ("age", "sex"), "id")
