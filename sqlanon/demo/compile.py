"""The kernels of the demonstration that its second process compiles: those that the first one needs last.

A first run spends most of its time on compiling, which one process does on one core. What is compiled is kept on disk
(`sqlanon.kernels.cache`), where the first process finds it. The two share nothing else, and neither waits for the
other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ROWS = 2_000


def compile_last() -> None:
    """Compile by releases of made-up tables: what plans need of hierarchies, then what diverse classes need.

    Cost: about 15 s.
    """
    from sqlanon import policy
    from sqlanon.database.warm import add_hierarchy, run_made_up

    columns: dict[str, Any] = {"source": "made_up", "name": "first", "quasi": ["a", "b"], "sensitive": "s"}
    nodes = {"name": "fulldomain", "search": "local"}
    run_made_up(add_hierarchy(policy.release(**columns, method=nodes, k=5)), ROWS)
    run_made_up(policy.release(**columns, method="hilbert", k=5, l=3), ROWS)


@contextmanager
def second_process() -> Iterator[None]:
    """Compile in another process for as long as this lasts, if it is needed and there is a core for it."""
    from sqlanon.kernels.cache import find_folder
    from sqlanon.kernels.callees import find_missing
    from sqlanon.methods.onedim.kernels.diverse_groups import diverse_groups

    if (os.cpu_count() or 1) < 2 or find_folder() is None or not find_missing(diverse_groups):
        yield
        return
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-P", "-m", __name__],  # -P: nothing is imported from the working folder
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    compile_last()
