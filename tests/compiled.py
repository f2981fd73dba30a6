"""Compile every kernel once (``python -m tests.compiled``), before several test processes would each do it at once."""

from __future__ import annotations

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.methods import METHODS

ASKED: tuple[dict[str, object], ...] = (
    {"k": 2, "refine": True},
    {"k": 2, "l": 2, "refine": True},
    {"k": 2, "l": "3/2"},
    {"k": 2, "distinct_l": 2},
    {"max_loss": {"per_class_ncp": 0.5}, "maximize": "l", "at_least": {"l": 1}},
)
TABLE = """
CREATE TABLE t AS
SELECT i AS id, i % 7 AS a, CAST(i % 3 AS VARCHAR) AS b, CAST(i % 4 AS VARCHAR) AS s FROM range(40) AS r(i)
"""


def main() -> None:
    """Release one small table by every method, for every kind of requirement that it takes."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute(TABLE)
        for method in METHODS:
            for asked in ASKED:
                try:
                    db.anonymize(
                        "t",
                        quasi=["a", "b"],
                        sensitive="s",
                        method=method,
                        publish="public_t",
                        rest="drop",
                        allow_weaker=True,
                        **asked,
                    )
                except PolicyError:
                    continue  # this method does not take that
        single = {"name": "fulldomain", "search": "single", "metric": "dm"}  # ordered columns alone
        db.anonymize("t", quasi="a", method=single, publish="public_t", rest="drop", allow_weaker=True, k=2)
        for _ in range(2):  # what two versions tell together
            db.anonymize(
                "t",
                quasi=["a", "b"],
                identifiers="id",
                key="id",
                rest="drop",
                k=2,
                publish="public_t",
                allow_weaker=True,
            )


if __name__ == "__main__":
    main()
