"""Tables at every width: no row name is lost, no word is split, no line is too long."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from sqlanon.cli.screen import Screen
from sqlanon.cli.show.plan import _estimate, _rough
from sqlanon.cli.show.text import make_sheet
from sqlanon.results import Estimate
from tests.cli.conftest import make_duckdb
from tests.workloads import ask_few

WIDTHS = (60, 80, 120, 200)


def rendered(shown: Any, width: int) -> list[str]:
    """What a console of this width prints."""
    stream = io.StringIO()
    Console(file=stream, width=width).print(shown)
    return stream.getvalue().splitlines()


def words(text: str) -> set[str]:
    return set(re.findall(r"\S+", text))


PLAN = (
    ("column", "left"),
    ("type", "wrap", 2),
    ("role", "left"),
    ("treatment", "wrap", 1),
    ("distinct", "right", 3),
    ("publishes", "wrap"),
)
WIDE_ROWS = [
    (
        "admission_source_identifier",
        "TIMESTAMP WITH TIME ZONE",
        "insensitive",
        "hierarchy of 1,204 leaves, weight 1024",
        "101,766",
        ".._lo .._hi .._null .._mean",
    ),
    ("diagnosis", "VARCHAR", "sensitive", "as it is", "3", "diagnosis"),
]


@pytest.mark.parametrize("width", [30, 40, *WIDTHS])
def test_rows_keep_their_names_and_words(width):
    lines = rendered(make_sheet(PLAN, WIDE_ROWS), width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    for row in WIDE_ROWS:
        assert row[0] in text
        assert words(row[5]) <= words(text)
    every = {word for row in WIDE_ROWS for cell in row for word in cell.split()}
    reported = words("\n".join(line for line in lines if "─" not in line and not line.startswith("(not shown")))
    titles = {word for column in PLAN for word in (*column[0].split(), f"{column[0]}:")}
    assert reported - titles <= every  # no part of a word


@pytest.mark.parametrize(("width", "left_out"), [(80, "distinct"), (120, None)])
def test_columns_go_by_priority(width, left_out):
    rows = [("x" * 30, "a" * 12, "role", "b" * 12, "c" * 12, "d" * 12)]
    text = "\n".join(rendered(make_sheet(PLAN, rows), width))
    assert ("c" * 12 in text) == (left_out is None)
    assert (f"(not shown at this width: {left_out})" in text) == (left_out is not None)
    assert "a" * 12 in text


def test_blocks_lose_nothing():
    lines = rendered(
        make_sheet((("name", "left"), ("value", "right"), ("", "right")), [("n" * 30, "v" * 30, "w" * 5)] * 2), 40
    )
    block = [f"name: {'n' * 30}", f"  value: {'v' * 30}", f"  {'w' * 5}"]
    assert lines == [*block, "", *block]


def test_wide_letters():
    lines = rendered(make_sheet((("name", "left"), ("value", "right")), [("患者" * 10, "1")]), 60)
    assert "患者" * 10 in lines[-1]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One of everything that the command line prints, of a release whose names are long."""
    import sqlanon
    from sqlanon import policy

    url = make_duckdb(tmp_path_factory.mktemp("wide") / "wide.duckdb")
    with sqlanon.connect(url) as db, pytest.MonkeyPatch.context() as patch:
        ask_few(patch)
        db.engine.execute(
            "CREATE TABLE admissions_of_the_ward AS SELECT i AS patient_number, i % 30 AS age_at_the_first_admission, "
            "TIMESTAMP '2020-01-01' + INTERVAL (i % 50) DAY AS admission_date_and_time, chr(CAST(97 + i % 9 AS "
            "INTEGER)) AS code_of_the_admitting_ward, chr(CAST(97 + i % 4 AS INTEGER)) AS discharge_diagnosis FROM "
            "range(120) AS r(i)"
        )
        columns = ["age_at_the_first_admission", "admission_date_and_time", "code_of_the_admitting_ward"]
        spec = policy.release(
            source="admissions_of_the_ward",
            quasi=columns,
            sensitive="discharge_diagnosis",
            identifiers="patient_number",
            k=4,
            l=2,
            name="admissions_for_research",
            publish="release.admissions_for_research",
        )
        made = {"plan": db.plan(spec), "run": db.run(spec)}
        db.anonymize(
            spec.source,
            quasi=columns,
            sensitive="discharge_diagnosis",
            identifiers="patient_number",
            k=5,
            l=2,
            name=spec.name,
            publish="release.admissions_for_research",
        )
        made |= {
            "audit": db.audit("release.admissions_for_research", spec=spec),
            "releases": db.releases(),
            "diff": db.diff(f"{spec.name}@1", f"{spec.name}@2"),
            "version": db.version(spec.name),
            "query": db.query(
                "SELECT code_of_the_admitting_ward, count(*) AS patients, avg(age_at_the_first_admission) AS "
                "average_age FROM admissions_of_the_ward GROUP BY code_of_the_admitting_ward"
            ),
            "evaluate": db.evaluate(spec.name),
        }
    return made


def show(screen: Screen, kind: str, report: Any) -> None:
    from sqlanon.cli.show import audit, catalog, evaluate, plan, query, run

    {
        "plan": lambda: plan.plan_report(screen, report, sql=False, run="sqlanon run"),
        "run": lambda: run.run_report(screen, report, []),
        "audit": lambda: audit.audit_report(screen, report),
        "releases": lambda: catalog.release_rows(screen, report),
        "diff": lambda: catalog.diff_report(screen, report),
        "version": lambda: catalog.version_report(screen, report),
        "query": lambda: screen.show(query.answer_table(report, bounds=True)),
        "evaluate": lambda: evaluate.show_evaluation(screen, report),
    }[kind]()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["plan", "run", "audit", "releases", "diff", "version", "query", "evaluate"])
def test_every_table_of_the_command_line(reports, monkeypatch, capsys, kind, width):
    """Sheets fit; whatever words they have are those that a very wide terminal shows."""
    from rich.text import Text

    from sqlanon.cli.show.sheet import Sheet

    sheets: list[Sheet] = []
    screen = Screen()
    monkeypatch.setattr(
        Screen, "show", lambda _, *parts: sheets.extend(part for part in parts if not isinstance(part, str | Text))
    )
    show(screen, kind, reports[kind])
    assert sheets
    for sheet in sheets:
        lines = rendered(sheet, width)
        assert max(map(len, lines)) <= width
        text = [line for line in lines if "─" not in line and not line.startswith("(not shown")]
        titles = {word for one in sheet.headings for word in (*one.title.split(), *f"{one.title}:".split())}
        every = {word for row in sheet.rows for cell in row for word in cell.split()}
        reported = words("\n".join(text))
        assert reported - titles <= every
        assert {word for row in sheet.rows for word in row[0].split()} <= reported
    assert capsys.readouterr().out == ""


def test_the_demo():
    """Its sample has a line a column and a column a row."""
    cells = [
        (f"admission_column_{at}_lo", *(f"{{ward {n}, ward {n + 1}, a_rather_long_name_of_a_ward}}" for n in range(5)))
        for at in range(3)
    ]
    shown = make_sheet((("column", "wrap"), *((f"row {n}", "wrap") for n in range(1, 6))), cells)
    for width in WIDTHS:
        lines = rendered(shown, width)
        assert max(map(len, lines)) <= width
        assert {cell for row in cells for cell in row for cell in cell.split()} <= words("\n".join(lines))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.001, "0.1 s"), (0.26, "0.3 s"), (4.4, "4 s"), (9.7, "10 s"), (33.0, "30 s"), (200.0, "3 min"), (9000.0, "2 h")],
)
def test_an_estimate_has_one_digit_and_no_exponent(number, shown):
    assert _rough(number) == shown


def test_an_estimate_of_long_figures_fits_80_columns():
    lines = _estimate(Estimate(5300.0, 5300.0, 999_999 << 20, 5300.0, 5300.0))
    assert max(map(len, lines)) <= 80
