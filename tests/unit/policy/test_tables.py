"""`tables:` of a policy file: what each table gets, and what is refused, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import load
from sqlanon.spec import TablesSpec

HEAD = "version: 1\nreleases:\n  - name: hospital\n"
RIGHT = """\
    person: pid
    privacy: {k: 5}
    keep: 4
    tables:
      - {source: main.patients, columns: {pid: pseudonym, age: quasi}, privacy: {k: 20}}
      - source: main.stays
        columns: {pid: pseudonym, ward: quasi}
        name: visits
"""


def write(folder: Path, text: str) -> Path:
    (folder / "anon.yml").write_text(HEAD + text)
    return folder / "anon.yml"


def test_what_is_written_for_all_tables_and_for_one(tmp_path: Path) -> None:
    one, two = load(write(tmp_path, RIGHT)).releases
    assert (one.name, one.publish, one.privacy.k) == ("hospital.patients", "release.patients", 20)
    assert (two.name, two.publish, two.privacy.k) == ("hospital.visits", "release.visits", 5)
    assert {(spec.refresh.keep, spec.scope, spec.person, spec.persons) for spec in (one, two)} == {
        (4, "hospital", ("pid",), "whole")
    }
    assert one.together == two.together == TablesSpec("hospital", ("hospital.patients", "hospital.visits"))
    assert all(spec.rotates for spec in load(write(tmp_path, RIGHT + "    rotate: version\n")).releases)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (RIGHT.replace("k: 5", "k: none"), 5, "releases[hospital].privacy.k: not a whole number"),
        (RIGHT.replace("keep: 4", "keeps: 4"), 6, "keeps: unknown key"),
        (RIGHT.replace("ward: quasi", "ward: q"), 10, "tables[1].columns.ward.role"),
        (RIGHT.replace("pid: pseudonym, ward", "pid: identifier, ward"), 10, "no token of the person"),
        (RIGHT.replace("name: visits", "name: patients"), 11, "the name of the release in line"),
        (RIGHT + "    publish_file: a.duckdb\n", 12, "published in one transaction"),
        (RIGHT + "    source: main.other\n", 12, "all tables would share it"),
        (RIGHT + "    rotate: always\n", 12, "not a word that is known; version"),
        (
            RIGHT.replace("{pid: pseudonym, ward", "{pid: {role: pseudonym, scope: a}, ward"),
            7,
            "tables of several scopes",
        ),
        (RIGHT + "        history: {max_failing: 0}\n", 7, "versions of all tables are compared together"),
        (
            RIGHT.replace("{pid: pseudonym, ward", "{pid: {role: pseudonym, scope: hospital}, ward")
            + "    rotate: version\n",
            10,
            "draws new tokens for the tables of this release alone",
        ),
        ("    person: pid\n    privacy: {k: 5}\n    tables: []\n", 6, "not a list of at least two tables"),
        (
            (
                "    source: a\n    columns: {pid: pseudonym, age: quasi}\n    person: pid\n    privacy: {k: 5}\n    "
                "rotate: version\n"
            ),
            8,
            "a release of one table, whose tokens join nothing within a version; rotate goes with tables",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, line: int, what: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(PolicyError) as error:
        load(file)
    found = [problem for problem in error.value.problems if problem.startswith(f"{file}:{line}: ")]
    assert any(what in problem for problem in found), error.value.problems
    assert len(error.value.problems) <= 2
