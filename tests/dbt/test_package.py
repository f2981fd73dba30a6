"""The generic tests, run by dbt on both adapters: counted by hand in the integration project, and by brute force here."""

from __future__ import annotations

import csv
import random
from collections import Counter
from fractions import Fraction

import pytest
import yaml

from examples.dbt_hospital.run import environment
from sqlanon.declared import REQUIREMENTS
from tests.conftest import ready
from tests.dbt.real import ROOT, copied, run, statuses
from tests.engines import ENGINES

ADAPTERS = [engine for engine in ENGINES if engine.name in ("duckdb_file", "postgres")]
COLUMNS = ("a", "b", "C d", "s")
SPELLED = {"a": "a", "b": "b", "C d": '"C d"', "s": "s"}
L = ("1", "1.2", "3/2", "2", "7/3", "2.5", "3", "4")


def rows():
    """120 rows with classes of every size, and NULLs."""
    draw = random.Random(11)
    return [
        (draw.choice([None, 1, 2, 3, 4]), draw.choice("xyz"), draw.choice([None, "o'c", 'q"']), draw.choice([None, "u", "v", "w"]))
        for _ in range(120)
    ]  # fmt: skip


def failing(table, quasi, fails, value="s"):
    """Rows in the classes whose values fail, by definition."""
    classes = {}
    for row in table:
        classes.setdefault(tuple(row[COLUMNS.index(name)] for name in quasi), []).append(
            row[COLUMNS.index(value)]
        )
    return sum(len(values) for values in classes.values() if fails(values))


def expected(table):
    """Tests as dbt's YAML has them, each with the number of rows that must fail."""
    made = []

    def add(test, name, arguments, count):
        config = {"error_if": f"!= {count}", "warn_if": f"!= {count}"}
        made.append({f"sqlanon.{test}": {"name": name, "arguments": arguments, "config": config}})

    for index, quasi in enumerate((["a", "b", "C d"], ["C d"], ["a", "b"])):
        given = {"quasi_identifiers": [SPELLED[name] for name in quasi]}
        for k in (2, 3, 5, 41):
            count = failing(table, quasi, lambda values, k=k: len(values) < k)
            add("k_anonymity", f"many_k{k}_{index}", {**given, "k": k}, count)
        for number, written in enumerate(L):
            least = Fraction(written)
            count = failing(
                table, quasi, lambda values, least=least: max(Counter(values).values()) * least > len(values)
            )
            value = float(written) if "." in written else int(written) if written.isdigit() else written
            add("l_diversity", f"many_l{number}_{index}", {**given, "sensitive": "s", "l": value}, count)
        for least in (2, 4):
            count = failing(table, quasi, lambda values, least=least: len(set(values)) < least)
            arguments = {**given, "sensitive": "s", "l": least, "kind": "distinct"}
            add("l_diversity", f"many_distinct{least}_{index}", arguments, count)
    for index, (quasi, values) in enumerate(((["C d"], ["s", "b"]), (["a"], ["b", "s", "C d"]))):
        given = {
            "quasi_identifiers": [SPELLED[name] for name in quasi],
            "sensitive": [SPELLED[name] for name in values],
        }
        for joint in (False, True):
            count = failing(table, quasi, lambda found: len(found) < 5)
            for value in values:
                for by in (quasi, [*quasi, *(name for name in values if name != value)])[: 1 + joint]:
                    count += failing(
                        table, by, lambda found: max(Counter(found).values()) * 2 > len(found), value
                    )
                    count += failing(table, by, lambda found: len(set(found)) < 3, value)
            asked = {"k": 5, "l": 2, "distinct_l": 3, "joint": joint}
            add("privacy", f"many_privacy{int(joint)}_{index}", {**given, "privacy": asked}, count)
    return made


@pytest.mark.parametrize("name", list(REQUIREMENTS))
def test_every_requirement_of_the_package_has_a_macro(name):
    """`privacy` in dbt takes the same keys as in policies."""
    texts = [path.read_text() for path in (ROOT / "dbt" / "macros").glob("*.sql")]
    declared = [
        text
        for text in texts
        if f"{{% macro requirement_{name}(model, columns, sensitive, joint, asked) %}}" in text
    ]
    assert len(declared) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ADAPTERS, ids=lambda engine: engine.family)
def test_every_generic_test_says_what_is_so(engine, tmp_path):
    url = ready(engine).fresh(tmp_path)
    project = copied("dbt/integration_tests", tmp_path)
    table = rows()
    with (project / "seeds" / "random_rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *table])
    seeds = {"version": 2, "seeds": [{"name": "random_rows", "config": {"quote_columns": True}, "data_tests": expected(table)}]}  # fmt: skip
    (project / "seeds" / "random_rows.yml").write_text(yaml.safe_dump(seeds))
    (project / "dbt_packages").mkdir()
    (project / "dbt_packages" / "sqlanon").symlink_to(project.parent)
    environ = {name.replace("HOSPITAL", "SQLANON_DBT"): value for name, value in environment(url).items()}
    said = run(project, "build", environ=environ, ok=False)
    ended = statuses(project)
    bad = {name for name in ended if name.startswith("bad_")}
    assert len(bad) == 21
    assert {name for name in bad if ended[name] != "error"} == set()
    assert "no macro counts the requirement max_share. Write requirement_max_share(" in said
    good = {name: status for name, status in ended.items() if name not in bad}
    assert len([name for name in good if name.startswith("many_")]) == 46
    assert {name: status for name, status in good.items() if status not in ("pass", "success")} == {}, said
    engine.drop(url)
