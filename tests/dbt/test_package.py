"""The generic tests, run by dbt on both adapters.

Results are counted by hand in the integration project, and by brute force here.
"""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from fractions import Fraction

import pytest
import yaml

from examples.dbt_hospital.run import environment
from sqlanon.declared import REQUIREMENTS
from sqlanon.declared.records import ByColumn
from tests.conftest import ready
from tests.dbt.real import ROOT, copied, run, statuses
from tests.engines import ENGINES
from tests.oracle import models

ADAPTERS = [engine for engine in ENGINES if engine.name in ("duckdb_file", "postgres")]
COLUMNS = ("a", "b", "C d", "s")
SPELLED = {"a": "a", "b": "b", "C d": '"C d"', "s": "s"}
MODELS = (
    ({"entropy_l": 2}, models.entropy(Fraction(2))),
    ({"entropy_l": "7/2"}, models.entropy(Fraction(7, 2))),
    ({"recursive_cl": {"c": "3/2", "l": 2}}, models.recursive(Fraction(3, 2), 2)),
    ({"recursive_cl": {"s": {"c": 2, "l": 3}}}, models.recursive(Fraction(2), 3)),
    ({"alpha": 0.5}, models.alpha(Fraction(1, 2))),
    ({"alpha": {"max": "1/3", "values": ["u", "w"]}}, models.alpha(Fraction(1, 3), ("u", "w"))),
    ({"t": 0.1}, models.close(Fraction(1, 10), lambda _: models.equal)),
    ({"t": {"max": "1/15", "distance": "ordered"}}, models.close(Fraction(1, 15), models.ordered)),
    ({"beta": {"basic": "1/4"}}, models.beta(Fraction(1, 4), enhanced=False)),
    ({"beta": {"enhanced": 2}}, models.beta(Fraction(2), enhanced=True)),
    ({"delta_disclosure": "1/2"}, models.delta(Fraction(1, 2), ignored=False)),
    ({"delta_disclosure": {"max": 1, "absent": "ignored"}}, models.delta(Fraction(1), ignored=True)),
)
"""What is asked of column s, and its definition."""
L = ("1", "1.2", "3/2", "2", "7/3", "2.5", "3", "4")


def rows():
    """120 rows with classes of every size, and NULLs."""
    draw = random.Random(11)
    return [
        (
            draw.choice([None, 1, 2, 3, 4]),
            draw.choice("xyz"),
            draw.choice([None, "o'c", 'q"']),
            draw.choice([None, "u", "v", "w"]),
        )
        for _ in range(120)
    ]


def failing(table, quasi, fails, value="s"):
    """Rows in the classes whose values fail, by definition."""
    classes = {}
    for row in table:
        classes.setdefault(tuple(row[COLUMNS.index(name)] for name in quasi), []).append(row[COLUMNS.index(value)])
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
                    count += failing(table, by, lambda found: max(Counter(found).values()) * 2 > len(found), value)
                    count += failing(table, by, lambda found: len(set(found)) < 3, value)
            asked = {"k": 5, "l": 2, "distinct_l": 3, "joint": joint}
            add("privacy", f"many_privacy{int(joint)}_{index}", {**given, "privacy": asked}, count)
    everything = [row[COLUMNS.index("s")] for row in table]
    for number, (asked, meets) in enumerate(MODELS):
        for index, quasi in enumerate((["a", "b", "C d"], ["a"], ["C d"])):
            count = failing(table, quasi, lambda values, meets=meets: not meets(values, everything))
            given = {"quasi_identifiers": [SPELLED[name] for name in quasi], "sensitive": "s", "privacy": asked}
            add("privacy", f"model{number}_{index}", given, count)
    # By column, and within the other column: alpha of both by both, recursive of one by one.
    by_column = {"alpha": {"s": "1/2", "B": 0.75}, "recursive_cl": {"b": {"c": 3, "l": 2}}, "joint": True}
    count = 0
    for value, other, of_alpha in (("s", "b", Fraction(1, 2)), ("b", "s", Fraction(3, 4))):
        for by in (["a"], ["a", other]):
            count += failing(table, by, lambda own, most=of_alpha: not models.alpha(most)(own, ()), value)
            if value == "b":
                count += failing(table, by, lambda own: not models.recursive(Fraction(3), 2)(own, ()), value)
    given = {"quasi_identifiers": ["a"], "sensitive": ["s", "b"], "privacy": by_column}
    add("privacy", "model_by_column", given, count)
    return made


@pytest.mark.parametrize("name", list(REQUIREMENTS))
def test_every_requirement_of_the_package_has_a_macro(name):
    """`privacy` in dbt takes the same keys as in policies."""
    texts = [path.read_text() for path in (ROOT / "dbt" / "macros").glob("*.sql")]
    declared = [
        text for text in texts if f"{{% macro requirement_{name}(model, columns, sensitive, joint, asked) %}}" in text
    ]
    assert len(declared) == 1


def test_the_docs_of_dbt_list_every_requirement():
    text = (ROOT / "docs" / "dbt.md").read_text()
    assert [name for name in REQUIREMENTS if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", list(REQUIREMENTS))
def test_macros_take_the_fields_that_policies_take(name):
    value = REQUIREMENTS[name].value
    text = (ROOT / "dbt" / "macros" / "models.sql").read_text()
    found = re.search(rf"asked_places\('{name}', columns, sensitive, asked, \[([^\]]*)\]", text)
    fields = set(re.findall("[a-z]+", found.group(1))) if found else set()
    policy = set(value.fields) if isinstance(value, ByColumn) else set()
    assert fields == (policy if name != "beta" else {"basic", "enhanced"})
    assert fields <= policy


def test_the_brute_force_of_models_finds_classes_that_fail_and_classes_that_do_not():
    table = rows()
    everything = [row[3] for row in table]
    for _, meets in MODELS:
        found = {
            failing(table, quasi, lambda own, meets=meets: not meets(own, everything)) > 0
            for quasi in (["a", "b", "C d"], ["a"], ["C d"])
        }
        assert True in found
    assert {name for asked, _ in MODELS for name in asked} == {
        name for name, one in REQUIREMENTS.items() if not one.population
    } - {"k", "l", "distinct_l"}


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ADAPTERS, ids=lambda engine: engine.family)
def test_every_generic_test_says_what_is_so(engine, tmp_path):
    url = ready(engine).fresh(tmp_path)
    project = copied("dbt/integration_tests", tmp_path)
    table = rows()
    with (project / "seeds" / "random_rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *table])
    seeds = {
        "version": 2,
        "seeds": [{"name": "random_rows", "config": {"quote_columns": True}, "data_tests": expected(table)}],
    }
    (project / "seeds" / "random_rows.yml").write_text(yaml.safe_dump(seeds))
    (project / "dbt_packages").mkdir()
    (project / "dbt_packages" / "sqlanon").symlink_to(project.parent)
    environ = {name.replace("HOSPITAL", "SQLANON_DBT"): value for name, value in environment(url).items()}
    said = run(project, "build", environ=environ, ok=False)
    ended = statuses(project)
    bad = {name for name in ended if name.startswith("bad_")}
    assert len(bad) == 32
    assert {name for name in bad if ended[name] != "error"} == set()
    assert "no macro counts the requirement max_share. Write requirement_max_share(" in said
    good = {name: status for name, status in ended.items() if name not in bad}
    assert len([name for name in good if name.startswith("many_")]) == 46
    assert len([name for name in good if name.startswith("model")]) == 3 * len(MODELS) + 1
    assert {name: status for name, status in good.items() if status not in ("pass", "success")} == {}, said
    engine.drop(url)
