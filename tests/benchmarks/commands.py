"""Commands of the benchmarks and examples, as processes of their own."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"benchmark", "command", "date", "versions", "machine"}
MADE_UP = {
    "command": "c",
    "date": "d",
    "versions": {"python": "3", "duckdb": "2"},
    "machine": {"cores": 2, "processor": "p", "memory_gib": 16},
}
"""Facts of results that were not measured."""


def command(*words: str, **environ: str) -> str:
    """Run a module of the repository; its output."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def benchmark(name: str, out: Path, *words: str) -> dict:
    """Run one benchmark; what it wrote."""
    command(f"benchmarks.{name}", "--out", str(out), *words)
    written = json.loads(out.read_text())
    assert set(written) >= FACTS
    assert written["command"] == shlex.join(["python", "-m", f"benchmarks.{name}", *words])
    return written
