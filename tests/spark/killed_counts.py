"""A process that makes a release of counts and stops at a place, to be killed there: see `tests.spark.killed`."""

from __future__ import annotations

import sys

import sqlanon
from sqlanon.engines.spark import engine
from sqlanon.policy import load
from tests.spark.killed import PLACES, Places, Stopping


def main(url: str, policy: str, *words: str) -> None:
    """Run the release of a policy file up to a place."""
    engine.SparkEngine = Stopping  # type: ignore[misc]
    with sqlanon.connect(url, progress=PLACES) as db:
        Places.words = words
        db.run(load(policy).releases[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
