"""`sqlanon serve` under load.

It measures many connections at once, the growth of memory, and the cost of an ask beside the same one in process.

The server is a process of its own over a DuckDB file, with its defaults but for the number of connections of one user.
Processor seconds are those of the server and of its processes for the catalog, without the clients'.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg

import sqlanon
from benchmarks.memory import ROOT
from benchmarks.record import RESULTS, Record, options

QUESTIONS = {
    "count": "SELECT count(*) AS n FROM people WHERE age < {i}",
    "group by": "SELECT ill, count(*) AS n, avg(age) AS a FROM people WHERE age < {i} GROUP BY ill",
    "bounds": "SELECT count(*) AS n, n_low, n_high FROM people WHERE age < {i}",
    "catalog": "SELECT relname FROM pg_class WHERE relnatts < {i}",
    "SELECT 1": "SELECT 1",
}
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def publish(folder: Path, rows: int) -> str:
    """A DuckDB file with one release of a table of so many rows; its URL."""
    file = folder / "published.duckdb"
    source = folder / "source.duckdb"
    subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.connect({str(source)!r}).close()"], check=True)
    with sqlanon.connect(f"duckdb:///{source}") as db:
        db.engine.execute(
            "CREATE TABLE people AS SELECT 20 + (i * 7919) % 60 AS age, ['flu', 'asthma', 'cough'][i % 3 + 1] AS ill, "
            f"i % {min(rows // 5, 2000)} AS cost FROM range({rows}) AS r(i)"
        )
        db.anonymize(
            "people",
            quasi="age",
            sensitive="ill",
            insensitive="cost",
            k=10,
            publish="release.people",
            publish_file=str(file),
        )
    return f"duckdb:///{file}"


@contextmanager
def served(url: str, connections: int) -> Iterator[tuple[int, int]]:
    """A server; gives its process and its port."""
    words = ["--db", url, "--listen", "0", "--json", "--connections", str(connections)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sqlanon", "serve", *words, "--user-connections", str(connections)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "SQLANON_SERVE_USERS": "ann:secret"},
    )
    assert process.stdout is not None
    try:
        yield process.pid, int(json.loads(process.stdout.readline())["port"])
    finally:
        process.terminate()
        process.wait(60)


def processes(pid: int) -> list[int]:
    """A process and those that it has started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text(encoding="ascii").split()]
    return found


def spent(pid: int) -> float:
    """Processor seconds of a server and its processes."""
    total = 0
    for one in processes(pid):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def resident(pid: int) -> float:
    """MiB of a server and its processes."""
    pages = [int(Path(f"/proc/{one}/statm").read_text(encoding="ascii").split()[1]) for one in processes(pid)]
    return sum(pages) * _PAGE / 2**20


def connected(port: int) -> psycopg.Connection:
    """A connection to a server."""
    return psycopg.connect(f"postgresql://ann:secret@127.0.0.1:{port}/x", autocommit=True)


def median_ms(ask: Any, asks: int) -> float:
    """Median milliseconds of asks, one after the other."""
    found = []
    for i in range(asks):
        begun = time.perf_counter()
        ask(25 + i % 50)
        found.append(1000 * (time.perf_counter() - begun))
    return statistics.median(found)


def one_by_one(url: str, port: int, pid: int, asks: int) -> dict[str, Any]:
    """Milliseconds of each question over one connection, and of those of a release in process."""
    figures: dict[str, Any] = {}
    with connected(port) as connection, sqlanon.connect(url, read_only=True, threads=1) as db:
        for name, sql in QUESTIONS.items():

            def over_the_wire(i: int, sql: str = sql) -> None:
                connection.execute(sql.format(i=i).encode()).fetchall()

            def in_process(i: int, sql: str = sql) -> None:
                db.query(sql.format(i=i).replace(", n_low, n_high", ""))

            median_ms(over_the_wire, 5)
            before = spent(pid)
            figures[name] = {"server_ms": median_ms(over_the_wire, asks)}
            figures[name]["server_cpu_ms"] = 1000 * (spent(pid) - before) / asks
            if "people" in sql:
                median_ms(in_process, 5)
                figures[name]["in_process_ms"] = median_ms(in_process, asks)
    return figures


def load(port: int, pid: int, connections: int, asks: int) -> dict[str, Any]:
    """Asks of many connections at once, in ten parts, with the server's memory after each."""
    questions = list(QUESTIONS.values())
    parts: list[dict[str, float]] = []
    with ExitStack() as stack, ThreadPoolExecutor(connections) as pool:
        clients = [stack.enter_context(connected(port)) for _ in range(connections)]

        def ask(number: int, times: int) -> None:
            for i in range(times):
                sql = questions[(number + i) % len(questions)].format(i=25 + (number + i) % 50)
                clients[number].execute(sql.encode()).fetchall()

        list(pool.map(ask, range(connections), [10] * connections))  # warm
        first = resident(pid)
        for _ in range(10):
            begun, before = time.perf_counter(), spent(pid)
            each = asks // 10 // connections
            list(pool.map(ask, range(connections), [each] * connections))
            parts.append(
                {
                    "asks": each * connections,
                    "seconds": time.perf_counter() - begun,
                    "cpu_seconds": spent(pid) - before,
                    "resident_mib": resident(pid),
                }
            )
    done = sum(part["asks"] for part in parts)
    return {
        "connections": connections,
        "asks": done,
        "asks_per_second": done / sum(part["seconds"] for part in parts),
        "cpu_ms_per_ask": 1000 * sum(part["cpu_seconds"] for part in parts) / done,
        "resident_mib_before": first,
        "resident_mib_after": parts[-1]["resident_mib"],
        "growth_mib_of_the_last_half": parts[-1]["resident_mib"] - parts[4]["resident_mib"],
        "parts": parts,
    }


def main(words: list[str] | None = None) -> None:
    """Measure all of it."""
    parser = options(__doc__, RESULTS / "serve.json")
    parser.add_argument("--rows", type=int, default=10_000, help="of the source")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--asks", type=int, default=10_000, help="of all connections")
    parser.add_argument("--repeat", type=int, default=200, help="asks of each question one by one")
    args = parser.parse_args(words)
    record = Record("serve")
    with tempfile.TemporaryDirectory(prefix="sqlanon-serve-") as folder:
        url = publish(Path(folder), args.rows)
        with served(url, args.connections + 1) as (pid, port):
            single = one_by_one(url, port, pid, args.repeat)
            many = load(port, pid, args.connections, args.asks)
    for name, figure in single.items():
        print(f"{name:9}", ", ".join(f"{key} {value:.2f}" for key, value in figure.items()))
    print(", ".join(f"{key} {value:.1f}" for key, value in many.items() if key != "parts"))
    record.write(args.out, one_by_one=single, load=many)


if __name__ == "__main__":
    main()
