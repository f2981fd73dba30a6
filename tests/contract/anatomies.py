"""Releases of format anatomy as a reader has them: exact rows, and the sensitive values of each group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.cases import Case, plain
from tests.engines import read_table


@dataclass(frozen=True)
class Pair:
    """Both tables as they are stored, and the run's report."""

    rows: list[dict[str, Any]]
    counted: list[dict[str, Any]]
    report: Any

    def groups(self, sensitive: str) -> dict[int, tuple[Counter[Any], Counter[Any]]]:
        """Per group its rows without the group, and its sensitive values."""
        members: dict[int, Counter[Any]] = defaultdict(Counter)
        values: dict[int, Counter[Any]] = defaultdict(Counter)
        for row in self.rows:
            members[row["group_id"]][bare(row)] += 1
        for row in self.counted:
            assert row["count"] > 0
            assert plain(row[sensitive]) not in values[row["group_id"]]
            values[row["group_id"]][plain(row[sensitive])] = row["count"]
        assert set(members) == set(values)
        return {group: (members[group], values[group]) for group in members}


def bare(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a row shows besides its group."""
    return tuple((name, plain(value)) for name, value in sorted(row.items()) if name != "group_id")


def read_pair(db: Any, view: str, report: Any = None) -> Pair:
    """Both views of a release."""
    return Pair(read_table(db, ("release", view)), read_table(db, ("release", f"{view}_sensitive")), report)


def release_pair(db: Any, case: Case, directory: Path, *, source: str | None = None, **options: Any) -> Pair:
    """Release a case in this format; the source's rows in its own order decide nothing."""
    source = case.create(db) if source is None else source
    arguments = {**case.arguments(directory), "k": 1, "format": "anatomy", **options}
    return read_pair(db, source, db.anonymize(source, allow_weaker=True, **arguments).report)


def expected_groups(case: Case, classes: Sequence[Sequence[int]]) -> Counter[Any]:
    """What the classes publish, group numbers left out."""
    (sensitive,) = case.sensitive
    columns = {name: case.values(name) for name in case.quasi}
    values = case.values(sensitive)
    return Counter(
        frozen(
            Counter(bare({name: column[row] for name, column in columns.items()}) for row in members),
            Counter(plain(values[row]) for row in members),
        )
        for members in classes
    )


def frozen(members: Counter[Any], values: Counter[Any]) -> Any:
    """A group as something that can be counted."""
    return frozenset(members.items()), frozenset(values.items())
