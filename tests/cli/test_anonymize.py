"""``sqlanon anonymize``: files and tables, every option reaches the release, both outputs."""

from __future__ import annotations

import csv
import gzip
import json
import shlex
import shutil
from collections import Counter

import pytest

from tests.cli.conftest import HEADER, people, write_csv

FILE = ["--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id", "--k", "5", "--l", "2"]
KEYS = {
    *("release", "source", "rows", "suppressed", "classes", "min_class", "max_class", "requirements", "loss"),
    *("seconds", "verified"),
}


def rows_of(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_csv_to_csv(cli, people_csv, tmp_path):
    report = cli("anonymize", people_csv, *FILE, "--to", "out.csv", "--json").json
    assert set(report) >= KEYS
    assert (report["rows"], report["suppressed"], report["verified"]) == (60, 0, True)
    assert set(report["loss"]) >= {"ncp", "gcp", "dm", "c_avg", "lm", "columns"}
    assert set(report["loss"]["columns"]) == {"age", "zip", "sex"}
    assert report["seconds"]["total"] > 0
    asked = {(one["name"], one["column"]): one["asked"] for one in report["requirements"]}
    assert sorted(asked.values()) == [2, 5]
    assert all(one["satisfied"] for one in report["requirements"])
    released = rows_of(tmp_path / "out.csv")
    assert len(released) == 60
    assert "id" not in released[0]
    classes = Counter(tuple(value for name, value in row.items() if name != "disease") for row in released)
    assert (len(classes), min(classes.values()), max(classes.values())) == (
        report["classes"],
        report["min_class"],
        report["max_class"],
    )
    assert min(classes.values()) >= 5
    within = Counter(
        (tuple(value for name, value in row.items() if name != "disease"), row["disease"]) for row in released
    )
    assert all(times * 2 <= classes[group] for (group, _), times in within.items())
    assert Counter(row["disease"] for row in released) == Counter(row[4] for row in people())


def test_gz_to_parquet(cli, people_csv, tmp_path):
    zipped = tmp_path / "people.csv.gz"
    with people_csv.open("rb") as plain, gzip.open(zipped, "wb") as stream:
        shutil.copyfileobj(plain, stream)
    ended = cli("anonymize", zipped, *FILE, "--to", "out.parquet")
    assert ended.code == 0, ended.err
    import duckdb

    with duckdb.connect() as connection:
        (counted,) = connection.execute(f"SELECT count(*) FROM '{tmp_path / 'out.parquet'}'").fetchone() or ()
    assert counted == 60


def test_parquet_in(cli, people_csv, tmp_path):
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{people_csv}') TO '{tmp_path / 'people.parquet'}'")
    assert cli("anonymize", "people.parquet", *FILE, "--to", "out.csv", "--json").json["rows"] == 60


@pytest.mark.thorough
def test_text(cli, people_csv):
    ended = cli("anonymize", people_csv, *FILE, "--to", "out.csv")
    assert ended.code == 0, ended.err
    for word in ("verified", "out.csv", "60 rows", "GCP", "C_AVG", "age", "zip", "sex", "total"):
        assert word in ended.out
    assert max(map(len, ended.out.splitlines()[:1])) < 200
    assert ended.err.count("[people] number values ...") == 1
    quiet = cli("anonymize", people_csv, *FILE, "--to", "out.csv", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.thorough
def test_table(cli, warehouse):
    report = cli("anonymize", "people", "--db", warehouse, *FILE, "--to", "shared.people", "--json").json
    assert report["published"] == "shared.people"
    listed = cli("releases", "--db", warehouse, "--json").json["releases"]
    assert [(row["release"], row["version"], row["published"]) for row in listed] == [("people", 1, "shared.people")]
    text = cli("anonymize", "people", "--db", warehouse, *FILE, "--to", "shared.people")
    assert text.code == 0, text.err
    following = text.out.partition("next:")[2].strip().splitlines()
    assert len(following) == 2
    for line in following:
        words = shlex.split(line)
        start = next(at for at, word in enumerate(words) if word in ("audit", "releases"))
        assert cli(*words[start:]).code == 0


def test_names_with_commas(cli, tmp_path):
    header = ("person, id", 'say "age"', "a=b", "disease")
    path = write_csv(tmp_path / "odd.csv", header, [(n, 20 + n % 9, n % 4, "xyz"[n % 3]) for n in range(40)])
    ended = cli(
        *("anonymize", path, "--qi", '"say ""age""",a=b', "--weight", '"a=b"=3', "--identifier", '"person, id"'),
        *("--sensitive", "disease", "--k", "4", "--to", "out.csv", "--json"),
    )
    assert ended.code == 0, ended.out
    assert list(ended.json["loss"]["columns"]) == ['say "age"', "a=b"]


@pytest.mark.parametrize(
    ("words", "column"),
    [
        (["--format", "labels"], "age"),
        (["--format", "points"], "age"),
        (["--format", "suppressed"], "age"),
        (["--mean", "age"], "age_mean"),
        (["--method", "mondrian:variant=relaxed,cut=median"], "age_lo"),
        (["--execution", "kernel"], "age_lo"),
        (["--execution", "pushdown"], "age_lo"),
        (["--ordered", "zip=alphabetical", "--memory", "1GB", "--seed", "3"], "zip_lo"),
        (["--distinct-l", "2", "--weight", "age=2", "--name", "folk"], "age_hi"),
    ],
)
def test_options(cli, tmp_path, words, column):
    plain = write_csv(tmp_path / "text.csv", HEADER, [(*row[:2], f"z{row[2]}", *row[3:]) for row in people()])
    ended = cli("anonymize", plain, *FILE, *words, "--to", "out.csv", "--json")
    assert ended.code == 0, ended.out
    assert column in rows_of(tmp_path / "out.csv")[0]
    if "--name" in words:
        assert ended.json["release"] == "folk"
    if "--execution" in words:
        assert ended.json["execution"] == words[1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--l", "two"], "--l: not a number or fraction"),
        (["--l", "1/0"], "--l: not a number or fraction"),
        (["--l", "1e99999999"], "--l: not a number or fraction"),
        (["--weight", "age=much"], "--weight age: not a whole number"),
    ],
)
def test_numbers_are_wrong(cli, people_csv, words, problem):
    ended = cli("anonymize", people_csv, *FILE, *words, "--to", "out.csv")
    assert ended.code == 2
    assert problem in " ".join(ended.err.split()), ended.err


def test_options_of_the_dual_problem(cli, people_csv):
    """Each is wrong here, and the message names it: so each arrives."""
    words = ["--max-loss", "-0.5", "--max-extent", "nobody=10", "--max-extent", "age=x", "--maximize", "l"]
    words += ["--at-least", "l=0", "--at-least", "t=2", "--presence", "hidden", "--l", "3"]
    ended = cli("anonymize", people_csv, *FILE[:-4], *words, "--to", "out.csv")
    assert ended.code == 2
    for problem in (
        "--max-loss: too small",
        "--max-extent age: not a number",
        "--max-extent nobody: a column that is not listed",
        "--at-least l: too small",
        "--at-least t: unknown key",
        "--presence: not a word known here",
        "--l: cannot be combined with maximize",
    ):
        assert problem in ended.err, ended.err
    ended = cli("anonymize", people_csv, *FILE[:-4], "--maximize", "t", "--to", "out.csv")
    assert ended.code == 2
    assert "--maximize: not a word known here" in ended.err


def test_suppression(cli, people_csv):
    """Each is wrong here, and the message names it: so each arrives."""
    for words, problem in (
        ("limit=1.5,rows=dropped", "--suppression limit: too large"),
        ("limit=1.5,rows=dropped", "--suppression rows: not a word known here"),
        ("limit=0.05,rows=left_out", "--suppression: tree suppresses no rows: it would not help"),
        ("max_rows=3", "--suppression max_rows: unknown key"),
        ("0.05", "--suppression: key=value is wanted: limit=SHARE,rows=[starred|left_out]"),
    ):
        ended = cli("anonymize", people_csv, *FILE, "--suppression", words, "--to", "out.csv")
        assert ended.code == 2
        assert problem in " ".join(ended.err.split()), ended.err


@pytest.mark.parametrize("least", ["k=61", "l=50"])
def test_the_least_that_is_accepted_must_be_possible(cli, people_csv, tmp_path, least):
    words = [*FILE[:-4], "--max-loss", "0.5", "--maximize", least[0], "--at-least", least, "--to", "out.csv"]
    ended = cli("anonymize", people_csv, *words)
    assert ended.code == 4
    assert "the largest feasible value is" in ended.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("given", "search"), [(["--refine"], "auto"), (["--refine", "search=9"], 9), (["--refine=search=9"], 9)]
)
def test_refine_is_kept_with_the_release(cli, warehouse, given, search):
    words = [*FILE, *given, "--to", "shared.people", "--json"]
    assert cli("anonymize", "people", "--db", warehouse, *words).code == 0
    import duckdb

    with duckdb.connect(warehouse.removeprefix("duckdb:///"), read_only=True) as connection:
        ((policy,),) = connection.execute("SELECT policy FROM _sqlanon.catalog").fetchall()
    assert json.loads(policy)["refine"] == {"window": 40, "passes": 4, "search": search}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("search=many", "--refine search: not a whole number; a whole number from 0 to"),
        ("search=1001", "--refine search: too large; a whole number from 0 to 1000"),
        ("trials=5", "--refine trials: unknown key"),
    ],
)
def test_refine_is_wrong(cli, people_csv, tmp_path, given, problem):
    ended = cli("anonymize", people_csv, *FILE, "--refine", given, "--to", "out.csv")
    assert ended.code == 2
    assert problem in " ".join(ended.err.split()), ended.err
    assert not (tmp_path / "out.csv").exists()


def test_metrics_are_wrong(cli, people_csv, tmp_path):
    """The place in the list, which nobody wrote, is not named."""
    ended = cli("anonymize", people_csv, *FILE, "--metrics", "am,foo", "--to", "out.csv")
    assert ended.code == 2
    assert "--metrics: not a word known here; one of am," in " ".join(ended.err.split()), ended.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.thorough
def test_refine_takes_no_file_for_its_value(cli, people_csv):
    assert cli("anonymize", "--refine", people_csv, *FILE, "--to", "out.csv").code == 0


def test_hierarchy(cli, tmp_path):
    lines = [f"{53700 + n};{'low' if n < 2 else 'high'};*" for n in range(5)]
    (tmp_path / "zip.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = write_csv(tmp_path / "text.csv", HEADER, people())
    ended = cli("anonymize", text, *FILE, "--hierarchy", "zip=zip.csv", "--to", "out.csv", "--json")
    assert ended.code == 0, ended.out
    nodes = {row["zip"] for row in rows_of(tmp_path / "out.csv")}
    assert nodes <= {"low", "high", "*", *(str(53700 + n) for n in range(5))}


@pytest.mark.thorough
def test_rest(cli, people_csv, tmp_path):
    words = ["--qi", "age", "--sensitive", "disease", "--k", "5", "--to", "out.csv"]
    ended = cli("anonymize", people_csv, *words)
    assert ended.code == 2
    assert all(name in ended.err for name in ("id", "zip", "sex"))
    assert cli("anonymize", people_csv, *words, "--rest", "drop").code == 0
    assert set(rows_of(tmp_path / "out.csv")[0]) == {"age_lo", "age_hi", "disease"}


@pytest.mark.parametrize(
    "words",
    [
        ["anonymize", "people"],
        ["anonymize", "people", "--k", "5", "--qi", "age", "--to", "out.csv"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--publish-file", "x.duckdb"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age,", "--to", "out.csv"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--l", "many"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--format", "poems"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--max-loss", "1/0"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--max-extent", "age"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--at-least", "2"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--method", "guess"],
        ["anonymize", "people.csv", "--k", "5", "--qi", "age", "--to", "out.csv", "--allow-weaker"],
        ["anonymize", "people", "--db", "oracle://x", "--k", "5", "--qi", "age"],
    ],
)
@pytest.mark.usefixtures("people_csv")
def test_usage(cli, words):
    ended = cli(*words)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert cli(*words, "--json").json["error"]["exit_code"] == 2


@pytest.mark.thorough
def test_publish_file(cli, warehouse, tmp_path):
    target = tmp_path / "public.duckdb"
    ended = cli("anonymize", "people", "--db", warehouse, *FILE, "--publish-file", target, "--json")
    assert ended.code == 0, ended.out
    import duckdb

    with duckdb.connect(str(target), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM release.people").fetchone() == (60,)
    shown = cli("anonymize", "people", "--db", warehouse, *FILE, "--publish-file", target)
    assert "--db duckdb:///" + str(target) in shown.out
    assert cli("audit", "release.people", "--db", f"duckdb:///{target}", "--sensitive", "disease").code == 0


@pytest.mark.parametrize("words", [[], ["--l", "2"], ["--distinct-l", "2"]])
def test_k_must_be_said(cli, people_csv, warehouse, tmp_path, words):
    """Without it the table itself would be published, and over a release that had k = 5."""
    forgotten = [*FILE[:-4], *words]
    ended = cli("anonymize", people_csv, *forgotten, "--to", "out.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "--k: is missing" in ended.err
    assert not (tmp_path / "out.csv").exists()
    assert cli("anonymize", "people", "--db", warehouse, *FILE).code == 0
    assert cli("anonymize", "people", "--db", warehouse, *forgotten).code == 2
    (row,) = cli("releases", "--db", warehouse, "--json").json["releases"]
    assert row["min_class"] >= 5


def test_weaker_than_what_is_published(cli, warehouse):
    """The same name again: a new version in any case, and a weaker one only when it is meant."""
    table = ["anonymize", "people", "--db", warehouse]
    assert cli(*table, *FILE).code == 0
    assert cli(*table, *FILE, "--json").json["version"] == 2
    weaker = [*table, *FILE[:-4], "--k", "1", "--json"]
    ended = cli(*weaker)
    assert ended.code == 2
    assert "k 5 -> 1 (weaker)" in ended.json["error"]["message"]
    assert "--allow-weaker" in ended.json["error"]["message"]
    assert cli("releases", "--db", warehouse, "--json").json["releases"][-1]["version"] == 2
    assert cli(*weaker, "--allow-weaker").json["version"] == 3


def test_a_table_becomes_a_view_and_a_file(tmp_path, cli):
    """The catalog knows what left the database; the file holds the view's rows, and is audited as any other."""
    import duckdb

    with duckdb.connect(str(tmp_path / "w.duckdb")) as made:
        made.execute(
            "CREATE TABLE people AS SELECT 20 + i % 40 AS age, ['flu', 'cold'][1 + i % 2] AS ill FROM range(80) AS r(i)"
        )
    asked = ("people", "--db", "duckdb:///w.duckdb", "--qi", "age", "--sensitive", "ill", "--k", "8")
    report = cli("anonymize", *asked, "--to", "out.parquet", "--json").json
    assert report["published"] == "release.people"
    assert "were written to out.parquet" in report["notes"][-1]
    with duckdb.connect(str(tmp_path / "w.duckdb"), read_only=True) as read:
        view = read.execute("SELECT * FROM release.people ORDER BY ALL").fetchall()
    assert (
        duckdb.execute("SELECT * FROM read_parquet(?) ORDER BY ALL", [str(tmp_path / "out.parquet")]).fetchall() == view
    )
    audit = cli("audit", "out.parquet", "--sensitive", "ill", "--json").json
    assert audit["rows"] == 80
    assert audit["k"] == report["min_class"] >= 8
    assert [row["release"] for row in cli("releases", "--db", "duckdb:///w.duckdb", "--json").json["releases"]] == [
        "people"
    ]
    wrong = cli("anonymize", *asked, "--to", "missing/out.csv", "--name", "other", "--json")
    assert wrong.code == 2
    assert "no such directory" in wrong.json["error"]["message"]
    assert cli("anonymize", *asked, "--to", "out.csv.gz").code == 2
