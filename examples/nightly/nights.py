"""Thirty nights of a hospital: what happens to its table, and what the nightly run makes of it.

A night is a connection of its own, as under cron: something happens to the source or the policy, then `Database.run`,
and what readers see is noted. `EVENTS` says what happens when; everything else is admissions, discharges and
corrections.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlanon
from sqlanon import policy

PATIENTS = 400
DIAGNOSES = ("flu", "asthma", "ulcer", "fracture", "gout", "anemia")
BASE: dict[str, Any] = {
    "source": "patients",
    "name": "patients",
    "publish": "release.patients",
    "quasi": ["age", "sex", "zip"],
    "sensitive": "diagnosis",
    "identifiers": ["patient_id"],
    "key": "patient_id",
    "every": "24h",
    "keep": 3,
    "k": 5,
    "l": 2,
}
EVENTS = {
    5: "nothing happens",
    9: "somebody writes k: 4",
    10: "--allow-weaker",
    13: "the source gets a column",
    14: "the policy names it",
    17: "kill -9 while it publishes",
    21: "half of the table is lost",
    22: "repaired, and rolled back before the run",
    26: "l: 3",
}


@dataclass
class Night:
    """What a night's run did, and what readers see in the morning.

    Attributes:
        outcome: published, unchanged, refused or killed.
        change: rows added, removed and changed since the version before.
        smallest: of the groups that a reader of both versions can distinguish: arrived, left, common; None where there
            is none.
        failing: rows in groups below the policy; None where nothing was compared.
        seen: rows that readers see in the morning.
    """

    number: int
    event: str
    outcome: str = ""
    version: int = 0
    rows: int = 0
    change: tuple[int, int, int] | None = None
    classes: int = 0
    gcp: float = 0.0
    seconds: float = 0.0
    smallest: tuple[int | None, int | None, int | None] | None = None
    failing: int | None = None
    seen: int = 0
    refused: str = ""


@dataclass
class Hospital:
    """The table, the policy, and chance."""

    url: str
    seed: int = 7
    arguments: dict[str, Any] = field(default_factory=lambda: dict(BASE))
    _next: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._people: dict[int, tuple[int, str, str, str]] = {}
        self._lost: dict[int, tuple[int, str, str, str]] = {}
        self._wide = False
        self._admit(PATIENTS)

    def nights(self, count: int = 30) -> Iterator[Night]:
        """One night after the other."""
        for number in range(1, count + 1):
            yield self.night(number)

    def night(self, number: int) -> Night:
        """What happens, the run, and what readers see afterwards."""
        night = Night(number, EVENTS.get(number, ""))
        happen: Callable[[], None] = getattr(self, f"_night_{number}", self._ordinary)
        happen()
        self._write()
        if number == 22:
            with sqlanon.connect(self.url) as db:
                db.rollback("patients")
        if number == 17:
            self._killed(night)
        else:
            with sqlanon.connect(self.url) as db:
                self._run(db, night)
        with sqlanon.connect(self.url) as db:
            ((seen,),) = db.engine.fetch("SELECT count(*) FROM release.patients")
            night.seen = int(str(seen))
        return night

    def _run(self, db: Any, night: Night) -> None:
        try:
            report = db.run(policy.release(**self.arguments), allow_weaker=night.number == 10)
        except (sqlanon.GuardError, sqlanon.PolicyError) as error:
            night.outcome, night.refused = "refused", str(error)
            return
        night.outcome, night.version, night.rows = report.outcome, report.version, report.rows
        night.classes, night.gcp, night.seconds = report.classes, report.loss.gcp, report.seconds["total"]
        if report.outcome == "published" and report.history:
            one = report.history[0]
            night.smallest = (one.arrived.smallest, one.left.smallest, one.common.smallest)
            night.failing = max(each.failing for each in report.history)
        if report.outcome == "published" and report.data:
            night.change = (report.data.added, report.data.removed, report.data.changed or 0)

    def _killed(self, night: Night) -> None:
        """The same run as a process of its own that dies by SIGKILL while it publishes."""
        words = [sys.executable, "-m", "examples.nightly.dying", self.url]
        ended = subprocess.run(words, cwd=Path(__file__).parents[2], check=False, input=repr(self.arguments), text=True)
        night.outcome = "killed" if ended.returncode == -9 else f"ended with {ended.returncode}"
        if self.url.startswith("postgresql"):
            self._wait_for_the_server()

    def _wait_for_the_server(self) -> None:
        """Until PostgreSQL has noticed that its client is gone."""
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sqlanon' "
            "AND pid <> pg_backend_pid() AND pg_sleep(0.05) IS NOT NULL"
        )
        with sqlanon.connect(self.url) as db:
            while db.engine.fetch(others) != [(0,)]:
                pass

    # --- what happens ------------------------------------------------------------------------------------------------

    def _ordinary(self) -> None:
        """About 5 % are new, 4 % leave, 3 % get another diagnosis."""
        for number in self._rng.sample(sorted(self._people), PATIENTS * 4 // 100):
            del self._people[number]
        for number in self._rng.sample(sorted(self._people), PATIENTS * 3 // 100):
            self._people[number] = (*self._people[number][:3], self._rng.choice(DIAGNOSES))
        self._admit(PATIENTS * 5 // 100)

    def _night_1(self) -> None: ...

    def _night_5(self) -> None: ...

    def _night_9(self) -> None:
        self._ordinary()
        self.arguments["k"] = 4

    def _night_13(self) -> None:
        self._ordinary()
        self._wide = True

    def _night_14(self) -> None:
        self._ordinary()
        self.arguments["identifiers"] = ["patient_id", "phone"]
        self.arguments["accept_repeats"] = ["phone"]

    def _night_21(self) -> None:
        self._lost = dict(self._people)
        self._people = {number: person for number, person in self._people.items() if number % 2}

    def _night_22(self) -> None:
        self._people = self._lost

    def _night_26(self) -> None:
        self._ordinary()
        self.arguments["l"] = 3

    def _admit(self, count: int) -> None:
        for _ in range(count):
            self._next += 1
            self._people[self._next] = (
                self._rng.randint(18, 90),
                self._rng.choice("mf"),
                f"{self._rng.randint(0, 29):04}",
                self._rng.choice(DIAGNOSES),
            )

    def _write(self) -> None:
        phone = ", phone VARCHAR" if self._wide else ""
        more = ", NULL" if self._wide else ""
        rows = ", ".join(
            f"({number}, {age}, '{sex}', '{zip_}', '{diagnosis}'{more})"
            for number, (age, sex, zip_, diagnosis) in self._people.items()
        )
        with sqlanon.connect(self.url) as db:
            with suppress(sqlanon.DatabaseError):
                db.engine.execute("DROP TABLE patients")
            db.engine.execute(
                "CREATE TABLE patients (patient_id INTEGER, age INTEGER, sex VARCHAR, zip VARCHAR, diagnosis "
                f"VARCHAR{phone})"
            )
            db.engine.execute(f"INSERT INTO patients VALUES {rows}")
