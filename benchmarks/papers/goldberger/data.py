"""Adult as the paper has it: train and test rows without `?`, 14 quasi columns, each shown or suppressed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.processor import processor
from examples.sources import data_folder, duckdb_url, load_csv

if TYPE_CHECKING:
    from sqlanon.database import Database

ADULT = "adult/adult_all_48842.csv.gz"
QUASI = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
)
SENSITIVE = "income"
ROWS = 45_222
"""Rows without `?`, as the paper has."""


@dataclass(slots=True)
class Adult:
    """The database, the hierarchies of one level by column, and figures of releases.

    Attributes:
        rows: of the table ``adult``: all, or the first in an order by a hash, in which parts of it are drawn too.
    """

    db: Database
    hierarchies: dict[str, Path]
    rows: int

    def part(self, rows: int) -> str:
        """A table of so many of the rows; the smaller ones are inside the larger ones."""
        name = f"adult_{rows}"
        self.db.engine.execute(f"CREATE TABLE IF NOT EXISTS {name} AS FROM adult ORDER BY place LIMIT {rows}")
        return name

    def release(
        self, source: str, method: str, k: int, quasi: tuple[str, ...] = QUASI, sensitive: str = SENSITIVE, **more: Any
    ) -> dict[str, Any]:
        """Release a table by suppression, and measure it; the processor seconds are the method's."""
        with processor() as used:
            report = self.db.anonymize(
                source,
                quasi=quasi,
                sensitive=sensitive,
                rest="drop",
                k=k,
                method=method,
                name="goldberger",
                hierarchies={name: self.hierarchies[name] for name in quasi},
                format="labels",
                publish="release.goldberger",
                allow_weaker=True,
                metrics=["sensitive_entropy", "cm"],
                **more,
            ).report
        own = report.loss.sensitive[sensitive]
        return {
            "method": report.method,
            "k": k,
            "rows": report.rows,
            "columns": len(quasi),
            "lm": report.loss.lm,
            "classes": report.classes,
            "min_class": report.min_class,
            "c_avg": report.loss.c_avg,
            "cm": own["cm"],
            "entropy": own["sensitive_entropy"],
            "l": report.pm.get(sensitive),
            "processor_seconds": used[-1],
            "verified": report.verified,
        }


@contextmanager
def adult(rows: int | None) -> Iterator[Adult]:
    """A database with the table; fewer rows where ``rows`` says so."""
    import sqlanon

    with duckdb_url() as url, TemporaryDirectory(prefix="sqlanon-adult-") as folder:
        load_csv(url, "loaded", data_folder() / ADULT)
        with sqlanon.connect(url, threads=1) as db:
            known = " AND ".join(f"CAST({name} AS TEXT) <> '?'" for name in QUASI)
            names = ", ".join((*QUASI, SENSITIVE))
            shown = f"hash({names}, row_number() OVER (ORDER BY {names}))"
            db.engine.execute(
                f"CREATE TABLE adult AS SELECT {names}, {shown} AS place FROM loaded WHERE {known} ORDER BY place "
                f"LIMIT {rows or ROWS}"
            )
            files = {}
            for name in QUASI:
                files[name] = Path(folder) / f"{name}.csv"
                values = db.engine.fetch(f"SELECT DISTINCT {name} FROM adult ORDER BY {name}")
                with files[name].open("w", newline="") as file:
                    csv.writer(file, delimiter=";").writerows((value, "*") for (value,) in values)
            count = int(str(db.engine.fetch("SELECT count(*) FROM adult")[0][0]))
            yield Adult(db, files, count)
