"""Two tables of a hospital, published together in one transaction and joined by pseudonym, on a throwaway DuckDB file.

python -m examples.hospital.run [--persons N]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import sqlanon
from examples.sources import duckdb_url

PATIENTS = """
CREATE TABLE patients AS
SELECT CAST(p AS INTEGER) AS patient_id, CAST(1930 + hash(p * 7 + 1) % 80 AS INTEGER) AS birth_year
    , CASE hash(p * 7 + 2) % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex, CAST(hash(p * 7 + 3) % 12 AS INTEGER) AS district
FROM range({persons}) AS r(p)
"""
STAYS = """
CREATE TABLE stays AS
SELECT CAST(p * 10 + e AS INTEGER) AS stay_id, CAST(p AS INTEGER) AS patient_id
    , CAST(1 + hash(p * 100 + e) % 12 AS INTEGER) AS month, CAST(hash(p * 1000 + e * 3) % 8 AS INTEGER) AS ward
    , 'd' || CAST(hash(p * 1001 + e * 5) % 30 AS VARCHAR) AS diagnosis
FROM (
    SELECT p, UNNEST(range(1 + CAST(least(hash(p) % 4, hash(p + 1) % 4) AS INTEGER))) AS e
    FROM range({persons}) AS r(p)
) AS each
"""
JOIN = """
SELECT p.birth_year_lo // 20 * 20 AS born_from, count(DISTINCT p.patient_id) AS patients, count(*) AS stays
FROM release.patients AS p JOIN release.stays AS s USING (patient_id)
GROUP BY born_from ORDER BY born_from
"""
"""What an analyst asks: no view has a patient's number, and both have its token."""


def fill(db: sqlanon.Database, persons: int) -> None:
    """Make both tables; of the patients 1 to 4 stays."""
    for text in (PATIENTS, STAYS):
        db.engine.execute(text.format(persons=persons))


def main(words: list[str] | None = None) -> int:
    """Fill both tables, give the commands, and join what is published."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=5_000)
    asked = parser.parse_args(words)
    with duckdb_url() as url:
        with sqlanon.connect(url) as db:
            fill(db, asked.persons)
        environ = {**os.environ, "SQLANON_EXAMPLE_DB": url}
        for command in (["run"], ["audit", "release.patients"], ["audit", "release.stays"], ["releases"]):
            print(f"\n$ sqlanon {' '.join(command)}", flush=True)
            made = [sys.executable, "-m", "sqlanon", *command]
            code = subprocess.run(made, cwd=Path(__file__).parent, env=environ, check=False).returncode
            if code:
                return code
        with sqlanon.connect(url) as db:
            print(JOIN)
            for row in db.engine.fetch(JOIN):
                print(*row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
