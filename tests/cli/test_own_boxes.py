"""Boxes of their own on the command line: what the commands that a run proposes answer."""

from __future__ import annotations

import shlex

from tests.cli.conftest import make_duckdb

OWN = ["--qi", "age,zip", "--sensitive", "disease", "--identifier", "id", "--k", "2", "--method", "freeform", "--boxes", "own"]  # fmt: skip
POLICY = """
version: 1
connection: {url}
releases:
  - name: people
    source: people
    publish: shared.people
    {file}
    columns:
      id: {{role: identifier}}
      age: {{role: quasi}}
      zip: {{role: quasi}}
      disease: {{role: sensitive}}
    rest: drop
    privacy: {{k: 2, boxes: own}}
    method: freeform
"""


def warehouse(tmp_path, name="w"):
    return make_duckdb(
        tmp_path / f"{name}.duckdb",
        "CREATE TABLE people AS SELECT i AS id, i * 7 % 11 AS age, i * 5 % 3 AS zip, 'd' || i % 4 AS disease FROM range(12) AS r(i)",
    )


def proposed(ended):
    """The words of every command that is proposed."""
    assert ended.code == 0, ended.err
    lines = [shlex.split(line) for line in ended.out.partition("next:")[2].strip().splitlines()]
    return [words[next(at for at, word in enumerate(words) if word in ("audit", "releases")) :] for words in lines]  # fmt: skip


def test_what_anonymize_proposes_can_be_run(cli, tmp_path):
    url = warehouse(tmp_path)
    audit, releases = proposed(cli("anonymize", "people", "--db", url, *OWN, "--rest", "drop", "--to", "shared.people"))  # fmt: skip
    checked = cli(*audit)
    assert (checked.code, "by the certificate: 2" in checked.out) == (0, True)
    assert cli(*releases).code == 0
    filed = cli("anonymize", "people", "--db", url, *OWN, "--rest", "drop", "--name", "filed", "--to", "shared.filed", "--publish-file", "out.duckdb")  # fmt: skip
    assert [words[0] for words in proposed(filed)] == ["releases"]


def test_what_run_proposes_can_be_run(cli, tmp_path):
    for name, file in (("plain", ""), ("filed", "publish_file: out.duckdb")):
        policy = tmp_path / f"{name}.yml"
        policy.write_text(POLICY.format(url=warehouse(tmp_path, name), file=file))
        audit, releases = proposed(cli("run", "-p", policy))
        checked = cli(*audit)
        assert (checked.code, "by the certificate: 2" in checked.out) == (0, True)
        assert cli(*releases).code == 0
