"""A process that makes a version of noisy statistics and stops at a place, to be killed there."""

from __future__ import annotations

import sys

import sqlanon
from sqlanon.engines.spark import engine
from sqlanon.policy import load
from tests.spark.killed import PLACES, Places, Stopping


def main(url: str, policy: str, *words: str) -> None:
    """Pay for a version, up to a place."""
    engine.SparkEngine = Stopping  # type: ignore[misc]
    with sqlanon.connect(url, progress=PLACES) as db:
        Places.words = words
        db.run(load(policy).releases[0], spend=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
