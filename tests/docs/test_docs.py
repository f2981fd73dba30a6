"""What the documentation says exists: links, options of the command line, Python that runs, figures of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.invoked import invoke

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").glob("*.md"),
        *ROOT.glob("examples/*/README.md"),
        ROOT / "dbt" / "README.md",
    ]
)
COMMANDS = (
    "demo",
    "init",
    "anonymize",
    "plan",
    "preview",
    "run",
    "audit",
    "attack",
    "query",
    "serve",
    "mcp",
    "evaluate",
    "compare",
    "report",
    "hierarchy",
    "budget",
    "releases",
    "budget",
    "approve",
    "evidence",
    "approvals",
    "revoke",
    "diff",
    "rollback",
    "unpublish",
    "erase",
    "clean",
    "install-functions",
    "methods",
    "schema",
    "warm",
)
RESULTS = ROOT / "benchmarks" / "results"


def label(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as hosts of Markdown make them."""
    headings = re.findall(r"^#+ +(.+)$", without_code(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def options(*words: str) -> set[str]:
    """The options that a command's help lists."""
    ended = invoke(*words, "--help", COLUMNS="200")
    assert ended.exit_code == 0
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", ended.stdout))


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    within = {f"dbt {command}": options("dbt", command) for command in ("run", "plan", "erase", "describe")}
    return {"": options(), **{command: options(command) for command in COMMANDS}, **within}


def test_links_resolve():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and anchor not in anchors(there)):
                broken.append(f"{label(page)}: {target}")
    assert broken == []


def test_commands_and_their_options_exist(known):
    unknown = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command in re.findall(r"(?:^|[`/ ])sqlanon((?: +[^\s`#|>]+)+)", text, flags=re.MULTILINE):
            words = command.split()
            name = next((word for word in words if word in COMMANDS), "")
            name = " ".join(words[:2]) if words[0] == "dbt" else name
            given = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
            if given:
                allowed = known[name] | known[""]
                unknown += [f"{label(page)}: {name} {option}" for option in given if option not in allowed]
    assert unknown == []


def test_options_named_in_prose_exist(known):
    every = set().union(*known.values())
    unknown = []
    for page in PAGES:
        text = without_code(page.read_text(encoding="utf-8"))
        spans = [span for span in re.findall(r"`([^`\n]+)`", text) if span.startswith("--")]
        unknown += [f"{label(page)}: {span}" for span in spans if span.split()[0].split("=")[0] not in every]
    assert unknown == []


@pytest.mark.thorough
def test_python_of_the_api_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/api.md", "exec"), {})
    said = capsys.readouterr().out
    assert "release.patients 1000 rows" in said
    assert "verified: True" in said


def test_python_of_the_page_of_frames_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "frames.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "frames.md", "exec"), {})
    assert "diagnosis" in capsys.readouterr().out


@pytest.mark.thorough
def test_python_of_the_one_dimensional_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "onedim.md").read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, "docs/onedim.md", "exec"), {})
    said = capsys.readouterr().out
    assert "maximize l: per_class_ncp at most 0.5, age within 10 in every class: reached" in said
    assert "within the bound: True" in said
    assert re.findall(r"rows x extents: (\d+)", said) == ["24", "21"]


def test_methods_take_what_the_one_dimensional_page_says():
    """The contract suite compares what methods refuse with the oracle; this compares the page with the methods."""
    from fractions import Fraction

    from sqlanon.declared import METHODS, Request, list_refusals

    whole, half = Fraction(5), Fraction(5, 2)
    asked = [
        {"k": 3},
        {"k": 3, "l": whole},
        {"k": 3, "l": half},
        {"k": 3, "distinct_l": 5},
        {"k": 3, "l": whole, "sensitive": 2},
        {"k": 3, "l": whole, "sensitive": 2, "joint": True},
        {"k": 3, "maximize": "k"},
        {"l": Fraction(2), "maximize": "l"},
    ]
    text = (ROOT / "docs" / "onedim.md").read_text(encoding="utf-8")
    part = text.split("## Which method takes what\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    said = {row[0].strip("`"): row[1:] for row in rows}
    taken = {
        name: [
            "no"
            if list_refusals(
                method,
                Request(name, method.values({}), quasi=2, own_boxes=method.own_boxes, **{"sensitive": 1, **each}),
            )
            else "yes"
            for each in asked
        ]
        for name, method in METHODS.items()
    }
    assert said == taken


def test_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    """On a table of the demonstration's columns."""
    import duckdb

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sqlanon-demo").mkdir()
    with duckdb.connect("sqlanon-demo/warehouse.duckdb") as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT i AS patient_id, DATE '1950-01-01' + CAST(100 * (i % 60) AS INTEGER) AS "
            "birth_date, i % 9 AS zip, ['F', 'M'][1 + i % 2] AS sex, ['a', 'b', 'c'][1 + i % 3] AS diagnosis FROM "
            "range(600) AS r(i)"
        )
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_losses_of_the_benchmarks_page_are_those_of_the_results():
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- figures: methods -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found
    names = {
        "tree, refined": "tree + refine",
        "mondrian": "mondrian strict loss",
        "mondrian, cut=median": "mondrian strict median",
    }
    measured = {
        (one["table"], one["k"], one.get("contender") or f"mondrian {one['variant']} {one['cut']}"): one
        for one in json.loads((RESULTS / "loss.json").read_text(encoding="utf-8"))["results"]
    }
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]
    assert len(rows) == len({(table, k) for table, k, _ in measured})
    for data, k, *cells in rows:
        table = data.split(",")[0].lower() + ("7" if data.startswith("Adult") and "7 quasi" in data else "")
        for name, cell in zip(head[2:], cells, strict=True):
            one = measured.get((table, int(k), names.get(name, name)))
            goal = f" (goal {one['target']:g})" if one and one.get("target") else ""
            assert cell == (f"{one['evaluator']['range_ncp']:.4f}{goal}" if one else "-")


def test_speed_of_the_benchmarks_page_is_that_of_the_results():
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- figures: speed -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found[1].split("\n\n")[0].splitlines()[2:]
    ]
    measured = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob("speed_*.json"))]
    by_name = {
        (f"{one['engine']}, {one['table']}", f"{one['method'].split(':')[0]}, {one['k']}", f"{one['rows']:,}"): one
        for one in measured
    }
    assert len(rows) == len(by_name) == len(measured)
    for name, case, count, sort, release, ratio, goal, *memory in rows:
        one = by_name[name, case, count]
        assert (sort, release) == (f"{one['base_seconds']:.2f}", f"{one['release_seconds']:.2f}")
        assert (ratio, goal) == (
            f"**{one['ratio']:.1f}**",
            f"{one['target_ratio']:.1f}" if one["target_ratio"] else "-",
        )
        held = [one["memory"].get(f"{what}_gib", 0) for what in ("base", "release")]
        assert len(memory) == 2
        assert (memory[1] == "-") == (not held[1])


def test_pages_start_with_who_needs_them_and_an_example():
    """Of the first page, which is for everybody, the example alone is asked."""
    lacking = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        beginning = "\n## ".join(text.split("\n## ")[:2])
        for_whom = page.stem == "index" or re.match(r"# .+\s+For [a-zA-Z]", text)
        if not (for_whom and re.search(r"^(```|    \S)", beginning, flags=re.MULTILINE)):
            lacking.append(label(page))
    assert lacking == []


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def test_files_of_the_architecture_page_exist():
    """The page is of use as long as its names are those of the code."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = {name for name in re.findall(r"`((?:sqlanon|sql|tests)/[\w/.]*)`", page) if "<" not in name}
    assert len(named) > 30
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
