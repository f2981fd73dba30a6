"""Changes that somebody makes: of a lineage, by hand, and of the clock."""

from __future__ import annotations

import datetime

import pytest


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Set the clock of runs."""
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    for module in ("prepare.prepare", "frozen.choose_lineage"):
        monkeypatch.setattr(f"sqlanon.release.{module}.now", at.isoformat)


TAMPERED = {
    "a row was moved to another class": "UPDATE {rows} SET _sqlanon_class = (SELECT MAX(_sqlanon_class) FROM {rows}) "
    "WHERE _sqlanon_key = '{key}'",
    "one row of a class left": "UPDATE {rows} SET _sqlanon_gone = 2 WHERE _sqlanon_key = '{key}'",
    "a box was widened": "UPDATE {classes} SET age_hi = age_hi + 1 WHERE _sqlanon_class = (SELECT _sqlanon_class FROM "
    "{rows} WHERE _sqlanon_key = '{key}')",
    "a cell was changed": "UPDATE {rows} SET cost = cost + 1 WHERE _sqlanon_key = '{key}'",
    "a key is published twice": "INSERT INTO {rows} SELECT * FROM {rows} WHERE _sqlanon_key = '{key}'",
    "a changed row is published in a class of its own version": (
        "INSERT INTO {rows} (_sqlanon_key, _sqlanon_class, _sqlanon_since, ill, cost) SELECT '{key}', "
        "MAX(_sqlanon_class), 1, 'flu', 1 FROM {rows}"
    ),
    "a cohort was mixed": "UPDATE {rows} SET _sqlanon_since = 0 WHERE _sqlanon_key = '{key}'",
}


SAYS = {
    "a row was moved to another class": "does not say what version 1 published",
    "one row of a class left": "classes have lost a part of their rows",
    "a box was widened": "does not say what version 1 published",
    "a cell was changed": "does not say what version 1 published",
    "a key is published twice": "of 21 rows of the source 21 are published and 1 are not",
    "a changed row is published in a class of its own version": "of 21 rows of the source 21 are published and 1 are "
    "not",
    "a cohort was mixed": "have no class of their own version",
}
"""What finds it."""
