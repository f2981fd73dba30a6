"""What the certificate of counts on Spark refuses, and what a run refuses: one error, and nothing is published."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.release.audit.of_counts import shape_of_entry
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics.certificate import verify_published
from sqlanon.statistics.private_tables import kept_of
from sqlanon.statistics.protections import suppress
from sqlanon.table.scratch import Scratch
from tests.spark.tables import CANARY
from tests.spark.test_counts import SUMS, TWO, both, policy, visits
from tests.spark.test_walk import leftovers, shows_no_value

pytest.importorskip("highspy")
pytestmark = pytest.mark.spark

TAMPERED: dict[str, tuple[str, str, str]] = {
    "a witness that changes a shown cell": (
        "witness",
        "SELECT w.witness, w.atom, IF(w.change > 0, w.change + 1, w.change) AS change FROM {} AS w",
        "shown cells that a witness changes|without witnesses",
    ),
    "no witness": ("witness", "SELECT * FROM {} WHERE FALSE", "without witnesses"),
    "a shown value": ("physical", "SELECT * EXCEPT (n), IF(status = 'shown', n + 1, n) AS n FROM {}", "rows"),
    "a hidden value that is shown": (
        "physical",
        "SELECT * EXCEPT (n, status), COALESCE(n, n_low) AS n, 'shown' AS status FROM {}",
        "rows|small cells shown",
    ),
    "an omitted margin": ("physical", "SELECT * FROM {} WHERE level_region = 0", "cells that are not published"),
}
"""Of each the table that is changed, the query over it, and what the certificate says."""


def changed(db: Any, table: TableRef, query: str) -> TableRef:
    """A view of a table as somebody has changed it."""
    view = replace(table, name="as_changed")
    place, original = (f"`{one.schema}`.`{one.name}`" for one in (view, table))
    db.engine.execute(f"CREATE OR REPLACE VIEW {place} AS {query.format(original)}")
    return view


def test_changed_tables_and_bad_input_are_refused(session: Any, events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, alone = "refused", ("far", "F", 20, 60, Decimal(7))
    spec, verify_source, tried = policy(name, **TWO), suppress.verify_source, []

    def verify_twice(scratch: Any, shape: Any, stage: Any, kept: Any, release: str) -> None:
        query = "SELECT * EXCEPT (persons), persons + 1 AS persons FROM {}"
        cells = changed(db, kept.cells, query)
        with scratch.beside() as apart, pytest.raises(PrivacyViolation, match="the certificate fails: cells") as said:
            verify_source(apart, shape, stage, replace(kept, cells=cells), release)
        tried.append(str(said.value))
        verify_source(scratch, shape, stage, kept, release)

    monkeypatch.setattr(suppress, "verify_source", verify_twice)
    with both(session, name, [*visits(name, 60), alone]) as (db, _):
        for error, text, asked in (
            (PolicyError, "out of the declared range", {"measures": SUMS.replace("300", "200")}),
            (InfeasibleError, "fewer persons than 92", {"protect": "{persons: 92}"}),
        ):
            with pytest.raises(error, match=text) as refused:
                db.run(policy(name, **(TWO | asked)))
            assert CANARY not in str(refused.value)
        assert not db.engine.exists(db.engine.target(f"release.{name}"))
        db.run(spec)
        assert len(tried) == 1
        (entry,) = Catalog(db.engine).entries(name, statuses=("published",))
        kept, shape = kept_of(entry.counts), shape_of_entry(entry)
        with Scratch(db.engine) as scratch:
            shown, hidden = verify_published(scratch, shape, entry.table, kept, name)
        assert min(shown, hidden) > 0
        for part, query, expected in TAMPERED.values():
            view = changed(db, entry.table if part == "physical" else getattr(kept, part), query)
            tables = (view, kept) if part == "physical" else (entry.table, replace(kept, **{part: view}))
            with (
                Scratch(db.engine) as scratch,
                pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})") as said,
            ):
                verify_published(scratch, shape, *tables, name)
            assert CANARY not in str(said.value)
        db.engine.execute("DROP VIEW `_sqlanon`.`as_changed`")
        assert not leftovers(db)
    shows_no_value(events)
