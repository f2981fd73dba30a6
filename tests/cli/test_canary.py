"""A strange value in the data appears nowhere in what failing commands print, log or answer."""

from __future__ import annotations

import pytest

from tests.cli.conftest import HEADER, make_duckdb, write_csv

CANARY = "zq'81\"%;canary"
MARK = "canary"

QI = ["--k", "1", "--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id"]
LOUD = [["-vv"], ["-vv", "--json"], []]


def rows(count: int = 40):
    """Every column but sex holds the canary once or often."""
    return [
        (f"{CANARY}{n}", CANARY if n == 3 else 20 + n % 7, f"{CANARY}{n % 3}", "MF"[n % 2], f"{CANARY}-{n % 4}")
        for n in range(count)
    ]


@pytest.fixture
def database(tmp_path):
    path = write_csv(tmp_path / "t.csv", HEADER, rows())
    view = "CREATE VIEW broken AS SELECT id, CAST(age AS INTEGER) AS age, zip, sex, disease FROM t"
    return make_duckdb(
        tmp_path / "w.duckdb",
        f"CREATE TABLE t AS SELECT * FROM read_csv('{path}', all_varchar = true, quote = '\"', escape = '\"')",
        view,
    )


def silent(ended, codes=(1, 2, 3, 4)) -> None:
    assert ended.code in codes, ended.err
    assert MARK not in ended.out
    assert MARK not in ended.err


@pytest.mark.parametrize("loud", LOUD)
def test_anonymize(cli, database, tmp_path, loud):
    words = ["anonymize", "t", "--db", database, *QI]
    (tmp_path / "zip.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    (tmp_path / "order.csv").write_text("a\nb\n", encoding="utf-8")
    silent(cli(*words, "--k", "41", *loud), (4,))
    silent(cli(*words, "--l", "5", *loud), (4,))
    silent(cli(*words, "--hierarchy", "zip=zip.csv", *loud), (2,))
    silent(cli(*words, "--ordered", "zip=order.csv", *loud), (2,))
    silent(cli(*words, "--ordered", "zip=declared", *loud), (2,))
    silent(cli(*words, "--mean", "zip", *loud), (2,))
    silent(cli("anonymize", "broken", "--db", database, *QI, "--k", "2", *loud), (3,))
    silent(cli(*words, "--k", "2", *loud), (0,))


@pytest.mark.parametrize("loud", LOUD)
def test_others(cli, database, loud):
    silent(cli("audit", "broken", "--db", database, *loud), (3,))
    silent(cli("audit", "t", "--db", database, "--sensitive", "disease", "--identifier", "id", *loud), (0,))
    silent(cli("audit", "t", "--db", database, "--qi", "nobody", *loud))
    silent(cli("init", "broken", "--db", database, *loud), (0, 3))
    silent(cli("init", "t", "--db", database, *loud), (0,))
    silent(cli("releases", "--db", database, *loud), (0,))


@pytest.mark.parametrize("loud", LOUD)
def test_files(cli, tmp_path, loud):
    words = ["--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id", "--k", "2", "--to", "out.csv"]
    good = write_csv(tmp_path / "good.csv", HEADER, [(n, 20 + n % 5, "1", "M", "xy"[n % 2]) for n in range(30_000)])
    late = tmp_path / "late.csv"
    late.write_text(good.read_text(encoding="utf-8") + f'9,"{MARK}",1,M,x\n8,{MARK}\n', encoding="utf-8")
    ended = cli("anonymize", late, *words, *loud)
    silent(ended, (0, 2, 3))
    torn = tmp_path / "torn.csv"
    torn.write_text(good.read_text(encoding="utf-8") + f'9,"{MARK},1,M,x\n', encoding="utf-8")
    silent(cli("anonymize", torn, *words, *loud), (0, 2, 3))
