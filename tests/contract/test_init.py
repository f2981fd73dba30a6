"""What init proposes loads, and passes plan or says in a comment why not: on both engines, whatever the table."""

from __future__ import annotations

import random
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon.errors import SqlanonError
from sqlanon.policy import loads
from sqlanon.spec import ReleaseSpec
from tests.engines import create_table

ROWS = 60
NAMES = st.one_of(
    st.sampled_from(
        [
            *(
                "age",
                "age_lo",
                "Zip",
                "zip",
                "sex",
                "name",
                "patient_nbr",
                "mrn",
                "type_id",
                "id",
                "no",
                "diag_1",
                "icd10",
            ),
            *("salary", "notes", "num_visits", "disease", "hiv", "null", "~", "#", "${x}", "a: b", "_sqlanon_x", "%s"),
            *("x" * 60, "é" * 30, 'q"uote', "semi;colon", "count", "group_id", "select"),
        ]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=15),
)
KINDS = {"INTEGER": lambda n: n, "DOUBLE PRECISION": lambda n: n / 4, "VARCHAR": str, "BOOLEAN": lambda n: n % 2 == 0}
COLUMNS = st.lists(
    st.tuples(
        NAMES,
        st.sampled_from(sorted(KINDS)),
        st.sampled_from([1, 2, 3, 8, 25, ROWS]),
        st.sampled_from([0, 0, 0.5, 0.97]),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda column: column[0].casefold(),
)
TABLES = count()


def checked(db, source: str) -> tuple[str, ReleaseSpec | None]:
    """The proposal, after a plan of our own has agreed with what it says of itself."""
    proposal = db.propose(source)
    text = proposal.policy("duckdb:///w.duckdb", source)
    if all(column.role != "quasi" for column in proposal.columns):
        assert "# plan refuses this proposal:" in text
        with pytest.raises(SqlanonError, match="no quasi column"):
            loads(text, {})
        return text, None
    (release,) = loads(text, {}).releases
    if proposal.refused:
        assert "# plan refuses this proposal:" in text
        with pytest.raises(SqlanonError):
            db.plan(release)
    else:
        assert "refuses" not in text
        db.plan(release)
    assert all(column.role != "insensitive" for column in release.columns)
    return text, release


@pytest.mark.thorough
@given(COLUMNS, st.sampled_from([0, 5, ROWS]), st.integers(0, 9))
@example([("age", "INTEGER", 8, 0), ("age_lo", "VARCHAR", 3, 0)], ROWS, 1)
@example([("disease", "VARCHAR", 8, 0.97), ("patient_nbr", "INTEGER", 25, 0), ("x" * 60, "INTEGER", 3, 0.5)], ROWS, 2)
def test_a_proposal_passes_plan_or_says_why_not(shared_db, columns, rows, seed):
    draw = random.Random(seed)
    types = {name: kind for name, kind, _, _ in columns if len(name.encode()) <= 63}
    if not types:
        return
    cells = [
        [None if draw.random() < nulls else KINDS[kind](draw.randrange(distinct)) for _ in range(rows)]
        for name, kind, distinct, nulls in columns
        if name in types
    ]
    table = f"proposed_{next(TABLES)}"
    create_table(shared_db, table, types, list(zip(*cells, strict=True)))
    text, release = checked(shared_db, table)
    if release is None:
        return
    if rows == 0:
        assert "has no rows" in text
    elif rows == 5:
        assert "k = 10" in text


def visits(db, table: str, rows: int = 600) -> None:
    """A hospital in small: its numbers repeat, its types have ids, its diagnoses have codes."""
    draw = random.Random(3)
    types = {
        "encounter_id": "INTEGER",
        "patient_nbr": "INTEGER",
        "gender": "VARCHAR",
        "age": "VARCHAR",
        "admission_type_id": "INTEGER",
        "num_medications": "INTEGER",
        "diag_1": "VARCHAR",
        "diag_2": "VARCHAR",
        "metformin": "VARCHAR",
        "examide": "VARCHAR",
    }
    create_table(
        db,
        table,
        types,
        [
            (
                n * 40,
                draw.randrange(rows * 7 // 10),
                "FM"[n % 2],
                f"[{n % 9}0-{n % 9 + 1}0)",
                draw.randrange(8),
                draw.randrange(50),
                str(draw.randrange(90)),
                f"250.{draw.randrange(90)}",
                "No" if draw.random() < 0.9 else "Up",
                "No",
            )
            for n in range(rows)
        ],
    )


def test_a_hospital_table_is_proposed_so_that_it_runs(shared_db):
    visits(shared_db, "visits")
    text, release = checked(shared_db, "visits")
    roles = {column.name: column.role for column in release.columns}
    assert roles == {
        "encounter_id": "identifier",
        "patient_nbr": "identifier",
        "gender": "quasi",
        "age": "quasi",
        "admission_type_id": "quasi",
        "num_medications": "identifier",
        "diag_1": "sensitive",
        "diag_2": "sensitive",
        "metformin": "identifier",
        "examide": "quasi",
    }
    # With all that could be quasi, classes of 10 patients, whose every visit is in one, would lose most of it.
    assert text.count("left out: with it quasi columns lose") == 2
    assert (release.person, release.method.name, release.privacy.l) == (("patient_nbr",), "tree", 2)
    report = shared_db.run(release)
    assert report.verified
    assert report.min_class >= 10


def test_published_names_that_are_taken_lead_to_another_format(shared_db):
    rows = [(n % 5, "ab"[n % 2]) for n in range(60)]
    create_table(shared_db, "taken", {"age": "INTEGER", "age_lo": "VARCHAR"}, rows)
    _, release = checked(shared_db, "taken")
    assert release.format.kind == "labels"


@pytest.mark.postgres
def test_a_column_that_nobody_can_count_is_left_out(both_dbs):
    """DuckDB compares every type."""
    shared_db = both_dbs[1]
    shared_db.engine.execute(
        "CREATE TABLE loose AS SELECT n % 5 AS age, n % 20 AS patient_id, '{}'::json AS diagnosis, '[]'::json AS mrn "
        "FROM generate_series(1, 60) AS s(n)"
    )
    _, release = checked(shared_db, "loose")
    assert {c.name: (c.role, c.accept_repeats) for c in release.columns} == {
        "age": ("quasi", False),
        "patient_id": ("identifier", False),
        "diagnosis": ("identifier", True),
        "mrn": ("identifier", True),
    }
