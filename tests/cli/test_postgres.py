"""The same commands over PostgreSQL."""

from __future__ import annotations

import pytest

import sqlanon
from tests.cli.conftest import HEADER, POLICY, people
from tests.conftest import ready
from tests.engines import ENGINES, create_table

CANARY = "zq'81\"%canary"


@pytest.fixture
def url(tmp_path):
    """A database with the table of the other tests, and a view that cannot be read through."""
    engine = ready(ENGINES[2])
    fresh = engine.fresh(tmp_path)
    types = dict(zip(HEADER, ("BIGINT", "INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"), strict=True))
    with sqlanon.connect(fresh) as db:
        create_table(db, "people", types, people())
        create_table(db, "odd", types, [(n, 20 + n % 5, CANARY, "M", f"{CANARY}{n % 3}") for n in range(30)])
        db.engine.execute("CREATE VIEW broken AS SELECT id, CAST(zip AS INTEGER) AS age, zip, sex, disease FROM odd")
    yield fresh
    engine.drop(fresh)


@pytest.mark.postgres
def test_walk(cli, url, tmp_path):
    proposed = cli("init", "people", "--db", url)
    assert proposed.code == 0, proposed.err
    text = POLICY.format(url=url).replace("main.people", "public.people")
    (tmp_path / "anon.yml").write_text(text, encoding="utf-8")
    assert cli("plan").code == 0
    report = cli("run", "--json").json
    assert (report["rows"], report["verified"], report["published"]) == (60, True, "release.people")
    audit = cli("audit", "release.people", "--sensitive", "disease", "--json")
    assert (audit.code, audit.json["k"] >= 5) == (0, True)
    assert cli("releases", "--json").json["releases"][0]["release"] == "people"
    assert cli("clean").code == 0


@pytest.mark.postgres
@pytest.mark.parametrize("loud", [[], ["-vv"], ["-vv", "--json"]])
def test_canary(cli, url, loud):
    words = ["--db", url, "--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id", "--k", "1"]
    for command, code in (
        (["anonymize", "broken", *words, "--k", "2"], 3),
        (["anonymize", "odd", *words, "--k", "31"], 4),
        (["anonymize", "odd", *words, "--l", "9"], 4),
        (["anonymize", "odd", *words, "--k", "2"], 0),
        (["audit", "broken", "--db", url], 3),
    ):
        ended = cli(*command, *loud)
        assert ended.code == code, ended.err
        assert "canary" not in ended.out
        assert "canary" not in ended.err


@pytest.mark.postgres
def test_no_such_table(cli, url):
    ended = cli("audit", "nobody", "--db", url)
    assert (ended.code, ended.out) == (3, "")
    assert "nobody" in ended.err
