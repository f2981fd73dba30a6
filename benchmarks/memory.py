"""Peak memory of one statement or one release, each measured in a process of its own.

``python -m benchmarks.memory CASE`` is that process: it reads a case as JSON, runs it, and prints its figures as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def peak_rss() -> int:
    """Bytes that this process held at most so far (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def _parent(process: int) -> int | None:
    """The parent of a process; None: there is no such process here, or no more."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    processes = [int(place.name) for place in Path("/proc").glob("[0-9]*")]
    return [process for process in processes if _parent(process) == parent]


def pss(process: int) -> int:
    """Bytes that a process holds, of shared pages its part."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0) * 1024


class ServerMemory:
    """Samples what a local PostgreSQL server and its sessions hold, shared pages counted once (PSS).

    Args:
        url: the server; where it does not run on this machine, the peak stays 0.
    """

    def __init__(self, url: str) -> None:
        import psycopg

        with psycopg.connect(url) as connection:
            self._server = _parent(connection.info.backend_pid)  # while its session lasts
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.peak = 0

    def _sample(self) -> None:
        while self._server and not self._stop.wait(0.2):
            held = sum(pss(process) for process in [self._server, *children(self._server)])
            self.peak = max(self.peak, held)

    def __enter__(self) -> ServerMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def measure(case: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
    """Run one case in a fresh process.

    Returns its seconds, its peak memory, and a release's report with its processor seconds by stage.

    Args:
        case: ``url``, ``threads``, ``memory`` and either ``statements``, of which the first is timed, or ``source``
            with ``options`` for ``anonymize``. ``warm``, a small table, is released so first, which is not in the
            figures.
        timeout: seconds after which the process is stopped.
    """
    command = [sys.executable, "-m", "benchmarks.memory", json.dumps(case)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=timeout, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _run(case: dict[str, Any]) -> dict[str, Any]:
    import sqlanon
    from benchmarks.cost import Clock

    clock, how = Clock(), {"threads": case.get("threads"), "memory": case.get("memory")}
    with sqlanon.connect(case["url"], progress=clock, **how) as db:
        if case.get("warm"):
            db.anonymize(case["warm"], allow_weaker=True, **case["options"])
            clock.seconds.clear()
        connected = peak_rss()
        start, used = time.perf_counter(), time.process_time()
        timed, *after = case.get("statements", [None])
        report = None
        if timed is None:
            report = db.anonymize(case["source"], allow_weaker=True, **case["options"]).report.to_dict()
        else:
            db.engine.execute(timed)
        seconds, cpu = time.perf_counter() - start, time.process_time() - used
        for statement in after:
            db.engine.execute(statement)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "cpu_stages": clock.seconds,
        "peak_rss": peak_rss(),
        "connected_rss": connected,
        "report": report,
    }


if __name__ == "__main__":
    print(json.dumps(_run(json.loads(sys.argv[1])), default=str))
