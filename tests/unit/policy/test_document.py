"""YAML itself: positions, anchors, hostile text, and what the environment puts in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.policy import load
from sqlanon.policy.document import Document

CANARY = "s3cr3t-c4n4ry"
SMALL = """\
version: 1
connection: CONNECTION
releases:
  - name: NAME
    source: main.patients
    columns: {age: quasi, sex: quasi}
    privacy: {k: 2}
"""

Read = TypeVar("Read")


def attempt(reading: Callable[[], Read]) -> Read | PolicyError:
    """What was read, or the error of the policy; any other error is a defect."""
    try:
        return reading()
    except PolicyError as error:
        return error


plain = st.text(st.characters(exclude_categories=("Cs",)), max_size=8).filter(lambda text: "${" not in text)
data = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(plain, data, max_size=4), st.booleans())
def test_what_yaml_writes_is_what_we_read(value: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow)
    document = Document("f", text, {})
    assert document.data == yaml.load(text, yaml.BaseLoader) == value
    assert not document.found


@pytest.mark.thorough
@given(
    st.lists(
        st.sampled_from(
            [
                *list("a:-[]{}&*!|>'\"%@`,?#\t\n  ~<0"),
                "\x07",
                "\ud7ff",
                "é",
                "&a ",
                "*a",
                "<<: *a",
                "\n  ",
                "${A}",
                "${",
            ]
        ),
        max_size=30,
    ).map("".join)
)
@example("a: &a [*a]")
@example("&a {<<: *a}")
@example("[" * 5000)
@example("{" * 5000)
@example("? [a]\n: b")
@example("!!python/object/apply:os.system [ls]")
@example("!!int 0o8: !!timestamp x")
def test_any_text_is_data_or_one_clear_error(text: str) -> None:
    read = attempt(lambda: Document("f", text, {"A": "x"}))
    if isinstance(read, PolicyError):
        assert all(problem.startswith("f:") for problem in read.problems)
    else:
        for path, what, allowed in read.found:
            assert what
            assert allowed
            assert read.place(path)[0] >= 1


@given(
    st.lists(
        st.sampled_from(
            [
                *SMALL.splitlines(),
                "    method: [x]",
                "    format: {mean: a}",
                "- x",
                "   columns:",
                "      a: {role: quasi}",
            ]
        ),
        max_size=12,
    )
)
def test_any_policy_is_a_spec_or_a_policy_error(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "anon.yml"
    path.write_text("\n".join(lines))
    read = attempt(lambda: load(path, {}))
    if isinstance(read, PolicyError):
        assert all(problem.startswith(f"{path}:") and "\n" not in problem for problem in read.problems)
    else:
        assert read.releases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a:\n\tb: c\n",
            (
                "f:2: not YAML: a character that cannot start a value (a tab, @, ` or %); indent with spaces; put "
                "text in quotes"
            ),
        ),
        ("a: *b\n", "f:1: not YAML: an alias without its anchor; put text that starts with * in quotes"),
        ("a: &x 1\nb: &x 2\n", "f:2: not YAML: an anchor given twice; each anchor once"),
        (
            "a: b: c\n",
            (
                "f:1: not YAML: a colon where no key is allowed; put text that holds a colon in quotes; check the "
                "indentation"
            ),
        ),
        ("a: 1\n---\nb: 2\n", "f:2: not YAML: a second document; one document in a file"),
        ("a: [1, 2\n", "f:2: not YAML: expected … or …, but got …; check quotes, brackets and indentation"),
        ("a: 1\nb: {c: ${D}}\n", "f:2: not YAML: a bracket out of place; inside { } and [ ] put ${NAME} in quotes"),
        ("a: 1\nb: \x07\n", "f:2: a control character; YAML takes printable text, escape it in quotes"),
        ("[" * 100_000, "f: nested too deeply; no key of a policy is"),
        ("a: " + "[" * 30 + "]" * 30, "f:1: nested deeper than 20 levels; no key of a policy is"),
        ("a: &a [*a]", "f:1: nested deeper than 20 levels; no key of a policy is"),
    ],
)
def test_text_that_is_not_a_policy(text: str, expected: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Document("f", text, {})
    (problem,) = raised.value.problems
    assert problem.partition("…")[0] == expected.partition("…")[0]


def test_a_bomb_of_aliases_is_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 15)]
    with pytest.raises(PolicyError, match="holds more than 200000 values"):
        Document("f", "\n".join(lines), {})


def test_a_merge_bomb_is_stopped() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 15)]
    with pytest.raises(PolicyError, match="holds more than 200000 values"):
        Document("f", "\n".join(lines), {})


def test_anchors_and_merges_share_columns(tmp_path: Path) -> None:
    path = tmp_path / "anon.yml"
    path.write_text("""\
version: 1
releases:
  - {name: a, source: t, privacy: &p {k: 5}, columns: &c {age: quasi, sex: quasi, pay: sensitive}}
  - name: b
    source: t
    privacy: {<<: *p, l: 2}
    columns:
      <<: *c
      sex: identifier
""")
    first, second = load(path, {}).releases
    assert [column.role for column in first.columns] == ["quasi", "quasi", "sensitive"]
    assert {column.name: column.role for column in second.columns} == {
        "sex": "identifier",
        "age": "quasi",
        "pay": "sensitive",
    }
    assert (second.privacy.k, second.privacy.l) == (5, 2)


def test_tags_and_odd_keys_are_problems(problems: Any) -> None:
    reported = problems(
        "version: 1\nreleases:\n- name: !!python/name:os.system x\n  source: t\n  privacy: {k: 2}\n"
        "  columns: {age: quasi, [a]: quasi, <<: 5}\n"
    )
    assert [problem.split(";")[0] for problem in reported] == [
        "anon.yml:3: releases[0].name: a YAML tag is not allowed",
        "anon.yml:6: releases[0].columns: the key in line 6 is not text",
        "anon.yml:6: releases[0].columns: << merges something that is not a mapping",
    ]


def test_the_environment_is_put_in(read: Any) -> None:
    policy = read(
        SMALL.replace("CONNECTION", "postgresql://u:${PASSWORD}@h/${DB}").replace("NAME", "a $${x} $y b"),
        {"PASSWORD": CANARY, "DB": "d"},
    )
    assert policy.connection == f"postgresql://u:{CANARY}@h/d"
    assert policy.releases[0].name == "a ${x} $y b"
    assert CANARY not in repr(policy)


def test_a_variable_is_read_in_connection_and_hierarchy_alone(tmp_path: Path) -> None:
    """What a name, a source or a place to publish holds is shown by plan, in errors and to readers.

    None of them reads a variable.
    """
    file, tree = tmp_path / "anon.yml", tmp_path / "tree.csv"
    tree.write_text("1;a;*\n2;a;*\n")
    lines = [
        "version: 1",
        "connection: duckdb:///${PLACE}.duckdb",
        "releases:",
        "- name: n",
        "  source: t",
        "  publish: p",
        "  columns: {a: {role: quasi, hierarchy: '${FOLDER}/tree.csv'}}",
        "  privacy: {k: 2}",
    ]
    environ = {"PLACE": "x", "FOLDER": str(tmp_path), "S": CANARY}
    file.write_text("\n".join(lines))
    assert load(file, environ).connection == "duckdb:///x.duckdb"
    for at, place in ((3, "name"), (4, "source"), (5, "publish"), (7, "privacy.k")):
        changed = list(lines)
        changed[at] = "  privacy: {k: '${S}'}" if at == 7 else lines[at].rpartition(": ")[0] + ": ${S}"
        file.write_text("\n".join(changed))
        with pytest.raises(PolicyError) as found:
            load(file, environ)
        assert f".{place}: a variable of the environment" in str(found.value)
        assert CANARY not in str(found.value)


def test_another_database_reads_no_variable_of_the_connection(tmp_path: Path) -> None:
    file = tmp_path / "anon.yml"
    file.write_text(SMALL.replace("CONNECTION", "postgresql://elsewhere/?password=${PASSWORD}").replace("NAME", "n"))
    assert load(file, {}, connection=False).connection == "postgresql://elsewhere/?password=${PASSWORD}"
    with pytest.raises(PolicyError, match="PASSWORD is not set"):
        load(file, {})


def test_values_of_the_environment_are_not_expanded_again(read: Any) -> None:
    assert read(SMALL.replace("CONNECTION", "${A}"), {"A": "${B}"}).connection == "${B}"


def test_variables_that_are_missing_or_misspelt(problems: Any) -> None:
    reported = problems(
        SMALL.replace("CONNECTION", "postgresql://${USER_}:${PASS WORD}@h")
        .replace("NAME", "${")
        .replace("{k: 2}", "{k: '${K:-5}'}"),
        {"PASSWORD": CANARY},
    )
    assert reported == [
        "anon.yml:2: connection: the environment variable USER_ is not set; set USER_, or change the policy",
        (
            "anon.yml:2: connection: ${ without the name of an environment variable and }; ${NAME}; write $${ for the "
            "characters ${ themselves"
        ),
        (
            "anon.yml:4: releases[0].name: a variable of the environment; variables are read in connection, state, "
            "secret and hierarchy; write the value, or $${ for the characters ${ themselves"
        ),
        (
            "anon.yml:7: releases[0].privacy.k: a variable of the environment; variables are read in connection, "
            "state, secret and hierarchy; write the value, or $${ for the characters ${ themselves"
        ),
    ]


KEYS = [
    "version",
    "connection",
    "name",
    "source",
    "publish",
    "publish_file",
    "role",
    "weight",
    "hierarchy",
    "ordered",
    "accept_unique",
    "k",
    "l",
    "distinct_l",
    "joint",
    "method",
    "cut",
    "format",
    "kind",
    "mean",
    "rest",
    "rows_are",
    "persons",
    "readers",
    "dimensions",
    "key",
    "every",
    "keep",
    "history",
    "refresh",
    "execution",
    "memory",
    "seed",
]


@pytest.mark.parametrize(
    "value",
    [
        "${S}",
        CANARY,
        f"[{CANARY}]",
        f"{{{CANARY}x: {CANARY}}}",
        f"'{CANARY}",
        f"*{CANARY}",
        f"&{CANARY} &{CANARY} x",
        f'"\\q{CANARY}"',
        f"!{CANARY} x",
    ],
)
def test_no_error_shows_a_value(tmp_path: Path, value: str) -> None:
    """Every key gets the canary, from the file and from the environment. File names of the policy may be shown."""
    for key in KEYS:
        path = written(tmp_path / "anon.yml", key, value)
        with pytest.raises(PolicyError) as raised:
            load(path, {"S": CANARY})
        problems = raised.value.problems
        reported = [problem for problem in problems if not _names_a_file_or_key(problem, key, value)]
        assert CANARY not in "\n".join(reported), key
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__ or raised.value.__context__ is None


def written(path: Path, key: str, value: str) -> Path:
    """A policy with a value of one key."""
    parts = {key: value}
    column = {"role": "quasi", "weight": "2", "hierarchy": None, "ordered": None, "accept_unique": None}
    options = {"kind": "ranges", "mean": None}

    def flow(names: dict[str, str | None]) -> str:
        return ", ".join(f"{n}: {parts.get(n, given)}" for n, given in names.items() if parts.get(n, given))

    release = {
        "name": "n",
        "source": "t",
        "publish": "v",
        "publish_file": None,
        "rest": None,
        "rows_are": None,
        "persons": None,
        "readers": None,
        "dimensions": None,
        "key": None,
        "every": None,
        "keep": None,
        "history": None,
        "refresh": None,
        "execution": "x",
        "memory": None,
        "seed": None,
    }
    lines = [
        f"version: {parts.get('version', 1)}",
        f"connection: {parts.get('connection', 'x')}",
        "releases:",
        "- columns:",
    ]
    lines += [
        "    age: {" + flow(column) + "}",
        "  privacy: {" + flow({"k": "0", "l": None, "distinct_l": None, "joint": None}) + "}",
    ]
    lines += [f"  {name}: {parts.get(name, given)}" for name, given in release.items() if parts.get(name, given)]
    lines += [
        f"  method: {parts['method']}" if key == "method" else "  method: {name: m, " + flow({"cut": "loss"}) + "}"
    ]
    lines += [f"  format: {parts['format']}" if key == "format" else "  format: {" + flow(options) + "}"]
    path.write_text("\n".join(lines))
    return path


def _names_a_file_or_key(problem: str, key: str, value: str) -> bool:
    """Keys, release names and paths that are in the file itself are what a message is about."""
    written = value != "${S}"
    return written and (key in ("hierarchy", "ordered", "name") or "unknown key" in problem or f"{CANARY}x:" in problem)
