"""Runs on Spark that are killed, with and without the server.

Readers have the old version or the new one, and the next run tidies up.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import PRIVATE_SCHEMA
from tests.safety.people import RELEASE, VERSIONS, is_whole
from tests.spark.conftest import missing
from tests.spark.killed import write_people
from tests.spark.test_walk import leftovers

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
WRITTEN = ("in-database", "publish/table")
SWAPPED = (*WRITTEN, "publish/view", "publish/view")
DELIVERED = ("publish/load",)
STOPS: list[tuple[tuple[str, ...], bool]] = [
    (("snapshot",), False),
    (("in-database", "encode"), False),
    (("in-database", "method"), False),
    (("in-database", "recode/boxes"), False),
    (DELIVERED, False),
    ((*DELIVERED, "publish/load"), False),  # the table of the rows is written
    ((*DELIVERED, "verify/k_anonymity"), False),
    ((*DELIVERED, "publish/view", "publish/view"), True),
    (WRITTEN, False),  # the catalog says pending, nothing is written
    ((*WRITTEN, "publish/link"), False),  # the table of the rows is written
    ((*WRITTEN, "verify"), False),
    # Verified; the views of the rows show whichever version the metadata view shows.
    ((*WRITTEN, "publish/view"), False),
    (SWAPPED, True),  # that view has been replaced
    (("catalog/append",), False),  # the next run finds that, and is about to say so in the catalog
    ((*SWAPPED, "catalog/append"), True),  # neither the version before nor the new one is marked
    ((*SWAPPED, "cleanup"), True),  # the catalog says published
]
"""The place of the kill, see `tests.spark.killed.Places`, and whether the version is published then."""


def killed(words: Sequence[object], module: str = "killed") -> None:
    """Start a run that stops, and kill it and what it has started."""
    command = [sys.executable, "-W", "ignore", "-m", f"tests.spark.{module}", *map(str, words)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "here\n"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def seen(db: Any) -> int:
    """The generation that readers see; it must be complete."""
    (row,) = db.engine.fetch(VERSIONS)
    assert is_whole(row), row
    return int(row[1])


def assert_tidy(db: Any) -> None:
    """One published version, and no private table but those of versions."""
    rows = db.releases("people")
    live = [row for row in rows if row.status in ("published", "replaced")]
    assert [row.status for row in live].count("published") == 1
    assert {row.status for row in rows} <= {"published", "replaced", "dropped", "abandoned", "discarded"}
    numbers = tuple(f"_v{row.version}" for row in live)
    for row in db.engine.fetch(f"SHOW TABLES IN {PRIVATE_SCHEMA}"):
        bare = str(row[1]).removesuffix("_link").removesuffix("_metadata")
        assert not bare.startswith(("people", "_sqlanon_people", "lock_")) or bare.endswith(numbers), row


def test_killed_over_connect(session, connect_url):
    """Each run releases another generation and is killed; the next one reconciles what it left."""
    with sqlanon.connect(session, accept_shared=True, temporary=True) as db:
        write_people(db, 1)
        db.anonymize("people", **RELEASE)
        for generation, (words, published) in enumerate(STOPS, 2):
            before = seen(db)
            write_people(db, generation)
            killed([connect_url, *words])
            assert seen(db) == (generation if published else before), words
        write_people(db, len(STOPS) + 2)
        db.anonymize("people", **RELEASE)
        assert seen(db) == len(STOPS) + 2
        assert_tidy(db)
        assert not leftovers(db)


@pytest.mark.skipif(missing() is not None, reason="Spark is not here")
def test_killed_with_its_server(tmp_path):
    """Java dies with the run, in a session of our own, before and after the commit point.

    The catalog on disk opens again, and readers have a whole version.
    """
    url = f"spark+local:///{tmp_path}/warehouse"
    killed([url, *WRITTEN, "publish/link"])
    killed([url, *SWAPPED])
    assert_next_run(url)


def assert_next_run(url: str) -> None:
    """Check the next run, in a process of its own.

    Readers have the second generation, the next run publishes a third, and nothing is left over.
    """
    code = (
        "import sys, sqlanon; from tests.spark.test_kill import RELEASE, assert_tidy, seen, write_people\nwith "
        "sqlanon.connect(sys.argv[1]) as db:\n    assert seen(db) == 2; write_people(db, 3); db.anonymize('people', "
        "**RELEASE); assert seen(db) == 3; db.clean(); assert_tidy(db)\n"
    )
    where = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, url], check=True, cwd=where, timeout=600)
