"""Tables for benchmarks on Spark.

It has a throwaway catalog in a folder, settings of the sessions, and figures of what they shuffle, use and hold.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from benchmarks.generators import Synthetic, load_duckdb
from benchmarks.memory import children, pss

DRIVER = "8g"
"""Java's heap; in a local session that of the executors, too."""


@contextmanager
def settings(folder: Path) -> Iterator[None]:
    """Sessions that are started here have the heap, and write their events and temporary files into the folder."""
    conf = folder / "conf"
    conf.mkdir()
    (folder / "events").mkdir()
    lines = {
        "spark.driver.memory": DRIVER,
        "spark.local.dir": str(folder / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder / 'events'}",
    }
    (conf / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
    before = os.environ.get("SPARK_CONF_DIR")
    os.environ["SPARK_CONF_DIR"] = str(conf)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SPARK_CONF_DIR"]
        else:
            os.environ["SPARK_CONF_DIR"] = before


@contextmanager
def spark_url(table: Synthetic, rows: int, threads: int) -> Iterator[tuple[str, Path]]:
    """A catalog that has the generated table, and the folder of the events of its sessions.

    Both are removed afterwards.
    """
    import duckdb

    import sqlanon

    with tempfile.TemporaryDirectory(prefix="sqlanon-spark-") as made:
        folder = Path(made)
        url = f"spark+local:///{folder / 'warehouse'}?cores={threads}"
        file = folder / "rows.parquet"
        with duckdb.connect(str(folder / "rows.duckdb")) as connection:
            load_duckdb(connection, table, rows)
            connection.execute(f"COPY {table.name} TO '{file}'")
        with settings(folder):
            with sqlanon.connect(url, threads=threads) as db:
                db.engine.execute(f"CREATE TABLE {table.name} AS SELECT * FROM parquet.`{file}`")
            for path in (folder / "rows.duckdb", file):
                path.unlink()
            yield url, folder / "events"


def shuffled(events: Path, start: float, end: float) -> int:
    """Bytes that tasks which ended between two times wrote for other tasks."""
    total = 0
    for path in events.rglob("*"):
        if path.is_file():
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    if '"SparkListenerTaskEnd"' in line:
                        task = json.loads(line)
                        if start <= task["Task Info"]["Finish Time"] / 1000 <= end:
                            written = (task.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
                            total += written.get("Shuffle Bytes Written", 0)
    return total


def _below(process: int) -> Iterator[int]:
    for one in children(process):
        yield one
        yield from _below(one)


_WORKERS: dict[int, int] = {}
"""Ticks of each worker that was seen.

Nobody waits for workers that end, as idle ones do after a minute, so that no other process has their seconds then.
"""


def used() -> float:
    """Processor seconds of this process, of Java, and of the workers that Java has started, so far.

    The least of three readings: while Java starts a process, its own seconds can be seen twice.
    """
    found = []
    for _ in range(3):
        found.append(_used())
        time.sleep(0.02)
    return min(found)


def _used() -> float:
    java = _find_java()
    for process in java:
        for worker in _below(process):
            if not _is_java(worker):
                _WORKERS[worker] = max(_WORKERS.get(worker, 0), _ticks(worker, 2))
    total = sum(_ticks(process, 4) for process in (os.getpid(), *java)) + sum(_WORKERS.values())
    return total / os.sysconf("SC_CLK_TCK")


def _ticks(process: int, fields: int) -> int:
    """User and system ticks of a process; with four ``fields`` those of the children that it waited for, too."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
    except OSError:
        return 0
    return sum(map(int, text.split()[11 : 11 + fields]))


def _find_java() -> list[int]:
    return [process for process in children(os.getpid()) if "java" in _name(process)]


class Held:
    """Samples what Java holds, and the workers that it has started.

    Attributes:
        java, workers: bytes at most, so far.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.java = self.workers = 0

    def _sample(self) -> None:
        while not self._stop.wait(2):
            java = _find_java()
            _used()  # workers that end before somebody asks
            self.java = max(self.java, sum(map(pss, java)))
            workers = [one for process in java for one in _below(process) if not _is_java(one)]
            self.workers = max(self.workers, sum(map(pss, workers)))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _is_java(process: int) -> bool:
    """Whether it is Java's copy of itself that is about to become another program, and has Java's memory until then."""
    try:
        return "java" in Path(f"/proc/{process}/exe").readlink().name
    except OSError:
        return True


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8")
    except OSError:
        return ""
