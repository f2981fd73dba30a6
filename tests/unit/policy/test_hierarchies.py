"""Hierarchies and orders from files."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.policy import load as load_policy
from sqlanon.policy import read_hierarchy, read_order

ADULT = Path(os.environ.get("SQLANON_DATA", Path(__file__).parents[4] / "shared/data")) / "adult/hierarchies"


def file(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "h.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def reported(tmp_path: Path, content: str | bytes) -> list[str]:
    with pytest.raises(PolicyError) as raised:
        read_hierarchy(file(tmp_path, content))
    return [problem.replace(f"{tmp_path}/", "") for problem in raised.value.problems]


def test_children_come_in_the_order_of_their_first_appearance(tmp_path: Path) -> None:
    path = file(tmp_path, "d;y;*\na;x;*\nb;x;*\nc;y;*\n")
    hierarchy = read_hierarchy(path)
    assert hierarchy.name == str(path)
    assert hierarchy.levels == (("d", "y", "*"), ("c", "y", "*"), ("a", "x", "*"), ("b", "x", "*"))


def test_levels_may_share_labels(tmp_path: Path) -> None:
    levels = read_hierarchy(file(tmp_path, "a;a;*\nb;a;*\nOther;Other;*\n*;Other;*\n")).levels
    assert levels == (("a", "a", "*"), ("b", "a", "*"), ("Other", "Other", "*"), ("*", "Other", "*"))


@pytest.mark.parametrize(
    ("content", "levels"),
    [
        ("a;*", (("a", "*"),)),
        ("\ufeffa;*\r\n\r\nb;*\r\n\r\n", (("a", "*"), ("b", "*"))),
        ('"a;b";*\n"say ""x""";*\n"two\nlines";*\n', (("a;b", "*"), ('say "x"', "*"), ("two\nlines", "*"))),
        (";*\n a ;*\n", (("", "*"), (" a ", "*"))),
        ("a;*\na;*\n", (("a", "*"),)),
        ("81667;8166*;*****\n81675;8167*;*****\n", (("81667", "8166*", "*****"), ("81675", "8167*", "*****"))),
        ("é;ü;*\n日本;ü;*\n", (("é", "ü", "*"), ("日本", "ü", "*"))),
    ],
)
def test_files_that_are_right(tmp_path: Path, content: str, levels: tuple[tuple[str, ...], ...]) -> None:
    assert read_hierarchy(file(tmp_path, content)).levels == levels


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        ("", ["h.csv: holds no line"]),
        ("\n\n", ["h.csv: holds no line"]),
        ("a,b,*\nc,d,*\n", ["h.csv:1: one field only"]),
        ("a;x;*\nb;*\nc;y;z;*\n", ["h.csv:2: 2 fields, but line 1 has 3", "h.csv:3: 4 fields, but line 1 has 3"]),
        ("a;x\nb;y\n", ["h.csv:2: a root other than in line 1"]),
        ("a;;*\nb;x;*\n", ["h.csv:1: an empty field after the leaf"]),
        ("a;x;\nb;x;\n", ["h.csv:1: an empty field after the leaf", "h.csv:2: an empty field after the leaf"]),
        ("a;x;*\nb;x;*\na;y;*\n", ["h.csv:3: the leaf has another parent in line 1"]),
        ("a;x;p;*\nb;x;q;*\n", ["h.csv:2: the node in field 2 has another parent in line 1"]),
        ('a;*\n"x\ny";*\n"b;*\n', ["h.csv:4: cannot be read"]),
        ('a;*\n"b"c;*\n', ["h.csv:2: cannot be read"]),
        (b"a;*\nb;*\n\xff;*\n", ["h.csv:3: not UTF-8"]),
        ("a;*\n" + "b" * 200_000 + ";*\n", ["h.csv:2: cannot be read"]),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, content: str | bytes, problems: list[str]) -> None:
    assert [problem.split(";")[0] for problem in reported(tmp_path, content)] == problems


def test_many_problems_are_counted(tmp_path: Path) -> None:
    problems = reported(tmp_path, "a;x;*\n" + "b;*\n" * 50)
    assert len(problems) == 21
    assert problems[-1] == "h.csv: 30 more problems of this kind"


def test_no_problem_shows_a_label(tmp_path: Path) -> None:
    for content in ("canary;x;*\ncanary;y;*\n", "a;canary;*\nb;canary;q\n", "canary;*\ncanary\n", '"canary;*\n'):
        assert "canary" not in "".join(reported(tmp_path, content))


@pytest.mark.parametrize("path", ["missing.csv", ".", "a\0b", "x" * 5000])
@pytest.mark.parametrize("read", [read_hierarchy, read_order])
def test_files_that_cannot_be_read(tmp_path: Path, path: str, read: object) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        read(str(tmp_path / path))  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["device", "pipe", "link"])
@pytest.mark.parametrize("read", [read_hierarchy, read_order, load_policy])
def test_a_device_or_a_pipe_is_not_read(tmp_path: Path, kind: str, read: object) -> None:
    """In a process of its own, which would not end: /dev/zero has no end, and a pipe without a writer is waited for."""
    path = tmp_path / "zip.csv"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    name = read.__name__  # type: ignore[attr-defined]
    code = (
        "import resource, sqlanon.policy as p; resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); "
        f"p.{name}({'/dev/zero' if kind == 'device' else str(path)!r})"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert "PolicyError" in ended.stderr
    assert "cannot be read (no regular file, but a device or a pipe)" in ended.stderr


@pytest.mark.parametrize("read", [read_hierarchy, read_order])
def test_a_file_larger_than_memory_is_not_read(tmp_path: Path, read: object) -> None:
    path = tmp_path / "zip.csv"
    with path.open("wb") as sparse:
        sparse.truncate(40 * 2**30)
    with pytest.raises(PolicyError, match=r"cannot be read .larger than 33,554,432 bytes"):
        read(path)  # type: ignore[operator]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows of a tree of equal depth: labels of one level differ, labels of different levels may not."""
    depth = draw(st.integers(1, 3))
    rows: list[tuple[str, ...]] = [("*",)]
    labels = st.text(st.sampled_from('ab;" \n*,é'), min_size=1, max_size=4)
    for _ in range(depth):
        counts = [draw(st.integers(1, 3)) for _ in rows]
        names = draw(st.lists(labels, min_size=sum(counts), max_size=sum(counts), unique=True))
        rows = [(names.pop(), *row) for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    return draw(st.permutations(rows))


@given(trees())
def test_every_node_covers_consecutive_leaves_by_first_appearance(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";").writerows(rows)
    levels = read_hierarchy(file(tmp_path, text.getvalue())).levels
    assert sorted(levels) == sorted(rows)
    for level in range(len(rows[0])):
        nodes = [row[level] for row in levels]
        runs = [node for i, node in enumerate(nodes) if i == 0 or nodes[i - 1] != node]
        assert len(runs) == len(set(nodes))
        for parent in {row[level + 1 :] for row in rows}:
            children = dict.fromkeys(row[level] for row in rows if row[level + 1 :] == parent)
            assert list(dict.fromkeys(row[level] for row in levels if row[level + 1 :] == parent)) == list(children)


@pytest.mark.skipif(not ADULT.is_dir(), reason="the shared Adult hierarchies are not here (SQLANON_DATA)")
def test_the_adult_hierarchies_of_arx() -> None:
    for path in sorted(ADULT.glob("*.csv")):
        rows = [tuple(line.split(";")) for line in path.read_text().splitlines()]
        levels = read_hierarchy(path).levels
        assert sorted(levels) == sorted(rows)
        assert levels[0] == rows[0]


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("b\na\n", ("b", "a")),
        ("\ufeffx\r\ny\r\n\r\n", ("x", "y")),
        (" a\n#b", (" a", "#b")),
        ("a\u2028b\nc", ("a\u2028b", "c")),
    ],
)
def test_orders(tmp_path: Path, content: str, values: tuple[str, ...]) -> None:
    assert read_order(file(tmp_path, content)) == values


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        ("", ["h.csv: holds no value"]),
        ("\n\n", ["h.csv: holds no value"]),
        ("a\n\nb\na\n", ["h.csv:2: an empty line", "h.csv:4: the value of line 1 again"]),
        (b"a\n\xff", ["h.csv:2: not UTF-8"]),
    ],
)
def test_orders_that_are_wrong(tmp_path: Path, content: str | bytes, problems: list[str]) -> None:
    with pytest.raises(PolicyError) as raised:
        read_order(file(tmp_path, content))
    assert [p.replace(f"{tmp_path}/", "").split(";")[0] for p in raised.value.problems] == problems
