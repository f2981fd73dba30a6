"""The document's tables come from the results, and are the ones that stand there."""

import json

from benchmarks.record import RESULTS
from benchmarks.report import DOCS, SECTIONS, render

FACTS = {
    "command": "python -m benchmarks.x",
    "date": "2026-01-01",
    "versions": {"python": "3.11.0", "duckdb": "2.0.0", "psycopg": "3.3.0"},
    "machine": {"cores": 2, "processor": "p", "memory_gib": 16},
}


def test_document_is_up_to_date():
    text = DOCS.read_text()
    assert render(text, RESULTS) == text


def test_speed_table(tmp_path):
    result = {
        **FACTS,
        "engine": "postgres",
        "table": "admissions",
        "rows": 500000,
        "base_seconds": 0.5,
        "release_seconds": 2.0,
        "ratio": 4.0,
        "target_ratio": 10.0,
        "stages": {"method": 1.25},
        "memory": {"base_gib": 0.1, "release_gib": 0.2, "release_server_gib": 0.3},
    }
    (tmp_path / "speed_postgres_admissions.json").write_text(json.dumps(result))
    lines = SECTIONS["speed"](tmp_path).splitlines()
    assert (
        lines[2]
        == "| postgres, admissions | 500,000 | 0.50 | 2.00 | **4.0** | 10.0 | 0.10 | 0.20 + server 0.30 |"
    )
    assert "| postgres, admissions | 0.00 | 0.00 | 0.00 | 1.25 | 0.00 | 0.00 | 0.00 |" in lines
    assert "`python -m benchmarks.x`, 2026-01-01, Python 3.11.0, psycopg 3.3.0, 2 cores (p), 16 GiB." in lines


def test_sections_without_results_say_so(tmp_path):
    text = "a\n<!-- figures: loss -->\nold\n<!-- end -->\nb\n" + "".join(
        f"<!-- figures: {name} -->\n<!-- end -->\n" for name in SECTIONS if name != "loss"
    )
    made = render(text, tmp_path)
    assert made.startswith("a\n<!-- figures: loss -->\nNot measured yet.\n<!-- end -->\nb\n")
    assert made.count("Not measured yet.") == len(SECTIONS)
