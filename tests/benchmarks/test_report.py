"""The document's tables come from the results, and are the ones that are there."""

import json

import pytest

from benchmarks.record import RESULTS
from benchmarks.report import PAGES, SECTIONS, render
from benchmarks.report_summary import SECTIONS as SUMMARY

FACTS = {
    "command": "python -m benchmarks.x",
    "date": "2026-01-01",
    "versions": {"python": "3.11.0", "duckdb": "2.0.0", "psycopg": "3.3.0"},
    "machine": {"cores": 2, "processor": "p", "memory_gib": 16},
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_document_is_up_to_date(page):
    text = page.read_text()
    assert render(text, RESULTS, PAGES[page]) == text


def test_speed_table(tmp_path):
    result = {
        **FACTS,
        "engine": "postgres",
        "table": "admissions",
        "method": "tree:minimize=gcp",
        "k": 100,
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
        == "| postgres, admissions | tree, 100 | 500,000 | 0.50 | 2.00 | **4.0** | 10.0 | 0.10 | 0.20 + server 0.30 |"
    )
    assert "| postgres, admissions | tree, 100 | 0.00 | 0.00 | 0.00 | 1.25 | 0.00 | 0.00 | 0.00 |" in lines
    assert "`python -m benchmarks.x`, 2026-01-01, Python 3.11.0, psycopg 3.3.0, 2 cores (p), 16 GiB." in lines


def test_missed_goals_of_every_method_are_named(tmp_path):
    """One that is reached exactly is reached; one that is missed is named, whatever it is of."""
    assert SUMMARY["missed"](tmp_path) == ""
    case = {"engine": "duckdb", "table": "admissions", "k": 10}
    for method, ratio, goal in (("tree", 5.04, 3.5), ("hilbert", 3.5, 3.5), ("mondrian", 9.0, None)):
        one = {**case, "method": f"{method}:x=y", "ratio": ratio, "target_ratio": goal}
        (tmp_path / f"speed_{method}.json").write_text(json.dumps(one))
    assert SUMMARY["missed"](tmp_path) == (
        "Goals that are not reached:\n\n- speed of `tree`, k=10, DuckDB, admissions: 5.04x, goal 3.5x"
    )
    losses = [
        {"table": "sal", "k": 10, "contender": "tree", "target": 0.01, "evaluator": {"range_ncp": ncp}}
        for ncp in (0.01, 0.0101)
    ]
    (tmp_path / "loss.json").write_text(json.dumps({"results": losses}))
    sets = {"contender": "tree + refine", "k": 50, "target": 0.1, "met": False, "evaluator": {"set_ncp": 0.1}}
    (tmp_path / "nominal.json").write_text(json.dumps({"results": [sets]}))
    grown = {"part": "l", "method": "hilbert", "seconds": 21.0, "target_seconds": 20.0}
    (tmp_path / "growth.json").write_text(json.dumps({"results": [grown, grown | {"target_seconds": None}]}))
    started = {"seconds": 0.5, "target": 0.3}
    (tmp_path / "startup.json").write_text(json.dumps({"import": started, "help": started | {"target": 0.5}}))
    large = {"rows": 100_000_000, "seconds": 101.0, "peak_gib": 8.0}
    (tmp_path / "scale.json").write_text(json.dumps({"results": [large, large | {"rows": 10, "peak_gib": 9.0}]}))
    (tmp_path / "release.json").write_text(json.dumps({"engines": {"duckdb": {"median_ms": 61.2}}}))
    questions = [{"question": "count", "median_ms": 10.0}, {"question": "join", "median_ms": 20.0}]
    (tmp_path / "ask.json").write_text(json.dumps({"engines": {"duckdb": questions}}))
    runs = [
        {"trials": 0, "loss": 0.5},
        {"trials": 8, "loss": 0.2, "goal": 0.1},
        {"trials": 9, "loss": 0.1, "goal": 0.1},
    ]
    (tmp_path / "search.json").write_text(json.dumps({"results": [{"table": "adult", "k": 10, "runs": runs}]}))
    node = {"method": "fulldomain:search=local", "part": "occ", "k": 0, "l": 6, "lm": 0.3, "most_lm": 0.2}
    (tmp_path / "lattice.json").write_text(json.dumps({"results": [node, node | {"lm": 0.2}]}))
    star = {"contender": "cascade (ours)", "data": "occ", "l": 2, "stars": 30501.0}
    (tmp_path / "xiao_l.json").write_text(json.dumps({"results": [star, star | {"l": 3}, star | {"contender": "TP"}]}))
    assert SUMMARY["missed"](tmp_path).splitlines()[3:] == [
        "- range NCP of `tree`, k=10, sal: 0.0101, goal 0.01",
        "- set loss of `tree + refine`, k=50, Adult: 0.1000, goal 0.1",
        "- release by `hilbert`, SAL, part l: 21.0 s, goal 20 s",
        "- startup, import: 0.50 s, goal 0.3 s",
        "- 100,000,000 rows of integers, DuckDB, seconds: 101 s, goal 100 s",
        "- a release of 40 rows, DuckDB: 61 ms, goal 55 ms",
        "- loss after `refine: {search: 8}`, k=10, adult: 0.2000, goal 0.1",
        "- LM of `fulldomain:search=local`, l=6, occ: 0.3000, goal 0.2",
        "- stars of the cascade, l=2, occ: 30,501, goal 30,500",
    ]
    (tmp_path / "speed_tree.json").unlink()
    for file in tmp_path.glob("*.json"):
        if not file.name.startswith("speed_"):
            file.unlink()
    assert SUMMARY["missed"](tmp_path) == "Every goal is reached."


def test_growth_table(tmp_path):
    common = {
        "seconds": 1.5,
        "seconds_per_million": 3.0,
        "stages": {"method": 0.75},
        "peak_gib": 0.25,
        "execution": "kernel",
    }
    results = [
        {"part": "k", "rows": 500000, "method": "tree", "memory": 8 << 20, **common},
        {"part": "dual", "rows": None, "method": "hilbert", "quasi": ["a", "b"], "target_seconds": 20.0, **common},
    ]
    (tmp_path / "growth.json").write_text(json.dumps({**FACTS, "l": 10, "e": 0.3, "results": results}))
    lines = SECTIONS["growth"](tmp_path).splitlines()
    assert "| integers, k=10 | 500,000 | tree | 8 MiB | 1.50 | - | **3.00** | 0.75 | 0.25 | kernel |" in lines
    assert "| SAL, d=3, E=0.3 | as it is | hilbert, a, b | - | 1.50 | 20.0 | **3.00** | 0.75 | 0.25 | kernel |" in lines


def test_sections_without_results_say_so(tmp_path):
    text = "a\n<!-- figures: loss -->\nold\n<!-- end -->\nb\n" + "".join(
        f"<!-- figures: {name} -->\n<!-- end -->\n" for name in SECTIONS if name != "loss"
    )
    made = render(text, tmp_path)
    assert made.startswith("a\n<!-- figures: loss -->\nNot measured yet.\n<!-- end -->\nb\n")
    assert made.count("Not measured yet.") == len(SECTIONS)
