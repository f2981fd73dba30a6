"""The demonstration's second process: what it compiles, and when it is started."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sqlanon.demo import compile as module
from sqlanon.kernels import cache, callees
from sqlanon.kernels.counted_cuts import cut_counted
from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs


@pytest.mark.thorough
def test_it_compiles_what_the_first_process_needs_last():
    module.compile_last()
    assert make_diverse_groups.signatures
    assert find_best_row_runs.signatures
    assert any("int32, 2d" in str(signature[0]) for signature in cut_counted.signatures)


@pytest.fixture
def started(monkeypatch):
    """The processes that are started: each waits for the end of its input, which never comes."""
    processes = []

    def start(words, **_):
        assert words == [sys.executable, "-P", "-m", "sqlanon.demo.compile"]
        processes.append(popen(["cat"], stdin=subprocess.PIPE))
        return processes[-1]

    popen = subprocess.Popen
    monkeypatch.setattr(module.subprocess, "Popen", start)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(callees, "find_missing", lambda _: {"make_diverse_groups"})
    yield processes
    for process in processes:
        process.stdin.close()


def test_it_lasts_no_longer_than_the_first(started):
    def fail():
        with module.second_process():
            assert started[0].poll() is None
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert len(started) == 1
    assert started[0].poll() is not None


@pytest.mark.parametrize("missing", ["core", "folder", "nothing"])
def test_it_is_not_started_in_vain(started, monkeypatch, missing):
    if missing == "core":
        monkeypatch.setattr(module.os, "cpu_count", lambda: 1)
    elif missing == "folder":
        monkeypatch.setattr(cache, "find_folder", lambda: None)
    else:
        monkeypatch.setattr(callees, "find_missing", lambda _: set())
    with module.second_process():
        assert not started
