"""Versions of counts that time asks for: more persons are new than a small cell has, and nothing else is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.release.versions import statistics
from sqlanon.statistics import certificate, certificate_errors
from tests.contract.tampering import tamper
from tests.contract.test_statistics_versions import FOLLOWED, Nights, compare

pytest.importorskip("highspy")

MORE = "    refresh: {mode: frozen, cohort: {persons: 20, every: 1d}}\n"


class Timed(Nights):
    """Counts with versions that time asks for."""

    def __init__(self, db: Any, folder: Path, seed: object) -> None:
        super().__init__(db, folder, seed)
        self.write(**{**FOLLOWED, "more": MORE})

    def wait(self) -> None:
        """A day goes by, for the published versions."""
        self.db.engine.execute(
            "UPDATE _sqlanon.catalog SET published_at = '2020-01-01T00:00:00+00:00' WHERE release = "
            f"'{self.name}' AND status = 'published'"
        )


def test_a_version_that_time_asks_for(shared_db: Any, tmp_path: Path) -> None:
    made = Timed(shared_db, tmp_path, "timed")
    seen = [made.publish()]
    made.come(*[("north", "F")] * 3)
    assert made.run().why == ("fewer than 20 persons are new: they wait",)
    made.wait()
    assert made.run().why == ("fewer than 4 persons are new: they wait",)
    made.come(("south", "M"))
    (report,) = [note for note in shared_db.plan(made.spec).notes if "persons are new" in note]
    assert report.startswith("4 persons are new since version 1")
    seen.append(made.publish())
    compare(seen)
    assert shared_db.audit(f"release.{made.view}").satisfied
    made.come(*[("north", "F")] * 9)
    assert made.run().outcome == "unchanged"


@pytest.mark.thorough
def test_time_publishes_nothing_of_who_left(shared_db: Any, tmp_path: Path) -> None:
    made = Timed(shared_db, tmp_path, "left")
    before = made.publish()
    made.come(*[("north", "F")] * 9)
    shared_db.engine.execute(f"DELETE FROM {made.source} WHERE pid = 0")
    made.wait()
    with pytest.raises(GuardError, match="no longer in the source, or in another cell"):
        made.run()
    assert made.rows() == before
    for more in (MORE.replace("1d", "2d"), MORE.replace(", every: 1d", "")):
        made.write(**{**FOLLOWED, "more": more})
        with pytest.raises(GuardError, match="a run would publish other counts"):
            made.run(allow_weaker=True)


@pytest.mark.thorough
def test_witnesses_of_too_few_new_rows_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Nights(shared_db, tmp_path, "few")
    before = made.publish()
    made.come(*[("north", "F")] * 9)
    tamper(
        monkeypatch,
        statistics,
        "batch_of",
        "INSERT INTO {witness} SELECT 99, atom, -2, batch FROM {atoms} WHERE batch = 2",
    )

    def asked(release: str, what: str, count: int) -> None:
        """The rows of shown cells are changed as well, for which another rule refuses."""
        if what == "tables of too few rows":
            certificate_errors.refuse(release, what, count)

    monkeypatch.setattr(certificate, "refuse", asked)
    monkeypatch.setattr(certificate, "refuse_each", lambda *_: None)
    with pytest.raises(PrivacyViolation, match="the certificate fails: tables of too few rows: 1"):
        made.run()
    assert made.rows() == before


def test_few_new_persons_are_too_few_to_wait_for(shared_db: Any, tmp_path: Path) -> None:
    made = Nights(shared_db, tmp_path, "wait")
    made.write(**{**FOLLOWED, "more": "    refresh: {mode: frozen, cohort: {persons: 3, every: 1d}}\n"})
    with pytest.raises(PolicyError, match="while no version follows, readers know that fewer than 3 persons are new"):
        made.run()
