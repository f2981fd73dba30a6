"""`person` and what goes with it, in policy files and arguments: one error a mistake, with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import load, release

BASE = """version: 1
releases:
  - name: stays
    source: stays
    columns: {pid: identifier, ward: identifier, name: {role: identifier, accept_repeats: true}, age: quasi, \
dx: sensitive}
    privacy: {k: 10, l: 2}
    person: pid
    persons: rows
"""


def read(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "anon.yml"
    file.write_text(text)
    return load(file).releases[0]


def test_person_implies_events(tmp_path: Path) -> None:
    spec = read(tmp_path, BASE + "    person_share: 1/2\n    null_person: one\n")
    assert (spec.rows_are, spec.person, spec.persons, spec.null_person) == ("events", ("pid",), "rows", "one")
    assert (spec.privacy.of_persons, spec.privacy.person_share) == (True, 1 / 2)
    assert spec.list_counted() == ("pid",)
    assert read(tmp_path, BASE + "    rows_are: events\n").rows_are == "events"
    assert read(tmp_path, BASE.replace("person: pid", "person: [pid, ward]")).list_counted() == ("pid, ward",)


def test_whole_is_more_than_rows(tmp_path: Path) -> None:
    spec = read(tmp_path, BASE.replace("persons: rows", "persons: whole"))
    assert (spec.persons, spec.privacy.of_persons, spec.privacy.whole) == ("whole", True, True)
    assert not read(tmp_path, BASE).privacy.whole
    assert read(tmp_path, BASE.replace("    persons: rows\n", "")) == spec


WRONG = [
    (
        "persons: rows",
        "persons: whole\n    method: best",
        9,
        "best does not keep the rows of a person together",
        "or say persons: rows",
    ),
    (
        "persons: rows",
        "persons: ignored",
        8,
        "person asks that persons are counted",
        "say persons: rows or persons: whole, or leave person out",
    ),
    ("persons: rows", "persons: rows\n    rows_are: persons", 9, "person says whose row it is", "leave rows_are out"),
    ("    person: pid\n", "", 7, "persons: rows without person", "name the column of the person"),
    (
        "    person: pid\n    persons: rows\n",
        "    null_person: one\n",
        7,
        "without person",
        "null_person goes with person",
    ),
    (
        "    person: pid\n    persons: rows\n",
        "    person_share: 0.5\n",
        7,
        "without person",
        "person_share goes with person",
    ),
    ("person: pid", "person: age", 7, "the column age is quasi", "columns with the role identifier"),
    (
        "person: pid",
        "person: pit",
        7,
        "a column that is not listed (did you mean pid?)",
        "columns with the role identifier",
    ),
    ("person: pid", "person: name", 7, "the column name has accept_repeats", "leave accept_repeats out"),
    ("person: pid", "person: [pid, PID]", 7, "a column is named twice", "each column once"),
    ("persons: rows", "persons: rows\n    person_share: 0", 9, "too small", "a number above 0"),
    ("persons: rows", "persons: rows\n    person_share: 3", 9, "too large", "at most 1"),
    ("persons: rows", "persons: rows\n    null_person: two", 9, "", "one, distinct"),
    ("l: 2", "l: 1001", 6, "too large", "with person at most 1000"),
    (
        "{k: 10, l: 2}",
        "{maximize: k, max_loss: {per_class_ncp: 0.1}}",
        6,
        "no method counts persons while it maximizes",
        "leave person out",
    ),
    (
        "persons: rows",
        "persons: rows\n    format: anatomy",
        9,
        "exact quasi values",
        "with person use the format ranges",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "what", "allowed"), WRONG)
def test_what_does_not_go_together(tmp_path: Path, old: str, new: str, line: int, what: str, allowed: str) -> None:
    assert old in BASE
    with pytest.raises(PolicyError) as refused:
        read(tmp_path, BASE.replace(old, new))
    text = str(refused.value)
    assert f"anon.yml:{line}:" in text
    assert what in text
    assert allowed in text


@pytest.mark.parametrize(
    "method",
    ["topdown", "anatomy", "suppress", "tds", "kmember", "mdav", "agglomerative", "sequential", "hilbert_fast"],
)
def test_methods_that_do_not_count_persons_name_one_that_does(method: str) -> None:
    with pytest.raises(PolicyError, match=rf"{method}.*with .*persons.* use .*(tree|hilbert)"):
        release(source="t", quasi="q", identifiers="p", person="p", persons="rows", k=3, method=method)


@pytest.mark.parametrize("method", ["tree", "hilbert", "mondrian", "fulldomain", "idistance", "best"])
def test_methods_that_count_persons(method: str) -> None:
    asked = {"quasi": "q", "sensitive": "s", "identifiers": "p", "person": "p", "persons": "rows", "k": 3, "l": 2}
    assert release(source="t", **asked, method=method).privacy.of_persons
    with pytest.raises(PolicyError, match="l of persons"):
        release(source="t", **asked, method="fulldomain:search=all")


def test_rows_that_are_persons_are_refused_beside_a_person_in_arguments_too() -> None:
    asked = {"quasi": "q", "identifiers": "p", "person": "p", "persons": "rows", "k": 3}
    assert release(source="t", **asked).rows_are == "events"
    with pytest.raises(PolicyError, match="rows_are: person says whose row it is"):
        release(source="t", **asked, rows_are="persons")
