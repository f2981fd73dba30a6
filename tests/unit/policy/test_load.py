"""Policy files that are right, several releases in one file, and files that cannot be read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.column_spec import ColumnSpec
from sqlanon.errors import PolicyError
from sqlanon.policy import load
from sqlanon.policy.reference import EXAMPLE
from sqlanon.spec import FormatSpec, MethodSpec, PrivacySpec, RefineSpec
from tests.unit.policy.samples import SMALL, with_column, with_key, with_privacy


def test_the_smallest_policy_has_the_documented_defaults(read: Any, tmp_path: Path) -> None:
    policy = read(SMALL)
    (release,) = policy.releases
    assert policy.connection is None
    assert policy.path == str(tmp_path / "anon.yml")
    assert [column.name for column in release.columns] == ["age", "sex", "diagnosis", "cost", "name"]
    assert [column.role for column in release.columns] == ["quasi", "quasi", "sensitive", "insensitive", "identifier"]
    assert release.privacy == PrivacySpec(k=10)
    assert release.method == MethodSpec("tree", {})
    assert release.format == FormatSpec("ranges", ())
    assert (release.rest, release.rows_are, release.execution) == ("error", "persons", "auto")
    assert (release.memory, release.seed, release.publish_file, release.readers) == (None, None, None, ())
    assert release.refine is None


def test_the_example_of_the_reference_loads(read: Any, tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies/zip.csv").write_text("1;*\n2;*\n")
    (release,) = read(EXAMPLE).releases
    columns = {column.name: column for column in release.columns}
    assert columns["age"] == ColumnSpec("age", "quasi", weight=2)
    assert columns["name"] == ColumnSpec("name", "identifier", accept_repeats=True)
    assert columns["stage"].ordered == ("I", "II", "III", "IV")
    assert columns["zip"].hierarchy is not None
    assert columns["zip"].hierarchy.levels == (("1", "*"), ("2", "*"))
    assert columns["zip"].hierarchy.name == str(tmp_path / "hierarchies/zip.csv")
    assert release.privacy == PrivacySpec(k=10, l=Fraction(5, 2))
    assert release.method == MethodSpec("mondrian", {"variant": "strict", "cut": "loss"})
    assert release.format == FormatSpec("ranges", ("age",))
    assert release.memory == 4_000_000_000


def test_relative_files_start_at_the_policy_and_not_where_the_command_runs(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "order.txt").write_text("low\nhigh\n")
    path = write(with_column("age: {role: quasi, ordered: order.txt}"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load(path, {}).releases[0].columns[0].ordered == ("low", "high")


@pytest.mark.parametrize(
    ("written", "method"),
    [
        ("method: mondrian", MethodSpec("mondrian", {})),
        (
            "method: mondrian:variant=relaxed,cut=median",
            MethodSpec("mondrian", {"variant": "relaxed", "cut": "median"}),
        ),
        (
            "method: {name: idistance, minimize: max, centres: 64}",
            MethodSpec("idistance", {"minimize": "max", "centres": "64"}),
        ),
    ],
)
def test_methods_are_a_text_or_a_mapping(read: Any, written: str, method: MethodSpec) -> None:
    assert read(with_key(written)).releases[0].method == method


@pytest.mark.parametrize(
    ("written", "refine"),
    [
        ("true", RefineSpec(window=40, passes=4, search=None)),
        ("{}", RefineSpec(window=40, passes=4, search=0)),
        ("{search: 1000}", RefineSpec(window=40, passes=4, search=1000)),
        ("{window: 1}", RefineSpec(window=1, passes=4)),
        ("{window: 1000, passes: 100}", RefineSpec(window=1000, passes=100)),
        ("no", None),
        ("", None),
    ],
)
def test_refine_is_a_word_or_a_mapping(read: Any, written: str, refine: RefineSpec | None) -> None:
    assert read(with_key(f"refine: {written}")).releases[0].refine == refine


@pytest.mark.parametrize(
    ("written", "l"),
    [
        ("5/2", Fraction(5, 2)),
        ("2.5", Fraction(5, 2)),
        ("2.1", Fraction(21, 10)),
        ("3", Fraction(3)),
        ('"10/4"', Fraction(5, 2)),
    ],
)
def test_l_is_exact(read: Any, written: str, l: Fraction) -> None:  # noqa: E741
    assert read(with_privacy(f"{{k: 2, l: {written}}}")).releases[0].privacy.l == l


@pytest.mark.parametrize(
    ("written", "size"),
    [("4GB", 4 * 10**9), ("512MiB", 512 * 2**20), ("1.5 kb", 1500), ("7", 7), ("2TiB", 2 * 2**40), ("9b", 9)],
)
def test_memory_units(read: Any, written: str, size: int) -> None:
    assert read(with_key(f"memory: {written}")).releases[0].memory == size


def test_names_are_taken_as_they_are_written(read: Any) -> None:
    policy = read(
        with_column(
            '? "q\\"; drop table x; --"\n      : quasi\n      no: quasi\n      2024: quasi\n      1e3: quasi\n'
            "      Größe '%': quasi\n      null: {role: quasi, ordered: [no, yes, 1.0, 2020-01-01, 0x10]}"
        )
    )
    names = [column.name for column in policy.releases[0].columns]
    assert names[:6] == ['q"; drop table x; --', "no", "2024", "1e3", "Größe '%'", "null"]
    assert policy.releases[0].columns[5].ordered == ("no", "yes", "1.0", "2020-01-01", "0x10")


def two(first: str, second: str) -> str:
    item = SMALL.partition("releases:\n")[2]
    return (
        "version: 1\nreleases:\n"
        + item.replace("    publish: release.patients\n", first)
        + item.replace("name: patients", "name: partners").replace("    publish: release.patients\n", second)
    )


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ("    publish: r.x\n", '    publish: \'"R"."x"\'\n', "publish: the view of the release in line 5 again"),
        ("", "    publish: release.patients\n", "publish: the view of the release in line 3 again"),
        (
            "    publish_file: x.duckdb\n",
            "    publish_file: ./x.duckdb\n",
            "publish_file: the file of the release in line 5 again",
        ),
    ],
)
def test_two_releases_never_share_a_place(problems: Any, first: str, second: str, what: str) -> None:
    (problem,) = problems(two(first, second))
    assert what in problem


def test_two_releases_may_use_one_view_name_in_two_files(read: Any) -> None:
    text = two("    publish: r.x\n    publish_file: a.duckdb\n", "    publish: r.x\n    publish_file: b.duckdb\n")
    assert [release.publish for release in read(text).releases] == ["r.x", "r.x"]


@pytest.mark.parametrize(
    ("name", "view"), [("ab", "release.ab"), ("a b", 'release."a b"'), ('a"b.c', 'release."a""b.c"')]
)
def test_the_default_view_is_named_after_the_release(read: Any, name: str, view: str) -> None:
    text = SMALL.replace("    publish: release.patients\n", "").replace("name: patients", f"name: '{name}'")
    assert read(text).releases[0].publish == view


@pytest.mark.parametrize("make", ["missing", "directory", "latin1"])
def test_files_that_cannot_be_read(tmp_path: Path, make: str) -> None:
    path = tmp_path / "anon.yml"
    if make == "directory":
        path.mkdir()
    elif make == "latin1":
        path.write_bytes(b"version: 1\n# caf\xe9\n")
    with pytest.raises(PolicyError) as raised:
        load(path, {})
    (problem,) = raised.value.problems
    expected = {
        "missing": ": cannot be read (No such",
        "directory": ": cannot be read (Is a",
        "latin1": ":2: not UTF-8",
    }
    assert problem.startswith(f"{path}{expected[make]}")
    assert raised.value.exit_code == 2


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "anon.yml"
    path.write_text(SMALL.replace("\n", "\r\n"), encoding="utf-8-sig", newline="")
    assert load(path, {}).releases[0].name == "patients"
