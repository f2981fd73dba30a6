"""Row-level security on PostgreSQL: a role that sees 100 of 600 rows does not release them as if they were all."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import GuardError
from tests.engines import ENGINES
from tests.invoked import invoke

PASSWORD = uuid.uuid4().hex
VIEWS = {
    "public.patients": "public.patients",
    "public.seen": "public.patients",
    "public.seen_twice": "public.patients",
    "public.asks": "public.patients",
    "public.joined": "public.patients",
    "public.forced": "public.forced",
    "public.shut": "public.shut",
}
"""Sources of which the role sees a part, and the table whose policy hides the rest."""
WHOLE = ("public.open", "public.owners")
"""Sources of which it sees everything, though a table below has row-level security."""


@pytest.fixture(scope="module")
def places(connect_module: Any) -> Iterator[tuple[Any, str, str]]:
    """A database with a role that sees 100 of 600 rows; the owner's connection, the role's URL and name."""
    engine = ENGINES[2]
    owner = connect_module(engine)
    role = f"hospital_{uuid.uuid4().hex[:8]}"
    run = owner.engine.execute
    database = owner.engine.fetch("SELECT current_database()")[0][0]
    run(
        f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'; GRANT CREATE ON DATABASE {database} TO {role}; GRANT ALL ON "
        f"SCHEMA public TO {role}"
    )
    rows = (
        "SELECT i AS id, 20 + i % 30 AS age, CASE WHEN i % 6 = 0 THEN 'a' ELSE 'b' END AS hospital, 'c' || i % 3 AS "
        "ill FROM generate_series(1, 600) AS g(i)"
    )
    for table in ("patients", "shut", "open"):
        run(f"CREATE TABLE public.{table} AS {rows}")
    run(
        "CREATE TABLE public.wards AS SELECT DISTINCT hospital FROM public.patients; GRANT SELECT ON public.wards TO "
        f"{role}"
    )
    for table in ("patients", "shut"):
        run(f"ALTER TABLE public.{table} ENABLE ROW LEVEL SECURITY")
    run("CREATE POLICY own ON public.patients USING (hospital = 'a')")  # of table shut nobody sees a row
    run(f"CREATE VIEW public.owners AS SELECT * FROM public.patients; CREATE TABLE public.forced AS {rows}")
    run(
        f"ALTER TABLE public.forced OWNER TO {role}; ALTER TABLE public.forced ENABLE ROW LEVEL SECURITY; ALTER TABLE "
        "public.forced FORCE ROW LEVEL SECURITY"
    )
    run("CREATE POLICY own ON public.forced USING (hospital = 'a')")
    run(f"GRANT SELECT ON public.patients, public.shut, public.open, public.owners TO {role}")
    info = owner.engine._connection.info
    url = f"postgresql://{role}:{quote(PASSWORD)}@/{info.dbname}?host={quote(info.host, safe='')}&port={info.port}"
    with sqlanon.connect(url) as own:
        own.engine.execute("CREATE VIEW public.seen AS SELECT * FROM public.patients")
        own.engine.execute("CREATE VIEW public.seen_twice AS SELECT * FROM public.seen WHERE age > 0")
        own.engine.execute(
            "CREATE VIEW public.joined AS SELECT p.* FROM public.open AS p WHERE EXISTS (SELECT 1 FROM public.seen AS "
            "s WHERE s.id = p.id)"
        )
    invoker = int(str(owner.engine.fetch("SHOW server_version_num")[0][0])) >= 150000
    run(
        f"CREATE VIEW public.asks {'WITH (security_invoker = true)' if invoker else ''} AS SELECT * FROM "
        f"public.patients; GRANT SELECT ON public.asks TO {role}"
    )
    if not invoker:
        run(f"ALTER VIEW public.asks OWNER TO {role}")
    yield owner, url, role
    for text in (
        "DROP SCHEMA IF EXISTS _sqlanon, release CASCADE",
        f"DROP OWNED BY {role} CASCADE",
        f"DROP ROLE {role}",
    ):
        run(text)


def spec(source: str, **changes: Any) -> Any:
    name = source.rpartition(".")[2]
    return policy.release(
        **{
            "source": source,
            "name": name,
            "publish": f"release.{name}",
            "quasi": "age",
            "sensitive": "ill",
            "identifiers": "id",
            "rest": "drop",
            "k": 3,
            **changes,
        }
    )


@pytest.mark.parametrize("source", VIEWS)
def test_a_part_is_not_released_as_if_it_were_all(places: Any, source: str) -> None:
    _, url, _ = places
    with sqlanon.connect(url) as db:
        with pytest.raises(
            GuardError, match=rf"row-level security of {VIEWS[source]} .*row_security: applied"
        ) as caught:
            db.run(spec(source))
        assert caught.value.exit_code == 2
        assert db.releases(source.rpartition(".")[2]) == ()
        if source != "public.shut":
            assert any(
                f"row-level security of {VIEWS[source]}" in line and "run stops" in line
                for line in db.plan(spec(source)).warnings
            )


@pytest.mark.parametrize("source", [name for name in VIEWS if name != "public.shut"])
def test_the_policy_may_say_that_a_part_is_released(places: Any, source: str) -> None:
    _, url, _ = places
    with sqlanon.connect(url) as db:
        visible = db.engine.fetch(f"SELECT count(*) FROM {source}")[0][0]
        assert visible == 100
        asked = spec(source, row_security="applied")
        report = db.run(asked)
        assert report.rows == visible
        assert any(
            f"row-level security of {VIEWS[source]}" in line and "the rows that it sees" in line
            for line in report.warnings
        )
        assert any("row_security: applied" in line for line in db.plan(asked).warnings)
        with pytest.raises(GuardError, match="row-level security"):
            db.run(spec(source))


@pytest.mark.parametrize("source", WHOLE)
def test_who_sees_every_row_is_not_stopped(places: Any, source: str) -> None:
    """A view of the owner's reads with the owner's rights."""
    _, url, _ = places
    with sqlanon.connect(url) as db:
        assert not any("row-level" in line for line in db.plan(spec(source)).warnings)
        assert db.run(spec(source)).rows == 600


def test_the_owner_and_superusers_are_not_stopped(places: Any) -> None:
    owner, *_ = places
    tables = [owner.engine.target(name) for name in ("public.patients", "public.forced", "public.shut")]
    assert owner.engine.rights.list_filtered_tables(tables) == []
    with owner.engine.snapshot(whole=True):
        assert owner.engine.fetch("SELECT count(*) FROM public.shut") == [(600,)]


def test_init_says_it(places: Any) -> None:
    _, url, _ = places
    with sqlanon.connect(url) as db:
        assert any("row-level security of public.patients" in note for note in db.propose("public.patients").notes())
        assert "row-level security of public.patients" in db.propose("public.patients").policy(None, "public.patients")
        assert not any("row-level" in note for note in db.propose("public.open").notes())


@pytest.mark.parametrize("applied", ["", ", row_security: applied"])
def test_tables_that_are_released_together(places: Any, tmp_path: Any, applied: str) -> None:
    """One of two tables may be a part by its policy; the other may not."""
    _, url, _ = places
    file = tmp_path / "anon.yml"
    tables = "".join(
        f"\n      - {{source: public.{name}, name: {name}, privacy: {{k: 2}}, publish: release.pair_{name}, rest: "
        f"drop, columns: {{id: pseudonym, age: quasi}}{more}}}"
        for name, more in (("open", ""), ("patients", applied), ("forced", ""))
    )
    text = (
        "version: 1\nreleases:\n  - name: pair\n    person: id\n    suppression: {limit: 1, rows: left_out}\n"
        f"    tables:{tables}\n"
    )
    file.write_text(text)
    with sqlanon.connect(url) as db:
        with pytest.raises(GuardError, match=r"row-level security of public\.(forced|patients) may hide"):
            db.run_tables(policy.load(file).releases)
        if applied:
            file.write_text(text.replace("pair_forced, rest: drop", "pair_forced, rest: drop, row_security: applied"))
            reports = db.run_tables(policy.load(file).releases)
            assert [report.rows for report in reports] == [600, 100, 100]
            assert [any("row-level" in line for line in report.warnings) for report in reports] == [False, True, True]


def test_the_command_line(places: Any) -> None:
    """Without the option the exit code is 2, and the error names the option.

    With it the rows that the role sees are released.
    """
    _, url, _ = places
    words = [
        "anonymize",
        "public.patients",
        "--db",
        url,
        "--qi",
        "age",
        "--sensitive",
        "ill",
        "--identifier",
        "id",
        "--k",
        "3",
    ]
    words += ["--insensitive", "hospital", "--to", "release.cli", "--name", "cli"]
    ended = invoke(*words)
    assert ended.exit_code == 2
    assert "--row-security applied" in ended.stderr
    ended = invoke(*words, "--row-security", "applied", "--json")
    assert ended.exit_code == 0, ended.output
    assert '"rows": 100' in ended.stdout
    assert "row-level security of public.patients" in ended.stdout


@pytest.mark.parametrize(("table", "warned"), [("public.patients", True), ("public.open", False)])
def test_an_audit_says_that_it_measures_a_part(places: Any, table: str, warned: bool) -> None:
    import json

    _, url, _ = places
    words = ["audit", table, "--qi", "age", "--db", url]
    for more in ([], ["--quiet"]):
        ended = invoke(*words, *more)
        assert ended.exit_code == 0
        assert ("may hide rows from this role" in ended.output) == warned
    found = json.loads(invoke(*words, "--json").stdout)
    assert len(found.get("warnings", [])) == warned
