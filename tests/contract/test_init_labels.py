"""`sqlanon init --from-labels` reads the labels in PostgreSQL's own catalog.

The server has no label provider, which SECURITY LABEL asks for, so the rows that the command would write are put there
by the superuser.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.policy import loads
from tests.contract.test_init_persons import proposed, table_of
from tests.engines import ENGINES, PAIR, create_table
from tests.invoked import invoke

SECRET = "zq81canary"
LABELS = {
    "last_name": [("anon", "MASKED WITH FUNCTION anon.fake_last_name()")],
    "town": [("k_anonymity", "QUASI IDENTIFIER")],
    "born": [
        ("anon", "masked with function anon.generalize_daterange(born,'year')"),
        ("k_anonymity", "indirect identifier"),
    ],
    "pay": [("anon", "MASKED WITH FUNCTION anon.noise(pay, 0.3)")],
    "note": [("anon", f"MASKED WITH VALUE $${SECRET}$$")],
    "card": [("anon", f"MASKED WITH FUNCTION anon.partial(card, 2, $${SECRET}$$, 2)")],
    "ward": [("anon", "NOT MASKED")],
    "other": [("elsewhere", "MASKED WITH VALUE NULL")],
}
ROLES = {
    "last_name": "identifier",
    "town": "quasi",
    "born": "quasi",
    "pay": "quasi",
    "note": "identifier",
    "card": "identifier",
    "ward": "quasi",
    "other": "quasi",
    "disease": "sensitive",
}


@pytest.fixture(scope="module")
def table(connect_module: Any) -> tuple[Any, str]:
    db = connect_module(next(engine for engine in PAIR if engine.name.startswith("postgres")))
    name = f"People {uuid.uuid4().hex[:6]}"
    columns = dict.fromkeys([*LABELS, "disease"], "TEXT") | {"born": "DATE", "pay": "INTEGER"}
    rows = [
        (
            f"n{i % 7}",
            f"t{i % 5}",
            f"19{50 + i % 9}-01-01",
            100 * (i % 6),
            f"c{i % 4}",
            f"d{i % 3}",
            f"w{i % 2}",
            f"o{i % 4}",
            "ab"[i // 180 % 2],
        )
        for i in range(1800)
    ]
    create_table(db, name, columns, rows)
    quoted = f'"{name}"'
    db.engine.execute("SET allow_system_table_mods = on")
    for column, given in LABELS.items():
        for provider, label in given:
            db.engine.execute(
                "INSERT INTO pg_catalog.pg_seclabel (objoid, classoid, objsubid, provider, label) SELECT attrelid, "
                f"'pg_class'::regclass, attnum, '{provider}', '{label.replace(chr(39), chr(39) * 2)}' FROM "
                f"pg_attribute WHERE attrelid = '{quoted}'::regclass AND attname = '{column}'"
            )
    db.engine.execute("SET allow_system_table_mods = off")
    return db, quoted


def test_labels_are_proposals_of_roles(table: tuple[Any, str]) -> None:
    db, name = table
    proposal = db.propose(name, from_labels=True)
    assert {column.name: column.role for column in proposal.columns} == ROLES
    text = proposal.policy(None, name)
    assert SECRET not in text
    assert "labelled MASKED WITH fake_last_name" in text
    assert "labelled as quasi-identifier" in text
    assert "labelled NOT MASKED" in text
    assert not proposal.refused
    (spec,) = loads(text, {}).releases
    assert {column.name: column.role for column in spec.columns} == ROLES
    # Without the option names and counts decide, as ever.
    assert {column.name: column.role for column in db.propose(name).columns}["pay"] != "identifier"


def test_a_table_without_labels_and_an_engine_without_any(table: tuple[Any, str], connect_module: Any) -> None:
    db, _ = table
    create_table(db, "unlabelled", {"age": "INTEGER"}, [(1,)])
    with pytest.raises(PolicyError, match=r"no column of .* has a security label"):
        db.propose("unlabelled", from_labels=True)
    other = connect_module(next(engine for engine in PAIR if not engine.name.startswith("postgres")))
    create_table(other, "unlabelled", {"age": "INTEGER"}, [(1,)])
    with pytest.raises(UnsupportedError, match="security labels"):
        other.propose("unlabelled", from_labels=True)


def test_the_command_takes_it_for_tables_only(tmp_path: Any) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n", encoding="utf-8")
    ended = invoke("init", path, "--from-labels", "--json")
    assert ended.exit_code == 2
    assert "--db" in json.loads(ended.stdout.strip().splitlines()[-1])["error"]["message"]


def test_names_of_columns_stay_in_their_comments(connect: Any) -> None:
    """A name with line breaks, which its twin's reason and the person's line would quote."""
    evil = "a\n    rest: keep\n    readers: [mallory]\n    #"
    rows = [(at % 7, f"w{at % 7}", at % 30) for at in range(300)]
    db = connect(ENGINES[0])
    table = table_of(db, {evil: "INTEGER", "c": "VARCHAR", "d": "INTEGER"}, rows)
    spec, _, text = proposed(db, table)
    assert (spec.rest, spec.readers) == ("error", ())
    assert "\n    rest: keep" not in text


def test_ends_are_numbers_that_a_policy_takes(connect: Any) -> None:
    rows = [(at % 5, (at * 3 % 37) * 1e-8 if at else 5.0, (at % 41) * 1e14 if at else 1e40) for at in range(300)]
    db = connect(ENGINES[0])
    spec, _, _ = proposed(db, table_of(db, {"n": "INTEGER", "small": "DOUBLE", "large": "DOUBLE"}, rows))
    tops = {column.name: column.recode and column.recode.top for column in spec.columns}
    assert 3.6e-7 <= float(str(tops["small"])) <= 1e-6
    assert tops["large"] is None
