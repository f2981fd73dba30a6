"""Sums of releases of counts whose versions follow one another, on every engine."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.versions import statistics
from tests.contract.summed import RULES, Rows, Summed, given
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

MORE = "    refresh: {mode: frozen, cohort: {persons: 8}}\n"


def drawn(seed: object, persons: int, first: int = 0) -> Rows:
    """A row of each person."""
    draw = random.Random(str(seed))
    return [
        (
            draw.choice(["north", "north", "south", "it's", None]),
            draw.choice("FM"),
            first + pid,
            Decimal(min(int(draw.paretovariate(1.2) * 2000), 500_000)).scaleb(-2),
        )
        for pid in range(persons)
    ]


class SummedNights(Summed):
    """A table to which rows come, and the counts and sums that follow it."""

    def __init__(self, db: Any, folder: Path, seed: object, persons: int = 60) -> None:
        self.made = drawn(seed, persons)
        self.versions: list[Rows] = []
        super().__init__(db, folder, self.made, protect="{persons: 3}", more=MORE)

    def come(self, rows: Rows) -> None:
        for region, sex, pid, cost in rows:
            text = "NULL" if region is None else "'" + region.replace("'", "''") + "'"
            self.db.engine.execute(f"INSERT INTO {self.source} VALUES ({text}, '{sex}', {pid}, {cost})")
        self.made = [*self.made, *rows]

    def publish(self) -> list[dict[str, Any]]:
        assert self.run().outcome == "published"
        self.versions.append(self.made)
        view = self.rows()
        for row in view:  # the numbers of a cell are of one version, and are hidden together
            if row["status"] == "shown":
                assert (row["n"], row["cost"]) == self.count(self.versions[row["as_of"] - 1], row)
            else:
                assert row["n"] is row["cost"] is None
        return view

    @staticmethod
    def count(rows: Rows, cell: dict[str, Any]) -> tuple[int, Decimal]:
        own = [
            cost
            for region, sex, _, cost in rows
            if (cell["level_region"] or cell["region"] == region) and (cell["level_sex"] or cell["sex"] == sex)
        ]
        return len(own), sum(own, Decimal(0))

    def ask(self) -> int:
        """Ask for the sum of each cell; how many have bounds that are apart."""
        apart = 0
        for keys in (("region", "sex"), ("region",), ()):
            by = f" GROUP BY {', '.join(keys)}" if keys else ""
            text = f"SELECT {', '.join([*keys, 'sum(cost) AS c', 'avg(cost) AS a'])} FROM {self.source}{by}"
            for row in self.db.query(text, release=self.name).rows:
                cell = {"level_region": "region" not in keys, "level_sex": "sex" not in keys} | row
                n, cost = self.count(self.made, cell)
                for one, own in ((row["c"], float(cost)), (row["a"], float(cost / n))):
                    assert one.low is None or float(one.low) <= own + 1e-9
                    assert one.high is None or own <= float(one.high) + 1e-9
                apart += not row["c"].exact
        return apart


def check_levels(seen: list[list[dict[str, Any]]], nights: SummedNights) -> None:
    """No difference between two versions is of a cell that a rule forbids to show, and no shown cell is."""
    keys = ("region", "sex", "level_region", "level_sex")
    nothing = dict.fromkeys(("n", "as_of"), 0)
    shown = [{tuple(row[key] for key in keys): row for row in view if row["n"] is not None} for view in seen]
    for start, end in itertools.combinations(range(-1, len(seen)), 2):
        for cell, row in shown[end].items():
            old = nothing if start < 0 else shown[start].get(cell)
            if old is None or row["n"] == old["n"]:
                continue
            before = nights.versions[old["as_of"] - 1] if old["n"] else []
            rows = nights.versions[row["as_of"] - 1][len(before) :]
            case, named = given(rows)
            at = [(named[one[:2]][place], one[place]) for place in (0, 1) for one in rows]
            codes = tuple(
                None if row[level] else next(code for code, value in at[place * len(rows) :] if value == row[name])
                for place, (name, level) in enumerate((("region", "level_region"), ("sex", "level_sex")))
            )
            people = case.people(codes)
            assert len(people) >= RULES.persons
            assert not case.need(people)[1]


def test_sums_of_versions_that_follow(shared_db: Any, tmp_path: Path) -> None:
    nights = SummedNights(shared_db, tmp_path, "follow")
    seen = [nights.publish()]
    nights.come(drawn("more", 30, 200))
    seen.append(nights.publish())
    assert {1, 2} == {row["as_of"] for row in seen[1] if row["status"] == "shown"}
    assert shared_db.audit(f"release.{nights.view}").satisfied
    check_levels(seen, nights)


@pytest.mark.thorough
def test_readers_of_two_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = SummedNights(shared_db, tmp_path, "follow")
    nights.publish()
    nights.come(drawn("more", 30, 200))
    nights.publish()
    assert nights.ask()
    found = shared_db.attack(nights.name)
    assert found.held
    assert found.versions == 2
    assert {one.name for one in found.sums} == {"naive", "outsider", "contributor"}
    assert "What they find of sums" in shared_db.report(nights.name, attack=True)


@pytest.mark.thorough
def test_sums_of_three_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = SummedNights(shared_db, tmp_path, "three")
    seen = [nights.publish()]
    for night in (1, 2):
        nights.come(drawn(night, 40, 1000 * night))
        seen.append(nights.publish())
        assert shared_db.audit(f"release.{nights.view}").satisfied
    assert nights.run().outcome == "unchanged"
    check_levels(seen, nights)
    nights.ask()
    assert shared_db.attack(nights.name).held
    shared_db.rollback(nights.name, 2)
    assert nights.rows() == seen[1]


@pytest.mark.thorough
def test_an_amount_that_changes_stops_the_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = SummedNights(shared_db, tmp_path, "changed")
    before = nights.publish()
    nights.come(drawn("more", 20, 200))
    shared_db.engine.execute(f"UPDATE {nights.source} SET cost = cost + 1 WHERE pid = 3")
    with pytest.raises(GuardError, match="or in another cell, or have another amount"):
        nights.run()
    assert nights.rows() == before


TAMPERED = {
    "a sum of another version": ("follow from", "UPDATE {physical} SET cost = cost + 1 WHERE status = 'shown'"),
    "a sum that is shown alone": ("follow from", "UPDATE {physical} SET cost = 5 WHERE n IS NULL"),
    "old sums without witnesses": ("without witnesses", "UPDATE {witness} SET s1 = 0 WHERE batch = 1"),
    "old sums that are not the source's": ("amounts|sums", "UPDATE {atoms} SET s1 = s1 + 1 WHERE batch = 1"),
    "old amounts that are not": ("of all versions", "UPDATE {amounts} SET s1 = s1 + 1 WHERE batch = 1"),
    "smaller demands": ("needs of sums", "UPDATE {needs1} SET up = 1 WHERE batch = 2"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_of_all_versions_refuses(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = SummedNights(shared_db, tmp_path, "tampered", 40)
    before = nights.publish()
    nights.come(drawn("more", 30, 200))
    expected, text = TAMPERED[what]
    tamper(monkeypatch, statistics, "batch_of", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        nights.run()
    assert nights.rows() == before
