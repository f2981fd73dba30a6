"""The tests that a change needs: its own, those of each changed file, and those of generated files."""

from __future__ import annotations

import json

from tests.project.tree import ROOT
from tests.reach import GENERATED, KEPT, choose, read, recorded_names, summarize

REACH = {
    "sqlanon/a.py": [
        ("tests/x/test_a.py::test_1", 1.0),
        ("tests/x/test_b.py::test_2", 4.0),
        ("tests/x/test_c.py::test_3", 9.0),
    ],
    "sqlanon/b.py": [("tests/x/test_slow.py::test_4", 500.0), ("tests/x/test_b.py::test_2", 4.0)],
}


def test_each_changed_file_has_its_share_of_the_time():
    chosen = choose(["sqlanon/a.py", "sqlanon/b.py"], REACH, seconds=12.0)
    assert chosen - set(GENERATED) == {
        "tests/x/test_a.py::test_1",
        "tests/x/test_b.py::test_2",
        "tests/x/test_slow.py::test_4",  # it is the only one that is sure to run b
    }


def test_a_changed_test_file_runs_whole():
    changed = ["tests/x/test_new.py", "tests/engines.py", "README.md", "sqlanon/unknown.py"]
    assert choose(changed, REACH) == {*GENERATED, "tests/x/test_new.py"}


def test_those_that_run_the_fewest_files_come_first():
    lines = [
        ("tests/test_a.py::test_1", 0.25, ["sqlanon/a.py", "sqlanon/b.py"], False),
        ("tests/test_a.py::test_2[x]", 0.5, ["sqlanon/a.py"], False),
        ("tests/test_a.py::test_2[y]", 1.5, ["sqlanon/a.py"], False),
        ("tests/test_b.py::test_3", 1.0, ["sqlanon/a.py"], False),
        ("tests/test_b.py::test_4", 1.0, ["sqlanon/a.py"], True),
    ]
    found = summarize(
        json.dumps({"test": name, "seconds": cost, "hits": {file: [1] for file in hits}, "thorough": thorough})
        for name, cost, hits, thorough in lines
    )
    names = found["tests"]
    assert names == [
        ["tests/test_a.py::test_1", 0.25],
        ["tests/test_a.py::test_2", 2.0],
        ["tests/test_b.py::test_3", 1.0],
    ]
    assert {file: [names[n][0][-1] for n in numbers] for file, numbers in found["files"].items()} == {
        "sqlanon/a.py": ["3", "2", "1"],
        "sqlanon/b.py": ["1"],
    }


def test_the_tests_of_a_kernel_are_those_of_its_callers():
    names = recorded_names("sqlanon/kernels/requirements.py")
    assert names
    assert all((ROOT / name).exists() and "/kernels/" not in name for name in names)


def test_the_record_is_of_this_project():
    """Most of what it names is there; what is not is passed over."""
    reach = read()
    assert sum((ROOT / file).exists() for file in reach) > 0.8 * len(reach) > 500
    assert all(0 < len(tests) <= KEPT for tests in reach.values())
    for file in GENERATED:
        assert (ROOT / file).exists()
