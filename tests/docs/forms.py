"""The tables of tools' forms, made of the corpus whose verdicts `tests.query_forms` checks.

docs/query.md has one line for each tool, docs/tools.md every form. ``python -m tests.docs.forms`` writes them; a test
compares.
"""

from __future__ import annotations

from collections import Counter

import yaml

from tests.project.tree import ROOT
from tests.query_forms.run import CORPUS

PAGE = ROOT / "docs" / "query.md"
LISTED = ROOT / "docs" / "tools.md"
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL"}
HEAD = """# The SQL that tools send

For those who want to know whether their tool's questions are answered over a release. A question can also be tried;
what has no answer is refused with the reason:

    sqlanon query "select diagnosis, count(*) from visits group by 1" --db duckdb:///visits.duckdb

Below are forms of SQL that BI tools, libraries and analysts are known to send, each with its source. A test asks each
on the engines named and compares the bounds with the same SQL over the source table (`tests/query_forms/corpus.yml`
has the texts). This page is made by `python -m tests.docs.forms`; what is answered in general is in
[query.md](query.md#what-can-be-asked)."""
OPENING, CLOSING = "<!-- forms: python -m tests.docs.forms -->\n", "<!-- end of forms -->"


def table() -> str:
    """How many forms of each tool are answered, and which are not."""
    listed = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))["forms"]
    every = Counter(one["tool"] for one in listed)
    refused: dict[str, list[str]] = {}
    for one in listed:
        if one.get("refused"):
            refused.setdefault(one["tool"], []).append(one["form"])
    answered = len(listed) - sum(map(len, refused.values()))
    where = "(`tests/query_forms/corpus.yml`, with sources)"
    lines = [
        f"Of {len(listed)} forms that tools and analysts are known to send {where}, {answered} are answered:",
        "",
        "| tool | forms | answered | refused |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {tool} | {count} | {count - len(refused.get(tool, ()))} | {'; '.join(refused.get(tool, ()))} |"
        for tool, count in every.items()
    ]
    return "\n".join([*lines, "", "[Every form and its verdict](tools.md)."]) + "\n"


def listed() -> str:
    """The page of all forms."""
    corpus = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))
    forms, sources = corpus["forms"], corpus["sources"]
    lines = [HEAD]
    for tool in dict.fromkeys(one["tool"] for one in forms):
        lines += ["", f"## {tool}", "", "| form | on | source | verdict |", "|---|---|---|---|"]
        for one in (one for one in forms if one["tool"] == tool):
            engines = ", ".join(name for key, name in ENGINES.items() if "sql" in one or key in one)
            source = sources[one["source"]]
            shown = f"[{one['source']}]({source})" if source.startswith("https://") else one["source"]
            verdict = f"refused: {one['refused']}" if one.get("refused") else "answered"
            lines.append(f"| {one['form']} | {engines} | {shown} | {verdict} |".replace("||", "\\|\\|"))
    return "\n".join(lines) + "\n"


def rendered(text: str) -> str:
    """The page with the table of today."""
    before, _, rest = text.partition(OPENING)
    return f"{before}{OPENING}{table()}{CLOSING}{rest.partition(CLOSING)[2]}"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    LISTED.write_text(listed(), encoding="utf-8")
