"""Processes that compile variants of one kernel at the same time: what is found later is what was asked for."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sqlanon.kernels.cache import CompiledFile
from tests.project.test_cache import checkout

STEPS = ("_load_index", "_save_index", "_save_data")
"""What a save does: each as a whole, whatever other processes do."""


class Saving:
    """One process that saves a variant, and waits before every step until it is its turn."""

    def __init__(self, folder: Path, key: str) -> None:
        self.file: Any = CompiledFile(str(folder), "kernel", "stamp")
        self._key = key
        self._may, self._did = threading.Semaphore(0), threading.Semaphore(0)
        self.done = False
        for name in STEPS:
            setattr(self.file, name, self._waiting(getattr(self.file, name)))
        self._thread = threading.Thread(target=self._save, daemon=True)
        self._thread.start()
        self._did.acquire()

    def _waiting(self, step: Any) -> Any:
        def turn(*arguments: Any) -> Any:
            self._did.release()
            self._may.acquire()
            return step(*arguments)

        return turn

    def _save(self) -> None:
        try:
            self.file.save(self._key, f"variant {self._key}")
        finally:
            self.done = True
            self._did.release()

    def step(self) -> None:
        """Let it do its next step, if it has one."""
        if not self.done:
            self._may.release()
            self._did.acquire()


def turns() -> Iterator[tuple[int, ...]]:
    """Every order in which two processes can do three steps each."""
    for first in itertools.combinations(range(6), 3):
        yield tuple(0 if place in first else 1 for place in range(6))


def test_all_interleavings_of_two_saves(tmp_path):
    """Whoever reads after any step finds the variant that it asks for, or none."""
    for number, order in enumerate(turns()):
        folder = tmp_path / str(number)
        folder.mkdir()
        saving = [Saving(folder, key) for key in ("a", "b")]
        for who in order:
            saving[who].step()
            reader = CompiledFile(str(folder), "kernel", "stamp")
            for key in ("a", "b"):
                assert reader.load(key) in (None, f"variant {key}")
        assert all(one.done for one in saving)
        assert any(reader.load(key) is not None for key in ("a", "b"))


KERNEL = """
from sqlanon.kernels.compiled import njit

@njit()
def twice(x):
    return x + x
"""
ASKED = """
import sys
import numpy as np
from sqlanon.kernels.twice import twice

kinds = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64", "complex128"]
print("ready", flush=True)
sys.stdin.readline()
first = int(sys.argv[1])
for kind in kinds[first:] + kinds[:first]:
    found = twice(np.full(3, 1.5).astype(kind))
    assert found.dtype == kind and (found == np.full(3, 1.5).astype(kind) * 2).all(), kind
print(sum(twice.stats.cache_hits.values()))
"""


@pytest.mark.thorough
def test_processes_that_begin_at_the_same_time(tmp_path):
    """On an empty cache; afterwards each variant is right, whether it is found or compiled."""
    (checkout(tmp_path) / "sqlanon" / "kernels" / "twice.py").write_text(KERNEL)
    (tmp_path / "asked.py").write_text(ASKED)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }

    def begun(first: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(tmp_path / "asked.py"), str(first)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    with ExitStack() as running:
        together = [running.enter_context(begun(first)) for first in range(4)]
        for one in together:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in together:
            assert one.stdin is not None
            one.stdin.write("\n")
            one.stdin.flush()
        for one in together:
            one.communicate()
        assert [one.returncode for one in together] == [0] * 4
    # What was overwritten in an index is compiled by the first, and found by the second.
    for hits in (None, "10\n"):
        with begun(0) as alone:
            out, _ = alone.communicate("\n")
        assert alone.returncode == 0
        assert hits is None or out == f"ready\n{hits}"
