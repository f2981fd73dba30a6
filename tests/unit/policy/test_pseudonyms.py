"""`role: pseudonym` in policy files and arguments: one error a mistake, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import load, release
from sqlanon.release.catalog.redacted_policy import redact

BASE = """version: 1
releases:
  - name: stays
    source: stays
    columns:
      pid: {role: pseudonym, scope: hospital, secret: "${TOKENS}"}
      visit: {role: pseudonym}
      nurse: identifier
      age: quasi
    privacy: {k: 10}
    person: pid
"""


def problems(tmp_path: Path, text: str) -> tuple[str, ...]:
    file = tmp_path / "anon.yml"
    file.write_text(text)
    with pytest.raises(PolicyError) as error:
        load(file)
    return tuple(one.replace(f"{file}:", "") for one in error.value.problems)


def test_what_a_policy_holds(tmp_path: Path) -> None:
    """The name of the variable, which need not be set: a run reads it."""
    file = tmp_path / "anon.yml"
    file.write_text(BASE + "    suppression: {limit: 0.05, rows: left_out}\n")
    spec = load(file, environ={}).releases[0]
    assert (spec.scope, spec.persons, spec.token and spec.token.secret) == ("hospital", "whole", "TOKENS")
    kept = {column["name"]: column for column in redact(spec)["columns"]}
    assert (kept["pid"]["scope"], kept["pid"]["secret"]) == ("hospital", "TOKENS")
    assert not {"scope", "secret"} & set(kept["visit"])
    file.write_text(BASE.replace(", scope: hospital", ""))
    assert load(file, environ={}).releases[0].scope == "stays"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("    person: pid\n", "", 6, "tokens link rows, and nothing says whose they are"),
        ("person: pid", "person: nurse", 6, "a token of an event, and the person nurse has none"),
        ("person: pid", "person: [pid, nurse]", 6, "a token of one of several columns of a person"),
        ("person: pid", "person: pid\n    persons: rows", 12, "finds the token that has them all"),
        ("person: pid", "person: pid\n    null_person: one", 12, "a row without a person has no token"),
        ("nurse: identifier", "nurse: pseudonym", 8, "a second token of an event, next to visit"),
        (
            "visit: {role: pseudonym}",
            "visit: {role: pseudonym, scope: x}",
            7,
            "the column is not the person's; scope goes",
        ),
        (
            '"${TOKENS}"',
            "swordfish",
            6,
            "not the name of an environment variable; ${NAME}: a policy holds no secret itself",
        ),
        ("visit: {role: pseudonym}", "visit: {role: quasi, scope: x}", 7, "scope is for pseudonym columns"),
        (
            "person: pid",
            "person: pid\n    suppression: {limit: 0.1, rows: starred}",
            12,
            "a starred row would have a token",
        ),
        ("person: pid", "person: pid\n    publish_file: out.duckdb", 12, "cannot be checked together with the scope"),
        ("person: pid", "person: pid\n    rotate: version", 12, "rotate"),
    ],
)
def test_one_problem(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    found = problems(tmp_path, BASE.replace(old, new))
    assert len(found) == 1
    assert found[0].startswith(f"{line}: ")
    assert what in found[0]
    assert "swordfish" not in found[0]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("    key: pid\n    refresh: {mode: frozen}\n", "tokens link the rows of a person, whose new rows"),
        ("    method: freeform\n", "with boxes: own the rows of a token have boxes of their own"),
    ],
)
def test_what_does_not_go_with_tokens(tmp_path: Path, more: str, what: str) -> None:
    text = BASE.replace("{k: 10}", "{k: 10, boxes: own}") if "freeform" in more else BASE
    assert any(what in one for one in problems(tmp_path, text + more))


def test_arguments() -> None:
    spec = release(source="t", quasi="age", pseudonyms=["pid"], person="pid", k=2, scopes={"pid": "s"}, rest="drop")
    assert spec.scope == "s"
    with pytest.raises(PolicyError, match="nothing says whose they are"):
        release(source="t", quasi="age", pseudonyms=["pid"], k=2, rest="drop")
