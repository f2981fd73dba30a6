"""Boxes of their own: what a new version keeps, and that the secret is not seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlanon.engines.base import Statement
from sqlanon.release.stages import work
from tests.contract.own_boxes import OWN, SMALL, placed, run, version_of
from tests.engines import read_table


@pytest.mark.parametrize("equal", [False, True], ids=["rows that differ", "pairs of equal rows"])
def test_private_values_change_neither_graph_nor_draw(shared_db: Any, equal: bool, tmp_path: Path) -> None:
    """A fresh draw over the same boxes would let a reader of two versions match rows by private values.

    So would rows of equal values that change their places: identifiers keep them. The private values are dealt anew, in
    the opposite order.
    """
    db = shared_db
    rows = tuple(
        (i, i // 2 * 17 % 31, *SMALL.rows[i // 2][2:4], f"s{i}") if equal else (i, i * 17 % 31, *row[2:])
        for i, row in enumerate(SMALL.rows)
    )
    case = replace(SMALL, rows=rows)
    source, shown = case.create(db), []
    named = {"identifiers": ["id"], **({"method": "freeform:passes=0", "k": 7} if equal else {})}
    row_of = {f"s{i}": i for i in range(30)} | {f"t{29 - i}": i for i in range(30)}
    for _ in range(2):
        release = db.anonymize(
            source, allow_weaker=True, **{**case.arguments(tmp_path), **OWN, **named, "name": f"once_{equal}"}
        )
        published = read_table(db, ("release", source))
        shown.append({row_of[row["s"]]: [row[name] for name in row if name != "s"] for row in published})
        assert release.report.version == len(shown)
        anew = f"UPDATE {placed(db.engine.target(source))} SET s = 't' || (29 - id)"
        db.engine.execute(Statement("test", anew, {}))
    assert not equal or any(shown[0][one] != shown[0][one ^ 1] for one in shown[0])
    assert shown[0] == shown[1]


def test_the_secret_is_in_no_text_of_a_statement(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays are fetched by COPY on PostgreSQL, whose text has its values.

    pg_stat_activity and the server's log would show them.
    """
    monkeypatch.setattr(work, "secrets", SimpleNamespace(token_hex=lambda size: "5" * 2 * size))
    engine, fetched = type(shared_db.engine), []
    fetch_arrays = engine.fetch_arrays

    def seen(self: Any, statement: Statement, dtypes: Any) -> Any:
        fetched.append(statement)
        return fetch_arrays(self, statement, dtypes)

    monkeypatch.setattr(engine, "fetch_arrays", seen)
    run(shared_db, SMALL, tmp_path, name="in_no_text")
    assert fetched
    assert not [one.name for one in fetched if "5" * 64 in f"{one.text} {dict(one.binds)}"]


def test_a_seed_determines_nothing(shared_db: Any, tmp_path: Path) -> None:
    """It is in the policy, which more people may read than the secret.

    Another seed leaves all as it was, and another secret with the same seed does not.
    """
    source, other = SMALL.create(shared_db), SMALL.create(shared_db)
    shown = [
        run(shared_db, SMALL, tmp_path, source=table, seed=seed)
        for table, seed in ((source, 1), (source, 2), (other, 2))
    ]
    rows = [Counter(tuple(map(repr, row.values())) for row in published) for published, _ in shown]
    assert [report.version for _, report in shown] == [1, 2, 1]
    assert [note for note in shown[1][1].notes if "is published in the same box" in note]
    assert rows[0] == rows[1] != rows[2]


def test_certificates_go_with_their_version(shared_db: Any, tmp_path: Path) -> None:
    source = SMALL.create(shared_db)
    reports = [run(shared_db, SMALL, tmp_path, source=source, keep=1)[1] for _ in range(2)]
    there = [all(shared_db.engine.exists(t) for t in version_of(shared_db, one).certificate) for one in reports]
    assert there == [False, True]
    assert not reports[0].notes
    assert [note for note in reports[1].notes if "every row has the same candidates" in note]
