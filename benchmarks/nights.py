"""A table that changes from night to night, its releases, and how much is lost in what they publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.generators import INTEGERS, Columns
from sqlanon import policy
from sqlanon.engines.base import TableRef
from sqlanon.spec import CohortSpec, RefreshSpec, ReleaseSpec

K = 10
TABLE = "nightly"


@dataclass(frozen=True, slots=True)
class Setting:
    """What changes in a night, in shares of the rows of the first night.

    A new row is drawn as the table's rows are; a deleted row is any one; a changed row is any one, and gets all values
    of another drawn row.
    """

    title: str
    new: float
    deleted: float = 0.0
    changed: float = 0.0


SETTINGS = (
    Setting("1 % new", 0.01),
    Setting("1 % new, 0.5 % deleted", 0.01, 0.005),
    Setting("1 % new, 0.5 % deleted, 0.5 % changed", 0.01, 0.005, 0.005),
)


class Source:
    """The table of integers with a number for every row, as it is tonight.

    Args:
        rows: of the first night.
        seed: of the rows and of the changes.
    """

    def __init__(self, rows: int, seed: int = 1) -> None:
        parts = list(INTEGERS.chunks(rows, seed))
        names = [name for name, _ in INTEGERS.columns]
        self.columns: Columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
        self.columns["id"] = np.arange(rows, dtype=np.int64)
        self._first, self._next = rows, rows
        self._draw = np.random.default_rng([seed, 1_000_003])

    @property
    def rows(self) -> int:
        """How many rows there are now."""
        return len(self.columns["id"])

    def night(self, setting: Setting) -> None:
        """Change the rows."""
        draw = self._draw
        new, deleted, changed = (
            round(share * self._first) for share in (setting.new, setting.deleted, setting.changed)
        )
        touched = draw.permutation(self.rows)[: deleted + changed]
        other = INTEGERS.draw(draw, 0, changed)
        for name, values in other.items():
            self.columns[name][touched[deleted:]] = values
        added = INTEGERS.draw(draw, 0, new) | {"id": np.arange(self._next, self._next + new)}
        self._next += new
        kept = np.ones(self.rows, dtype=bool)
        kept[touched[:deleted]] = False
        self.columns = {name: np.concatenate([values[kept], added[name]]) for name, values in self.columns.items()}

    def write(self, db: sqlanon.Database, table: str = TABLE) -> None:
        """Make the table of a database what it is tonight."""
        db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        db.engine.load_arrays(TableRef("main", table), self.columns)


def spec_of(
    name: str,
    *,
    key: bool = True,
    l: int | None = None,  # noqa: E741
    cohort: int | None = None,
    table: str = TABLE,
) -> ReleaseSpec:
    """A release of the table by `tree`: with a cohort its versions are a lineage, else each is computed anew."""
    keyed: dict[str, Any] = {"identifiers": ["id"], "key": ["id"]} if key else {"identifiers": ["id"]}
    made = policy.release(
        source=table,
        name=name,
        publish=f"release.{name}",
        quasi=list(INTEGERS.quasi),
        sensitive=INTEGERS.sensitive,
        k=K,
        l=l,
        method="tree",
        seed=1,
        **keyed,
    )
    if cohort is None:
        return made
    return replace(made, refresh=RefreshSpec("frozen", cohort=CohortSpec(cohort)))


def published(db: sqlanon.Database, name: str) -> NDArray[np.int64]:
    """What readers see of the quasi columns: both ends of each, and in the last column the rows that have these."""
    ends = ", ".join(f"{column}_lo, {column}_hi" for column in INTEGERS.quasi)
    return np.array(db.engine.fetch(f"SELECT {ends}, COUNT(*) FROM release.{name} GROUP BY ALL"), dtype=np.int64)


def gcp(seen: NDArray[np.int64], source: Source) -> float:
    """Mean width of published intervals as a share of the column's range tonight, over rows and columns."""
    widths = np.array([np.ptp(source.columns[name].astype(np.int64)) for name in INTEGERS.quasi], dtype=float)
    shares = (seen[:, 1:-1:2] - seen[:, 0:-1:2]) / widths
    return float(np.average(shares.mean(axis=1), weights=seen[:, -1]))
