"""``--order``: another order for each seed, in which tests of a file, and of a fixture's value, stay together."""

from __future__ import annotations

import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.order import Order

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.fixture(scope="module", params="ab")
def shared(request):
    return request.param

@pytest.mark.parametrize("number", range(8))
def test_first(shared, number):
    pass

def test_second(shared):
    pass

@pytest.mark.parametrize("number", range(8))
def test_third(number):
    pass
"""


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory):
    """The names of some tests in the order of some words."""
    folder = tmp_path_factory.mktemp("ordered")
    for name in ("one", "two"):
        (folder / f"test_{name}.py").write_text(TESTS)
    (folder / "conftest.py").write_text(
        "from tests.order import Order\n\n"
        "def pytest_addoption(parser):\n    parser.addoption('--order')\n\n"
        "def pytest_configure(config):\n"
        "    if seed := config.getoption('--order'):\n        config.pluginmanager.register(Order(seed))\n"
    )

    def run(*words: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words, "."]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        return [line for line in ended.stdout.splitlines() if "::" in line]

    return run


def test_seeds_differ_and_one_seed_does_not(ordered):
    plain, first, other = ordered(), ordered("--order", "7"), ordered("--order", "8")
    assert first == ordered("--order", "7")
    assert sorted(first) == sorted(other) == sorted(plain)
    assert len({tuple(plain), tuple(first), tuple(other)}) == 3
    assert "--order 7" in Order("7").pytest_report_header()


@pytest.mark.parametrize("seed", ["7", "1a2b3c4d5e6f"])
def test_files_and_values_of_fixtures_stay_together(ordered, seed):
    names = ordered("--order", seed)
    assert len([file for file, _ in groupby(name.partition("::")[0] for name in names)]) == 2
    for file in ("test_one.py", "test_two.py"):
        values = [name.partition("[")[2][0] for name in names if name.startswith(f"{file}::") and "third" not in name]
        assert sorted(value for value, _ in groupby(values)) == ["a", "b"]
