"""Releases that need an approval, for tests."""

from __future__ import annotations

import datetime
from dataclasses import replace

from tests.refresh.conftest import fill, release

NEVER = "9999-12-31"


ALICE = {"by": "Alice", "until": NEVER}


def fast_spec(table, **changes):
    return release(table, method="tree", **changes)


def spec_with_approval(table, **changes):
    made = fast_spec(table, **changes)
    return replace(made, refresh=replace(made.refresh, needs_approval=True))


def approve_spec(db, table, **changes):
    fill(db, table, 40)
    spec = spec_with_approval(table, **changes)
    db.approve(table, planned=spec, **ALICE)
    return spec


def list_versions(db, table):
    return [(row.version, row.status) for row in db.releases(table)]


def date_in_days(days):
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)).date().isoformat()
