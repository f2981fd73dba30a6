"""Each way in which a policy file can be wrong, reported in full and at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.methods.method import make_method
from tests.unit.policy.samples import SMALL, with_column, with_key, with_privacy


def test_every_problem_comes_at_once_with_its_line(problems: Any) -> None:
    text = """\
version: 2
conection: duckdb:///x.duckdb
releases:
  - name: one
    source: a.b.c.d
    columns:
      age: {role: quasy}
      zip: {role: quasi, weigth: 2, hierarchy: missing.csv}
      sex: {role: sensitive, weight: 3}
      sex: quasi
    privacy: {k: 0, l: 1/2}
    format: {kind: ranges, mean: [zpi]}
    rest: ignore
  - name: one
    source: t
    privacy: 5
"""
    assert problems(text) == [
        "anon.yml:1: version: too large; 1",
        (
            "anon.yml:2: conection: unknown key (did you mean connection?); the keys here are version, connection, "
            "state, releases, budgets"
        ),
        (
            "anon.yml:5: releases[one].source: not the name of a table or view; "
            "table or schema.table, on Spark catalog.schema.table too; a part that holds a dot or a quote is "
            'double-quoted: schema."my.table"; or delta:PATH, iceberg:CATALOG/namespace.table, parquet:GLOB'
        ),
        (
            "anon.yml:7: releases[one].columns.age.role: not a word known here (did you mean quasi?); "
            "one of identifier, pseudonym, quasi, sensitive, insensitive"
        ),
        (
            "anon.yml:8: releases[one].columns.zip.weigth: unknown key (did you mean weight?); the keys here are role, "
            "weight, hierarchy, ordered, bottom, top, round, accept_unique, accept_repeats, scope, secret, because"
        ),
        "anon.yml:8: releases[one].columns.zip.hierarchy: missing.csv: cannot be read (No such file or directory)",
        "anon.yml:9: releases[one].columns.sex: the key occurs twice, in line 9 and in line 10; each key once",
        "anon.yml:9: releases[one].columns.sex.weight: the column is sensitive; weight is for quasi columns",
        "anon.yml:11: releases[one].privacy.k: too small; a whole number of at least 1",
        "anon.yml:11: releases[one].privacy.l: too small; a number of at least 1, such as 2.5 or 5/2",
        (
            "anon.yml:12: releases[one].format.mean: a column that is not listed (did you mean zip?); "
            "quasi columns without hierarchy: none here"
        ),
        "anon.yml:13: releases[one].rest: not a word known here; one of error, drop, keep",
        "anon.yml:14: releases[one].columns: is missing; The role of each column. At least one is quasi.",
        "anon.yml:14: releases[one].name: the name of the release in line 4 again; each release has its own name",
        "anon.yml:16: releases[one].privacy: not a mapping; key: value pairs",
    ]


CANARY = "zqc4n4ry"
VALUES = (
    *(with_column(f"age: {{role: quasi, {key}: {CANARY}}}") for key in ("weight", "hierarchy", "ordered")),
    *(with_column(f"age: {{{text}}}") for text in (f"role: {CANARY}", f"role: quasi, accept_unique: {CANARY}")),
    with_column(f"age: {CANARY}"),
    *(with_privacy(f"{{k: 2, {key}: {CANARY}}}") for key in ("l", "distinct_l", "joint", "presence", "max_loss")),
    with_privacy(f"{{k: 2, t: 0.2, compared_with: {CANARY}}}"),
    *(with_privacy(f"{{{text}: {CANARY}}}") for text in ("k", "maximize", "at_least", "max_extent")),
    *(with_key(f"{key}: {CANARY}") for key in ("execution", "memory", "seed", "rest", "rows_are", "every", "keep")),
    *(with_key(f"{key}: {CANARY}") for key in ("refine", "format", "method", "history", "refresh")),
    *(
        with_key(f"method: {text}")
        for text in (f"tree:minimize={CANARY}", f"idistance:centres={CANARY}", f"tree:{CANARY}=1")
    ),
    *(
        with_key(f"method: {{name: {name}, {key}: {CANARY}}}")
        for name, key in (("tree", "minimize"), ("topdown", "variant"))
    ),
    with_key(f"format: {{kind: {CANARY}}}"),
    with_key(f"format: {{kind: ranges, mean: {CANARY}}}"),
    with_key(f"history: {{max_failing: {CANARY}}}"),
    SMALL.replace("version: 1", f"version: {CANARY}"),
    f"{SMALL}connection: [{CANARY}]\n",
)
"""A value that is not allowed under each key; names of tables, columns, roles and files are names wherever they are."""


@pytest.mark.parametrize("text", VALUES)
def test_no_value_that_is_not_known_is_repeated(read: Any, text: str) -> None:
    """It may be a secret or a cell value in the wrong place."""
    with pytest.raises(PolicyError) as raised:
        make_method(read(text).releases[0].method)
    assert CANARY not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "line", "where", "what"),
    [
        (with_column("age: {role: quasi, weight: 0}"), 7, "columns.age.weight", "too small"),
        (with_column("age: {role: quasi, weight: 1025}"), 7, "columns.age.weight", "too large"),
        (with_column(f"age: {{role: quasi, weight: {'9' * 5000}}}"), 7, "columns.age.weight", "too large"),
        (with_column(f"age: {{role: quasi, weight: -{'9' * 5000}}}"), 7, "columns.age.weight", "too small"),
        (with_column("age: {role: quasi, weight: 1.5}"), 7, "columns.age.weight", "not a whole number"),
        (with_column("age: {role: quasi, weight: yes}"), 7, "columns.age.weight", "not a whole number"),
        (with_column("age: {role: quasi, weight: [2]}"), 7, "columns.age.weight", "a list is not allowed"),
        (with_column("age: {role: quasi, weight: }"), 7, "columns.age.weight", "is empty"),
        (with_column("age: {weight: 2}"), 7, "columns.age.role", "is missing"),
        (with_column("age:"), 7, "columns.age", "not a mapping"),
        (with_column("age: [quasi]"), 7, "columns.age", "not a mapping"),
        (with_column('"": quasi'), 7, 'columns.""', "a column without a name"),
        (with_column('"a\\0b": quasi'), 7, 'columns."a\\x00b"', "a name with a NUL character"),
        (
            with_column("age: {role: insensitive, ordered: alphabetical}"),
            7,
            "columns.age.ordered",
            "the column is insensitive",
        ),
        (
            with_column("age: {role: identifier, accept_unique: true}"),
            7,
            "columns.age.accept_unique",
            "the column is identifier",
        ),
        (
            with_column("age: {role: quasi, accept_repeats: true}"),
            7,
            "columns.age.accept_repeats",
            "the column is quasi",
        ),
        (
            with_column("age: {role: sensitive, accept_unique: maybe}"),
            7,
            "columns.age.accept_unique",
            "neither true nor false",
        ),
        (with_column("age: {role: quasi, ordered: []}"), 7, "columns.age.ordered", "the list is empty"),
        (with_column("age: {role: quasi, ordered: [a, b, a]}"), 7, "columns.age.ordered", "a value is listed twice"),
        (
            with_column("age: {role: quasi, ordered: [a, [b]]}"),
            7,
            "columns.age.ordered",
            "a value of the list is not text",
        ),
        (with_column("age: {role: quasi, ordered: {a: b}}"), 7, "columns.age.ordered", "a mapping is not allowed"),
        (with_column("age: {role: quasi, weight: 1024}"), 6, "columns", "the weights sum to 1025"),
        (with_column("\n      ".join(f"q{i}: quasi" for i in range(1024))), 6, "columns", "1025 quasi columns"),
        (SMALL.replace("quasi", "identifier"), 6, "columns", "no quasi column"),
        (with_privacy("{k: 0}"), 12, "privacy.k", "too small"),
        (with_privacy("{k: ten}"), 12, "privacy.k", "not a whole number"),
        (with_privacy("{k: true}"), 12, "privacy.k", "not a whole number"),
        (with_privacy(f"{{k: {2**63}}}"), 12, "privacy.k", "too large"),
        (with_privacy("{}"), 12, "privacy.k", "is missing"),
        (with_privacy("{k: 2, l: 0.5}"), 12, "privacy.l", "too small"),
        (with_privacy("{k: 2, l: 1e999999999}"), 12, "privacy.l", "not a number or fraction"),
        (with_privacy("{k: 2, l: .inf}"), 12, "privacy.l", "not a number or fraction"),
        (with_privacy("{k: 2, l: 5/0}"), 12, "privacy.l", "not a number or fraction"),
        (with_privacy("{k: 2, l: 123456789.123456789}"), 12, "privacy.l", "too large or too precise"),
        (with_privacy("{k: 2, distinct_l: 0}"), 12, "privacy.distinct_l", "too small"),
        (
            with_privacy("{k: 2, l: 2}").replace("sensitive", "quasi").replace("inquasi", "quasi"),
            12,
            "privacy.l",
            "no sensitive column",
        ),
        (
            with_privacy("{k: 2, distinct_l: 2}").replace(": sensitive", ": quasi"),
            12,
            "privacy.distinct_l",
            "no sensitive column",
        ),
        (with_privacy("{k: 2, l: 2, joint: true}"), 12, "privacy.joint", "fewer than two sensitive columns"),
        (
            with_privacy("{k: 2, joint: true}").replace("insensitive", "sensitive"),
            12,
            "privacy.joint",
            "neither l nor distinct_l nor entropy_l nor recursive_cl nor alpha is asked for",
        ),
        (with_privacy("{k: 2, compared_with: all}"), 12, "privacy.compared_with", "not a word known here"),
        (
            with_privacy("{k: 2, l: 2, compared_with: source}"),
            12,
            "privacy",
            "compared_with: source, and nothing is compared",
        ),
        (with_key("refine: maybe"), 13, "refine", "neither true nor false"),
        (with_key("refine: [20, 4]"), 13, "refine", "a list is not allowed"),
        (with_key("refine: {window: 0}"), 13, "refine.window", "too small"),
        (with_key("refine: {window: 1001}"), 13, "refine.window", "too large"),
        (with_key("refine: {passes: 0}"), 13, "refine.passes", "too small"),
        (with_key("refine: {passes: 101}"), 13, "refine.passes", "too large"),
        (with_key("refine: {passes: }"), 13, "refine.passes", "is empty"),
        (with_key("refine: {search: -1}"), 13, "refine.search", "too small"),
        (with_key("refine: {search: 1001}"), 13, "refine.search", "too large"),
        (with_key("refine: {search: }"), 13, "refine.search", "is empty"),
        (with_key("refine: {windows: 3}"), 13, "refine.windows", "unknown key (did you mean window?)"),
        (with_key("format: rangs"), 13, "format.kind", "not a word known here (did you mean ranges?)"),
        (
            with_key("format: {kind: labels, mean: age}"),
            13,
            "format.mean",
            "the format is labels: its columns are texts",
        ),
        (with_key("format: {mean: [cost]}"), 13, "format.mean", "the column cost is insensitive"),
        (with_key("format: {mean: [agee]}"), 13, "format.mean", "a column that is not listed (did you mean age?)"),
        (with_key("format: {mean: [age, age]}"), 13, "format.mean", "a name is listed twice"),
        (with_privacy("{k: 4}") + "    format: {mean: [age]}\n", 13, "format.mean", "k is below 5"),
        (with_key("execution: fast"), 13, "execution", "not a word known here"),
        (with_key("rows_are: event"), 13, "rows_are", "not a word known here (did you mean events?)"),
        (with_key("memory: 4 bananas"), 13, "memory", "not a size"),
        (with_key("memory: 0.1b"), 13, "memory", "too small"),
        (with_key("memory: 99999999TB"), 13, "memory", "too large"),
        (with_key("seed: -1"), 13, "seed", "too small"),
        (with_key("readers: [a, '']"), 13, "readers", "empty text"),
        (with_key("dimensions: a.b.c.d"), 13, "dimensions[0]", "not the name of a table or view"),
        (with_key("dimensions: [Main.PATIENTS]"), 13, "dimensions", "the source itself is listed"),
        (with_key("readers: {a: b}"), 13, "readers", "a mapping is not allowed"),
        (with_key("method: 'mondrian:cut'"), 13, "method", "its options cannot be read"),
        (with_key("method: 'mondrian:cut=a,cut=b'"), 13, "method", "its options cannot be read"),
        (with_key("method: {cut: loss}"), 13, "method.name", "is missing"),
        (with_key("method: {name: mondrian, cut: [loss]}"), 13, "method.cut", "a list is not allowed"),
        (with_key("method: {name: best, of: []}"), 13, "method", "of names no methods"),
        (with_key("method: {name: ''}"), 13, "method.name", "not a name of letters, digits and _"),
        (with_key("method: mondrian; drop table"), 13, "method.name", "not a name of letters, digits and _"),
        (SMALL.replace("main.patients", "main."), 4, "source", "not the name of a table or view"),
        (SMALL.replace("main.patients", "'\"open'"), 4, "source", "not the name of a table or view"),
        (SMALL.replace("release.patients", "Main.PATIENTS"), 5, "publish", "the same name as the source"),
        (SMALL.replace("name: patients", "name: ''"), 3, "name", "empty text"),
    ],
)
def test_one_problem(problems: Any, text: str, line: int, where: str, what: str) -> None:
    (problem,) = problems(text)
    assert problem.startswith(
        (
            f"anon.yml:{line}: releases[patients].{where}: {what}; ",
            f"anon.yml:{line}: releases[0].{where}: {what}; ",
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "anon.yml:1: the file is empty; a policy begins with version: 1; sqlanon init proposes one"),
        (
            "# nothing\n",
            "anon.yml:1: the file is empty; a policy begins with version: 1; sqlanon init proposes one",
        ),
        ("- a\n", "anon.yml:1: not a mapping; a policy begins with version: 1; sqlanon init proposes one"),
        ("hello", "anon.yml:1: not a mapping; a policy begins with version: 1; sqlanon init proposes one"),
        ("version: 1\nreleases: []\n", "anon.yml:2: releases: the list is empty; a list, at least one"),
        ("version: 1\nreleases: {a: b}\n", "anon.yml:2: releases: not a list; a list, at least one"),
        ("version: 1\nreleases: [5]\n", "anon.yml:2: releases[0]: not a mapping; key: value pairs"),
        ("version: 1\n", "anon.yml:1: releases: is missing; The releases, at least one."),
        (
            SMALL.replace("version: 1\n", ""),
            "anon.yml:1: version: is missing; The version of this format: 1.",
        ),
        (
            SMALL + "connection:\n  a: b\n",
            "anon.yml:13: connection: a mapping is not allowed; text; put it in quotes",
        ),
    ],
)
def test_the_file_as_a_whole(problems: Any, text: str, expected: str) -> None:
    assert problems(text) == [expected]


def test_a_broken_role_hides_no_other_problem_and_causes_no_second_one(problems: Any) -> None:
    text = (
        with_privacy("{k: 3, l: 2}\n    format: {mean: [age]}")
        .replace("sex: quasi", "sex: identifier")
        .replace("age: quasi", "age: q")
        .replace(": sensitive", ": s")
    )
    assert [problem.split(";")[0] for problem in problems(text)] == [
        "anon.yml:7: releases[patients].columns.age.role: not a word known here",
        "anon.yml:9: releases[patients].columns.diagnosis.role: not a word known here",
        "anon.yml:13: releases[patients].format.mean: k is below 5",
    ]


def test_a_mistyped_order_is_not_only_a_missing_file(problems: Any) -> None:
    reported = problems(with_column("age: {role: quasi, ordered: alphabetic}"))
    assert "ordered: the file that it names: cannot be read" in reported[0]
    assert "alphabetic:" not in reported[0]
    assert "(did you mean alphabetical?)" in reported[1]


def test_both_hierarchy_and_order(problems: Any, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1;*\n")
    (problem,) = problems(with_column("age: {role: quasi, hierarchy: h.csv, ordered: alphabetical}"))
    assert "the column also has a hierarchy; hierarchy or ordered, not both" in problem


def test_a_mean_goes_with_numbers_not_nodes(problems: Any, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1;*\n")
    (problem,) = problems(with_column("age: {role: quasi, hierarchy: h.csv}") + "    format: {mean: age}\n")
    assert "the column age has a hierarchy; quasi columns without hierarchy: sex" in problem


def test_problems_of_a_hierarchy_name_both_files_and_lines(problems: Any, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1;a;*\n2;b\n3;c;*\n3;a;*\n")
    (problem,) = problems(with_column("age: {role: quasi, hierarchy: h.csv}"))
    assert problem.startswith("anon.yml:7: releases[patients].columns.age.hierarchy: h.csv:2: 2 fields")


@pytest.mark.parametrize(
    ("text", "where", "what", "keys"),
    [
        (
            with_key("refresh: {mode: frozen, key: id}"),
            "refresh.key",
            "unknown key here: it is a key of the release, and not of refresh",
            "mode, cohort,",
        ),
        (
            with_key("history: {privacy: 3}"),
            "history.privacy",
            "unknown key here: it is a key of the release, and not of history",
            "max_failing",
        ),
        (
            with_key("refresh: {mode: frozen, cohort: {row: 500}}"),
            "refresh.cohort.row",
            "unknown key (did you mean rows?)",
            "rows, every",
        ),
        (
            with_column("age: {role: quasi, format: ranges}"),
            "columns.age.format",
            "unknown key here: it is a key of the release, and not of age",
            "role, weight,",
        ),
        (with_key("secret: secret.bin"), "secret", "unknown key here: it is a key of a column", "name, source"),
    ],
)
def test_a_key_in_another_part_than_its_own(problems: Any, text: str, where: str, what: str, keys: str) -> None:
    (problem,) = [one for one in problems(text) if "unknown key" in one]
    assert f".{where}: {what}; the keys here are {keys}" in problem


@pytest.mark.parametrize(
    ("method", "successor"),
    [("fulldomain:search=single", "koptimize"), ("freeform:solver=zqcanary", "matchings")],
)
def test_an_option_that_is_a_method_of_its_own_now(problems: Any, method: str, successor: str) -> None:
    name, _, option = method.partition(":")
    key, _, word = option.partition("=")
    mapping = with_key(f"method: {{name: {name}, {key}: {word}}}")
    # In the text form a word may be a value in the wrong place: an option that the method still has is shown.
    short = "method.search" if key == "search" else "method"
    for text, place in ((mapping, f"method.{key}"), (with_key(f"method: {method}"), short)):
        (problem,) = [one for one in problems(text) if ".method" in one]
        assert problem.endswith(f"{place}: {name} has this no longer: it is a method of its own; method: {successor}")


def test_rows_left_out_would_never_be_published_by_versions_that_keep_others(problems: Any) -> None:
    text = with_key("refresh: {mode: frozen}") + "    method: fulldomain:search=global\n"
    asked = "    suppression: {limit: 0.1, rows: left_out}\n"
    assert any("a row that is left out would never be published" in one for one in problems(text + asked))
    for other in ("", asked.replace("left_out", "starred")):
        assert not any("never be published" in one for one in problems(text + other))
