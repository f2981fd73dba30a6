"""Reports in the words of regulations: statements link to definitions, say how they are known, and are true."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.declared.zip3 import RESTRICTED
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.report import pdf
from sqlanon.report.frames import FRAMES
from sqlanon.report.frames.hipaa import IDENTIFIERS, _by_names
from sqlanon.report.frames.words import WORDS
from tests.engines import create_table
from tests.report.pages import Read

KINDS = {
    "id": "INTEGER",
    "name": "VARCHAR(20)",
    "age": "INTEGER",
    "zip": "VARCHAR(5)",
    "email": "VARCHAR(30)",
    "ill": "VARCHAR(20)",
}
STATES = {"measured", "not measured", "stated", "look at it"}


def people(rows):
    """Classes of ten rows: of each ten, all are of one ZIP code."""
    zips = ("03601", "90210", "60601")
    return [
        (n, f"canary{n}", 80 + n // 10 * 5, zips[n // 10 % 3], f"canary{n}@x.org", ("flu", "ulcer")[n % 2])
        for n in range(rows)
    ]


@pytest.fixture(scope="module")
def clinic(shared_db):
    create_table(shared_db, "clinic", KINDS, people(30))
    spec = policy.release(
        source="clinic",
        name="clinic",
        publish="release.clinic",
        quasi=["age", "zip"],
        sensitive="ill",
        insensitive="email",
        identifiers=["id", "name"],
        accept_unique="email",
        k=10,
        l=2,
        method="tree",
    )
    spec = replace(
        spec,
        context=ContextSpec(purpose="a study", recipients="the university"),
        threshold=ThresholdSpec(Fraction(1, 10), "our board", over="quasi"),
    )
    shared_db.run(spec)
    return shared_db


@pytest.fixture(scope="module")
def pages(clinic):
    return {name: clinic.report("clinic", frame=name) for name in FRAMES if name != "edpb2025"}


def statements(page):
    """The lines of every table of statements, by what they are about."""
    tables = Read(page).tables.values()
    return {row[0]: (row[1], row[2]) for table in tables if table[0][0] == "statement" for row in table[1:]}


@pytest.mark.parametrize("name", [name for name in FRAMES if name != "edpb2025"])
def test_statements_link_to_definitions(pages, name):
    page = pages[name]
    links = set(re.findall(r'href="#word-([a-z0-9_]+)"', page))
    assert links <= set(re.findall(r'id="word-([a-z0-9_]+)"', page)) <= set(WORDS)
    found = statements(page)
    assert len(found) >= 5
    for known in (state for _, state in found.values()):
        assert any(known.startswith(state) for state in STATES)
    # Each names what measured it, or where it is stated.
    named = r"(sqlanon \w+.*|[\w.]+ in the policy|no command)$"
    for _, known in found.values():
        assert re.search(named, known), known
    for title in ("Decision asked", "What remains", "Name, date, signature"):
        assert title in page
    assert "a check, not a finding" in page.lower()
    assert "may clinic, version 1, be given to the university for a study?" in page
    assert "our board" in page or name in ("wp216", "edpb2025")


@pytest.mark.parametrize("name", [name for name in FRAMES if name != "edpb2025"])
@pytest.mark.parametrize("form", ["html", "md"])
def test_no_value_of_a_cell(clinic, name, form):
    """E-mail addresses are published as they are, so that the report for readers would show none, either."""
    text = clinic.report("clinic", frame=name, form=form)
    for value in ("canary", "03601", "90210", "ulcer", "x.org"):
        assert value not in text


def test_figures(pages):
    found = statements(pages["wp216"])
    assert found["rows that look alike in the columns that may identify, at least"][0].startswith("10 (in 3 classes")
    assert found["highest probability that a row is found by the quasi columns"][0] == "10 %"
    assert found["the same by every published column but the sensitive ones"][0] == "100 % of a row; as they are: email"
    mean = "10 % by the quasi columns, 100 % by every published column but the sensitive ones"
    assert found["share of all rows that is expected to be found"][0] == mean
    said = found["how sure a reader can be of ill by the class"][0]
    assert said == "l of ill is 2, 2 was asked: the most frequent value has at most 50 % of a class"


def test_eleven_is_the_threshold_of_clinical_data(pages):
    """A group of 10 is above 0.09, by the guidance of the European Medicines Agency."""
    said, how = statements(pages["ema0070"])["risk of at most 0.09: groups of at least 11 persons"]
    assert said == "the smallest has 10: ABOVE the threshold"
    assert how.startswith("look at it")


def test_safe_harbor(pages):
    found = statements(pages["hipaa"])
    letters = {about[1]: said for about, (said, _) in found.items() if re.match(r"\([A-R]\)", about)}
    assert list(letters) == list("ABCDEFGHIJKLMNOPQR")  # the 18 identifiers of 45 CFR 164.514(b)(2)(i)
    assert letters["A"] == "not published: name"
    assert letters["B"] == "generalized: zip"
    assert letters["F"] == "published as it is: email"
    assert letters["D"] == "no column has such a name"
    said, how = found["age: no age above 89 but as one category of 90 and over"]
    assert said.startswith("10 rows above it")  # 80, 85 and 90
    assert how.startswith("look at it")


@pytest.mark.parametrize(
    ("name", "letters"),
    [("client_ip", "O"), ("home_tel", "D"), ("car_vin", "L"), ("home_lat", "B"), ("patient_age", "C"), ("recipe", "")],
)
def test_words_of_a_name_end_at_underscores(name, letters):
    column = {"name": name, "role": "insensitive"}
    found = SimpleNamespace(policy={"columns": [column]}, call=lambda *_: "")
    assert "".join(one.letter for one in IDENTIFIERS if "as it is" in _by_names(found, one).finding) == letters


def test_the_prefixes_of_the_guidance():
    """Department of Health and Human Services 2012: 17 three-digit ZIP codes of 20,000 people or fewer in 2000."""
    assert len(set(RESTRICTED)) == 17
    listed = "036, 059, 063, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893"
    assert ", ".join(RESTRICTED) == listed


@pytest.mark.every_engine
def test_details_of_published_values(shared_db):
    """ZIP codes by a hierarchy, dates in ranges of days: both finer than Safe Harbor allows."""
    kinds = {"zip": "VARCHAR(5)", "born": "DATE", "ill": "VARCHAR(5)"}
    rows = [(("03601", "90210")[n // 6], f"1980-0{1 + n // 6}-1{n % 6}", "flu") for n in range(12)]
    create_table(shared_db, "detailed", kinds, rows)
    spec = policy.release(
        source="detailed",
        name="detailed",
        publish="release.detailed",
        quasi=["zip", "born"],
        sensitive="ill",
        hierarchies={"zip": "prefix: 3"},
        k=6,
        method="tree",
    )
    shared_db.run(spec)
    found = statements(shared_db.report("detailed", frame="hipaa"))
    said, _ = found["zip: three digits, and 000 where 20,000 people or fewer live"]
    assert said == "12 cells with more than three digits, 6 with one of the 17 small prefixes"
    said, how = found["born: nothing finer than a year"]
    assert said.startswith("24 cells with more than a year")
    assert how.startswith("look at it")


@pytest.mark.every_engine
def test_the_hierarchy_of_safe_harbor(shared_db):
    """Small prefixes, and what is no prefix, are 000; the check then finds nothing."""
    rows = [(one, "flu") for one in ("036", "893", "902", "606", "10001") for _ in range(6)]
    create_table(shared_db, "zips", {"zip": "VARCHAR(9)", "ill": "VARCHAR(5)"}, rows)
    asked = {"quasi": "zip", "sensitive": "ill", "hierarchies": {"zip": "hipaa: zip3"}, "k": 6, "method": "tree"}
    shared_db.anonymize("zips", name="zips", publish="release.zips", format="labels", **asked)
    shown = shared_db.engine.fetch("SELECT zip, count(*) FROM release.zips GROUP BY zip ORDER BY zip")
    assert [tuple(row) for row in shown] == [("000", 18), ("606", 6), ("902", 6)]
    said, how = statements(shared_db.report("zips", frame="hipaa"))[
        "zip: three digits, and 000 where 20,000 people or fewer live"
    ]
    assert said == "0 cells with more than three digits, 0 with one of the 17 small prefixes"
    assert how.startswith("measured")
    with pytest.raises(PolicyError, match="hipaa counts them as 000"):
        policy.release(source="zips", quasi="zip", k=6, hierarchies={"zip": {"hipaa": "zip3", "other": "999"}})


def test_pseudonyms(shared_db):
    create_table(
        shared_db,
        "tokens",
        {"person": "INTEGER", "age": "INTEGER", "ill": "VARCHAR(9)"},
        [(n // 2, 20 + n // 8, "flu") for n in range(32)],
    )
    shared_db.anonymize(
        "tokens",
        name="tokens",
        publish="release.tokens",
        quasi="age",
        sensitive="ill",
        pseudonyms="person",
        person="person",
        k=4,
        method="tree",
    )
    found = statements(shared_db.report("tokens", frame="edpb2025"))
    assert found["pseudonymisation domain"][0] == "releases of the scope tokens"
    assert "private schema" in found["who holds the secret"][0]
    assert found["rows of one person"][1].startswith("look at it")


def test_what_is_refused(clinic):
    with pytest.raises(PolicyError, match="not for this release: it has no pseudonym"):
        clinic.report("clinic", frame="edpb2025")
    with pytest.raises(PolicyError, match=r"--frame wp126: not a frame \(did you mean wp216\?\)"):
        clinic.report("clinic", frame="wp126")
    with pytest.raises(PolicyError, match="for the owner"):
        clinic.report("clinic", frame="wp216", audience="readers")
    with pytest.raises(PolicyError, match="neither a published release"):
        clinic.report("nothing", frame="wp216")


def test_no_browser(monkeypatch):
    monkeypatch.setattr(pdf, "BROWSERS", ("no-such-browser",))
    with pytest.raises(Exception, match="none is installed; write HTML"):
        pdf.print_page("<p>x</p>")


def test_a_browser_that_does_not_end(monkeypatch):
    def run(words, **_):
        raise subprocess.TimeoutExpired(words, 1)

    monkeypatch.setattr(pdf.shutil, "which", lambda name: f"/opt/{name}")
    monkeypatch.setattr(pdf.subprocess, "run", run)
    with pytest.raises(UnsupportedError, match="/opt/chromium printed no PDF: TimeoutExpired"):
        pdf.print_page("<p>x</p>")


@pytest.mark.skipif(not any(map(pdf.shutil.which, pdf.BROWSERS)), reason="no browser")
@pytest.mark.thorough
def test_a_pdf(pages):
    assert pdf.print_page(pages["wp216"]).startswith(b"%PDF-")


@pytest.mark.thorough
def test_three_hundred_columns():
    """A report, its variables and a frame of 300 quasi columns, which tables of PostgreSQL do not hold."""
    names = [f"c{at}" for at in range(300)]
    rows = [tuple((row * (at + 3)) % 7 for at in range(300)) for row in range(200)]
    with sqlanon.connect("duckdb:///:memory:") as db:
        create_table(db, "many", dict.fromkeys(names, "INTEGER"), rows)
        db.anonymize("many", name="many", publish="release.many", quasi=names, k=5, method="mondrian")
        page = Read(db.report("many", frame="sdc"))
    assert len(page.tables["Variables"]) == 301
