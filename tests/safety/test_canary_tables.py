"""Tables that are published together.

No value of any of them in an error, a log record, the catalog, a private table or a file name.
"""

from __future__ import annotations

import hashlib
import logging
import random
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.policy import load
from tests.engines import create_table, read_table
from tests.safety.test_canary import CANARY, texts

PERSONS, WARDS, ILLNESSES = range(24), "ab", "xy"


class Hospital:
    """Patients and their stays, every value of which is a canary, and the policy that publishes them together."""

    def __init__(self, db: Any, folder: Path) -> None:
        rng = random.Random(1)
        self.db, self.file = db, folder / "anon.yml"
        who = [f"{CANARY}{i}" for i in PERSONS]
        drawn = [
            (pid, f"{CANARY} v{i}-{visit}", f"{CANARY} {rng.choice(WARDS)}", f"{CANARY} {rng.choice(ILLNESSES)}")
            for i, pid in enumerate(who)
            for visit in range(1 + i % 2 if i else 5)
        ]
        self.values = {value for row in drawn for value in row} | {f"{CANARY} {sex}" for sex in "fm"}
        for table in ("patients", "stays"):
            db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(
            db,
            "patients",
            {"pid": "TEXT", "sex": "TEXT"},
            [(pid, f"{CANARY} {'fm'[i % 2]}") for i, pid in enumerate(who)],
        )
        create_table(db, "stays", {"pid": "TEXT", "visit": "TEXT", "ward": "TEXT", "illness": "TEXT"}, drawn)
        self.write()

    def write(self, *, stays: str = "stays", limit: object = 1, ward: str = "quasi") -> None:
        """The policy file."""
        self.file.write_text(
            "version: 1\nreleases:\n  - name: hospital\n    person: pid\n    privacy: {k: 2}\n    suppression: "
            f"{{limit: {limit}, rows: left_out}}\n    tables:\n      - {{source: patients, name: patients, publish: "
            f"release.patients, columns: {{pid: pseudonym, sex: quasi}}}}\n      - {{source: {stays}, name: stays, "
            f"publish: release.stays, columns: {{pid: pseudonym, visit: pseudonym, ward: {ward}, illness: "
            "insensitive}}\n"
        )

    @property
    def specs(self) -> Any:
        """The releases of the file."""
        return load(self.file).releases

    def run(self, **asked: Any) -> Any:
        """Publish both."""
        return self.db.run_tables(self.specs, **asked)

    def fails(self, kind: type[Exception]) -> None:
        """A run ends in an error that shows no value, and what was published stays."""
        before = [read_table(self.db, ("release", table)) for table in ("patients", "stays")]
        with pytest.raises(kind) as caught:
            self.run()
        assert not [text for text in texts(caught.value) if CANARY in text]
        assert before == [read_table(self.db, ("release", table)) for table in ("patients", "stays")]


def test_no_value_of_tables_is_shown(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG, logger="sqlanon")
    db, hospital = shared_db, Hospital(shared_db, tmp_path)
    caplog.clear()
    reported = [*hospital.run()]
    db.engine.execute(f"UPDATE stays SET ward = '{CANARY} c' WHERE ward = '{CANARY} a'")
    reported += [*hospital.run(), *(db.plan(spec) for spec in hospital.specs)]
    reported += [db.audit(f"release.{table}") for table in ("patients", "stays")]

    db.engine.execute("CREATE VIEW broken AS SELECT pid, visit, CAST(ward AS INTEGER) AS ward, illness FROM stays")
    (tmp_path / "wards.csv").write_text(f"{CANARY} a;*\n")
    wrong = [
        ({"limit": 0}, sqlanon.InfeasibleError),
        ({"stays": "broken"}, sqlanon.DatabaseError),
        ({"ward": "{role: quasi, hierarchy: wards.csv}"}, sqlanon.PolicyError),
        ({"ward": f"{{role: quasi, ordered: ['{CANARY} a']}}"}, sqlanon.PolicyError),
    ]
    for written, kind in wrong:
        hospital.write(**written)  # type: ignore[arg-type]
        hospital.fails(kind)
    hospital.write()
    db.engine.execute(f"INSERT INTO stays SELECT pid, visit, ward, illness FROM stays WHERE pid = '{CANARY}3'")
    hospital.fails(sqlanon.SqlanonError)  # a visit occurs twice
    db.engine.execute(f"UPDATE stays SET visit = '{CANARY} none', pid = NULL WHERE pid = '{CANARY}3'")
    hospital.fails(sqlanon.SqlanonError)
    db.engine.execute("DROP VIEW broken")

    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"
    ours = [
        name
        for (name,) in db.engine.fetch(names)
        if name in ("catalog", "secrets") or name.endswith(("_link", "_history"))
    ]
    assert {"catalog", "secrets"} < set(ours)
    kept = [db.engine.fetch(f'SELECT * FROM "_sqlanon"."{name}"') for name in ours]
    tokens = [
        tuple(row[name] for name in ("pid", "visit") if name in row)
        for table in ("patients", "stays")
        for row in read_table(db, ("release", table))
    ]
    said = str([one.to_dict() for one in reported]) + str(db.releases()) + str(kept) + str(tokens)
    assert CANARY not in said
    for kind_ in ("md5", "sha1", "sha256", "sha512"):  # nor what somebody could try values against
        assert not [v for v in hospital.values if hashlib.new(kind_, v.encode()).hexdigest()[:32] in said]
    records = [record for record in caplog.records if record.name.startswith("sqlanon")]
    assert not [r for r in records if CANARY in r.getMessage() or CANARY in str(r.args) or CANARY in str(r.exc_info)]
    assert not [path for path in tmp_path.rglob("*") if CANARY in path.name]
