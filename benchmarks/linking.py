"""The cost of linking.

Two tables of a hospital are released without tokens, with tokens of their own, and together, joined by pseudonym.

The tables of `examples.hospital`, and its policy: GCP of the rows that are published, and the share of rows that are
left out, so that persons are alike.
"""

from __future__ import annotations

from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options
from examples.hospital.run import fill

TABLES: dict[str, dict[str, Any]] = {
    "patients": {"quasi": ["birth_year", "sex", "district"]},
    "stays": {"quasi": ["month", "ward"], "sensitive": "diagnosis", "l": 2},
}
LINKED = {"suppression": {"limit": 1, "rows": "left_out"}}
WAYS: dict[str, tuple[dict[str, int], dict[str, Any]]] = {
    "without tokens": ({"patients": 10, "stays": 10}, {"identifiers": "patient_id"}),
    "tokens of each table": ({"patients": 10, "stays": 10}, {"pseudonyms": "patient_id", **LINKED}),
    "joined": ({"patients": 10, "stays": 10}, {"pseudonyms": "patient_id", "scopes": {"patient_id": "a"}, **LINKED}),
    "joined, k of 100 in patients": (
        {"patients": 100, "stays": 10},
        {"pseudonyms": "patient_id", "scopes": {"patient_id": "b"}, **LINKED},
    ),
}


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "linking.json")
    parser.add_argument("--persons", type=int, default=5_000)
    asked = parser.parse_args(words)
    record = Record("linking")
    runs: list[dict[str, Any]] = []
    for way, (least, tokens) in WAYS.items():
        with sqlanon.connect("duckdb:///:memory:") as db:
            fill(db, asked.persons)
            for table, roles in TABLES.items():
                report = db.anonymize(
                    table, **roles, **tokens, person="patient_id", rest="drop", k=least[table], seed=1
                ).report
                runs.append(
                    {
                        "way": way,
                        "table": table,
                        "k": least[table],
                        "rows": report.rows,
                        "gcp": report.loss.gcp,
                        "classes": report.classes,
                        "left_out": report.left_out / report.rows,
                    }
                )
                print(f"{way}, {table}: GCP {report.loss.gcp:.3f}, {report.left_out / report.rows:.1%} left out")
    record.write(asked.out, persons=asked.persons, runs=runs)


if __name__ == "__main__":
    main()
