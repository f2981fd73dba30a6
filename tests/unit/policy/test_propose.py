"""The policy that ``sqlanon init`` proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.policy import RelatedCounts, VaryingAttributes, load, propose
from sqlanon.spec import ReleaseSpec

CANARY = "s3cr3t"


@dataclass
class Profile:
    name: str
    kind: str = "text"
    distinct: int = 20
    top: int = 100
    rows: int = 1000
    nulls: int = 0
    singles: int = 0
    type: str = "VARCHAR"
    comparable: bool = True
    iso: int = 0
    dated: int = 0
    coded: int = 0
    worded: int = 0
    bottom: str | None = None
    top_value: str | None = None


def text_of(url: str | None, source: str, profile: Sequence[Profile]) -> str:
    return propose(profile).policy(url, source)


def proposed(tmp_path: Path, *profile: Profile, url: str | None = None, source: str = "main.t") -> ReleaseSpec:
    path = tmp_path / "anon.yml"
    path.write_text(text_of(url, source, profile), encoding="utf-8")
    policy = load(path, {"SQLANON_PASSWORD": CANARY})
    assert policy.connection == url
    return policy.releases[0]


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (Profile("Hauptdiagnose", distinct=40), "sensitive"),
        (Profile("Lehrkraft", distinct=30), "identifier"),
        (Profile("Bruttogehalt", "integer", distinct=200), "sensitive"),
        (Profile("Delikt", distinct=5), "sensitive"),
        (Profile("x", distinct=40, worded=1000), "identifier"),
        (Profile("city", distinct=40, worded=1000), "quasi"),
        (Profile("id", "integer", distinct=40), "identifier"),
        (Profile("patient_id", "integer", distinct=1000), "identifier"),
        (Profile("id", "integer", distinct=1000), "identifier"),
        (Profile("patientID", "integer", distinct=500), "identifier"),
        (Profile("Name", distinct=900), "identifier"),
        (Profile("first_name", distinct=300), "identifier"),
        (Profile("E-Mail", distinct=1000), "identifier"),
        (Profile("email2"), "identifier"),
        (Profile("SSN"), "identifier"),
        (Profile("home_phone"), "identifier"),
        (Profile("streetAddress", distinct=800), "identifier"),
        (Profile("notes", distinct=999), "identifier"),
        (Profile("age", "integer", distinct=80), "quasi"),
        (Profile("ZIP"), "quasi"),
        (Profile("zip_code", "integer", distinct=990), "quasi"),
        (Profile("sex", distinct=2), "quasi"),
        (Profile("birth_date", "date", distinct=1000), "quasi"),
        (Profile("dateOfBirth", "date", distinct=990), "quasi"),
        (Profile("country_name", distinct=40), "quasi"),
        (Profile("hospital", distinct=12), "quasi"),
        (Profile("employer", distinct=950), "identifier"),
        (Profile("diagnosis", distinct=30), "sensitive"),
        (Profile("Disease", "enum", distinct=5), "sensitive"),
        (Profile("salary", "integer", distinct=400), "sensitive"),
        (Profile("income", "float", distinct=700), "identifier"),
        (Profile("code", distinct=950, singles=900), "identifier"),
        (Profile("cost", "float", distinct=1000), "identifier"),
        (Profile("flag", "boolean", distinct=2), "quasi"),
        (Profile("email_opt_in", "boolean", distinct=2), "quasi"),
        (Profile("something", distinct=300), "identifier"),
        (Profile("something", distinct=40), "quasi"),
        (Profile("something", distinct=60), "identifier"),
        (Profile("something", "integer", distinct=60), "quasi"),
        (Profile("neighborhood", distinct=60), "quasi"),
        (Profile("few", distinct=3), "quasi"),
        (Profile("blob", "other", distinct=300), "identifier"),
        (Profile("mostly_null", distinct=10, nulls=990), "identifier"),
        (Profile("admission_type_id", "integer", distinct=8), "quasi"),
        (Profile("patient_type_id", "integer", distinct=8), "quasi"),
        (Profile("status_id", "integer", distinct=8), "quasi"),
        (Profile("status_id", "integer", distinct=8, rows=16), "identifier"),
        (Profile("patient_nbr", "integer", distinct=700), "identifier"),
        (Profile("patient_no", "integer", distinct=8), "identifier"),
        (Profile("custNum", "integer", distinct=700), "identifier"),
        (Profile("mrn", "integer", distinct=12), "identifier"),
        (Profile("IBAN", distinct=300), "identifier"),
        (Profile("policy_no", distinct=300), "identifier"),
        (Profile("hadm_id", "integer", distinct=900), "identifier"),
        (Profile("patientid", "integer", distinct=300), "identifier"),
        (Profile("num_lab_procedures", "integer", distinct=120), "quasi"),
        (Profile("num_medications", "integer", distinct=50), "quasi"),
        (Profile("number_diagnoses", "integer", distinct=16), "quasi"),
        (Profile("diag_1", distinct=400), "sensitive"),
        (Profile("icd9_code", distinct=400), "sensitive"),
        (Profile("DX3", distinct=400), "sensitive"),
        (Profile("diagonal", "float", distinct=400), "quasi"),
        (Profile("PAY_0", "integer", distinct=11), "quasi"),
        (Profile("PAY_AMT1", "integer", distinct=260), "quasi"),
        (Profile("BILL_AMT1", "integer", distinct=780), "quasi"),
        (Profile("account_balance", "float", distinct=400), "sensitive"),
        (Profile("token_text", distinct=700), "identifier"),
        (Profile("disease", distinct=1), "quasi"),
        (Profile("diagnosis", "other", distinct=20), "identifier"),
        (Profile("tags", "other", distinct=1), "identifier"),
        (Profile("untyped", "other", distinct=0, nulls=1000, top=0), "identifier"),
        (Profile("surname", distinct=1), "identifier"),
        (Profile("patient_id", "integer", distinct=1), "identifier"),
        (Profile("type_id", "integer", distinct=1), "quasi"),
        (Profile("all_null", distinct=0, nulls=1000, top=0), "quasi"),
    ],
)
def test_roles(tmp_path: Path, column: Profile, role: str) -> None:
    spec = proposed(tmp_path, column, Profile("age", "integer", distinct=80) if column.name != "age" else Profile("x"))
    assert spec.columns[0].role == role


def test_the_text_says_why() -> None:
    text = text_of(
        "duckdb:///w.duckdb", "main.patients", [Profile("ssn", distinct=1000), Profile("age", "integer", nulls=10)]
    )
    assert "ssn: {role: identifier}  # identifies, by its name (ssn); 1000 different values in 1000 rows\n" in text
    assert (
        "age: {role: quasi}  # others may know it, by its name (age); 20 different values in 990 rows, 10 NULL\n"
        in text
    )


def test_a_number_that_repeats_says_whose_rows_they_are_and_a_name_does_not(tmp_path: Path) -> None:
    spec = proposed(
        tmp_path,
        Profile("name", distinct=700),
        Profile("patient_id", "integer", distinct=700),
        Profile("ssn", distinct=4),
        Profile("age"),
    )
    assert [column.accept_repeats for column in spec.columns] == [True, False, True, False]
    assert (spec.rows_are, spec.person) == ("events", ("patient_id",))
    other = proposed(tmp_path, Profile("name", distinct=700), Profile("age"))
    assert (other.rows_are, other.person) == ("persons", ())


@pytest.mark.parametrize(
    "name",
    [
        "USUBJID",
        "SUBJID",
        "PTID",
        "MRNUM",
        "NHSNO",
        "PATIENT",
        "PTNO",
        "PATNO",
        "subjectId",
        "DESYNPUF_ID",
        "Survey ResponseID",
        "bene_id",
    ],
)
def test_numbers_of_persons_by_the_names_of_their_fields(tmp_path: Path, name: str) -> None:
    spec = proposed(tmp_path, Profile(name, distinct=225, rows=1191), Profile("age", rows=1191))
    assert spec.person == (name,)
    uuids = Profile(name, "other", distinct=225, rows=1191, type="uuid")
    assert proposed(tmp_path, uuids, Profile("age", rows=1191)).person == (name,)


def test_a_text_that_numbers_something_and_repeats_is_a_persons(tmp_path: Path) -> None:
    """Whatever its name; a text of words, and one within which the sex varies, are not."""
    code, age = Profile("q7", distinct=700, coded=1000), Profile("sex", distinct=2, top=500)
    assert proposed(tmp_path, Profile("q7", "other", distinct=700, type="UUID"), age).person == ("q7",)
    assert proposed(tmp_path, code, age).person == ("q7",)
    assert proposed(tmp_path, Profile("q7", distinct=700), age).person == ()
    varying = RelatedCounts({"q7": VaryingAttributes(300, {"sex": 150})})
    assert propose([code, age], related=varying).person == ()


def test_nulls_repeat_like_any_value(tmp_path: Path) -> None:
    """Several NULLs of a number are one person, unless the owner says otherwise; those of a text are nobody's."""
    number = Profile("patient_id", "integer", rows=1000, nulls=10, distinct=990)
    other = Profile("remark", rows=1000, nulls=10, distinct=990)
    spec = proposed(tmp_path, number, other, Profile("age"))
    assert [(column.role, column.accept_repeats) for column in spec.columns[:2]] == [
        ("identifier", False),
        ("identifier", True),
    ]
    assert (spec.person, spec.null_person) == (("patient_id",), "one")


@pytest.mark.parametrize(
    ("top", "nulls", "rows", "l"),
    [(500, 0, 1000, 2), (501, 0, 1000, None), (10, 501, 1000, None), (2, 0, 8, None), (4, 0, 10, 2)],
)
def test_l_is_proposed_when_it_can_be_reached(
    tmp_path: Path,
    top: int,
    nulls: int,
    rows: int,
    l: int | None,  # noqa: E741
) -> None:
    disease = Profile("disease", distinct=2, top=top, nulls=nulls, rows=rows)
    spec = proposed(tmp_path, Profile("age", "integer", rows=rows), disease)
    assert spec.privacy.k == 10
    assert spec.privacy.l == l


def test_where_l_cannot_be_reached_different_values_are_asked_for(tmp_path: Path) -> None:
    age = Profile("age", "integer")
    for top, distinct_l in ((900, 2), (990, 2), (991, None)):
        spec = proposed(tmp_path, age, Profile("disease", distinct=3, top=top), Profile("wage", distinct=40))
        assert (spec.privacy.l, spec.privacy.distinct_l) == (None, distinct_l)
    nasty = propose([age, Profile("disease\n      k: 1", distinct=3, top=999)]).policy(None, "t")
    assert "k: 1" not in [line.strip() for line in nasty.splitlines()]


def test_no_more_quasi_columns_than_a_method_can_take(tmp_path: Path) -> None:
    few = [Profile(f"c{n}", "integer", distinct=60 + n) for n in range(150)]
    columns = proposed(tmp_path, *few, Profile("age", "integer", distinct=400)).columns
    quasi = [column.name for column in columns if column.role == "quasi"]
    assert quasi == [f"c{n}" for n in range(11)] + ["age"]
    assert {column.role for column in columns} == {"quasi", "identifier"}


def test_what_plan_says_against_it_is_in_the_file() -> None:
    text = propose([Profile("age")]).because(["no rows\nprivacy: {k: 1}", "x"]).policy(None, "t")
    assert "# plan refuses this proposal:\n#   no rows?privacy: {k: 1}\n#   x\n" in text


def test_a_sensitive_column_that_is_left_out_is_not_overlooked() -> None:
    """Of few rows each value of a sensitive column may name a person."""
    left = propose([Profile("age", "integer", 5, rows=5), Profile("diagnosis", distinct=5, singles=5, rows=5)])
    none = propose([Profile("age", "integer", 5, rows=5)])
    assert "sensitive by its name" in left.columns[1].reason
    assert left.diversity == "the columns that look sensitive are left out; give those that are the role, and add l"
    assert none.diversity.startswith("no column looks sensitive by its name; ")


def test_nothing_is_proposed_rather_than_what_identifies() -> None:
    """Numbers, names, and texts that are mostly different: no proposal makes sets of them."""
    found = propose([Profile("id", distinct=1000), Profile("code", distinct=1000), Profile("name", distinct=5)])
    assert {column.role for column in found.columns} == {"identifier"}
    assert "no column can be proposed as quasi" in found.refused[0]
    assert "# plan refuses this proposal:" in found.policy(None, "t")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("duckdb:///w.duckdb", "duckdb:///w.duckdb"),
        ("duckdb:///C:/data/a@b.duckdb", "duckdb:///C:/data/a@b.duckdb"),
        ("postgresql://anna@host:5432/db", "postgresql://anna@host:5432/db"),
        ("postgresql://anna:@host/db", "postgresql://anna:@host/db"),
        (f"postgresql://anna:{CANARY}@host:5432/db?x=a@b", "postgresql://anna:${SQLANON_PASSWORD}@host:5432/db?x=a@b"),
        (f"postgresql://anna:p@{CANARY}@host/db", "postgresql://anna:${SQLANON_PASSWORD}@host/db"),
        (f"postgresql://anna:p/{CANARY}@host/db", "postgresql://anna:${SQLANON_PASSWORD}@host/db"),
        (f"sc://host:15002/;token={CANARY};user_id=a", "sc://host:15002/;token=${SQLANON_PASSWORD};user_id=a"),
        (
            f"postgresql://host:5432/db?user=a&password={CANARY}&x=1",
            "postgresql://host:5432/db?user=a&password=${SQLANON_PASSWORD}&x=1",
        ),
        ("postgresql://h:5432/db?x=a@b", "postgresql://h:5432/db?x=a@b"),
        ("duckdb:///a${b}.duckdb", "duckdb:///a$${b}.duckdb"),
    ],
)
def test_passwords_stay_out_of_the_file(url: str, expected: str) -> None:
    text = text_of(url, "t", [Profile("age")])
    assert f'connection: "{expected}"' in text
    assert CANARY not in text


def test_a_table_without_columns_or_with_no_name_is_an_error() -> None:
    with pytest.raises(PolicyError, match="has no columns"):
        propose([])
    with pytest.raises(PolicyError, match="not the name of a table"):
        propose([Profile("age")]).policy(None, "a.b.c.d")


def test_a_release_can_be_released_again(tmp_path: Path) -> None:
    assert proposed(tmp_path, Profile("age"), source="Release.T").publish == "release.T_anonymized"


names = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=60)


@given(
    names,
    st.lists(
        st.builds(
            Profile,
            name=names,
            kind=st.sampled_from(
                ["integer", "float", "decimal", "boolean", "date", "timestamp", "text", "enum", "other"]
            ),
            distinct=st.integers(0, 100),
            top=st.integers(0, 100),
            rows=st.just(100),
            nulls=st.integers(0, 100),
            comparable=st.booleans(),
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda profile: profile.name,
    ),
)
@example(
    "no", [Profile("yes"), Profile("~"), Profile("<<"), Profile("a: b"), Profile("# x"), Profile("${x}"), Profile("'")]
)
@example("\x85\ud7ff\U0001f600\u2028", [Profile('"; drop table x; --'), Profile("\ufeff"), Profile("a\tb\n")])
def test_every_proposal_loads_whatever_the_names(tmp_path: Path, table: str, profile: list[Profile]) -> None:
    source = '"' + table.replace('"', '""') + '"'
    if propose(profile).refused:
        assert all(column.role != "quasi" for column in propose(profile).columns)
        return
    spec = proposed(tmp_path, *profile, source=source, url="duckdb:///${x}.duckdb" if "$" in table else None)
    assert spec.source == source
    assert spec.name == table
    assert [column.name for column in spec.columns] == [column.name for column in profile]
    assert all(column.role != "insensitive" for column in spec.columns)
