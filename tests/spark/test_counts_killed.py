"""Runs of counts on Spark that are killed: readers have one whole version, and other counts are not put beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon
from sqlanon.errors import GuardError
from sqlanon.policy import load
from tests.safety.visits import FOLLOWED, OTHER, come, write
from tests.spark.test_kill import killed
from tests.spark.test_walk import leftovers, rows

pytest.importorskip("highspy")
pytestmark = pytest.mark.spark
FIRST = ("statistics/view_of_batches", "publish/view", "publish/view")
"""The metadata view is made: this commits a first version."""
STOPS = [
    (("statistics/view_of_batches", "verify"), 1),  # written
    (("statistics/view_of_batches", "publish/view"), 1),  # verified
    (("statistics/view_of_batches", "publish/view", "publish/view"), 2),  # committed
]
"""Where a version that follows is killed, and the version that readers have then."""


def test_killed_over_connect(session, connect_url, tmp_path: Path) -> None:
    counts, other = tmp_path / "counts.yml", tmp_path / "other.yml"
    counts.write_text(FOLLOWED)
    other.write_text(OTHER)
    spec, beside = (load(file).releases[0] for file in (counts, other))
    with sqlanon.connect(session, accept_shared=True, temporary=True) as db:
        write(db)
        killed([connect_url, counts, *FIRST], "killed_counts")
        with pytest.raises(GuardError, match="release counts publishes counts of the same source"):
            db.run(beside)
        assert db.run(spec).version == 1
        assert db.audit("release.counts").satisfied
        first = rows(db, "release.counts")
        come(db)
        for words, version in STOPS:
            killed([connect_url, counts, *words], "killed_counts")
            assert (rows(db, "release.counts") == first) == (version == 1), words
        seen = rows(db, "release.counts")
        assert db.run(spec).outcome == "unchanged"
        assert rows(db, "release.counts") == seen
        assert db.audit("release.counts").satisfied
        assert not leftovers(db)
        numbers = {one.version for one in db.releases("counts") if one.status in ("published", "replaced")}
        kept = [str(row[1]) for row in db.engine.fetch("SHOW TABLES IN _sqlanon LIKE 'counts*'")]
        assert {int(name.split("_v")[-1].split("_")[0]) for name in kept} == numbers
