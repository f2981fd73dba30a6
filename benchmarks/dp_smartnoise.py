"""Noisy counts by smartnoise-sql, which pins packages of its own: run by `benchmarks.dp` in an environment that has it.

    PYTHON benchmarks/dp_smartnoise.py FILE.csv EPSILON DELTA < tables.json > counts.json

Reads a table of one row a person with the column ``person``, and lists of columns from the standard input. Writes of
each list the groups that are shown, with their noisy counts, and what the library says that they cost.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module


def main(file: str, epsilon: str, delta: str) -> None:
    """Answer one count by each list of columns."""
    smartnoise, frames = import_module("snsql"), import_module("pandas")
    frame = frames.read_csv(file, dtype=str, keep_default_na=False)
    frame["person"] = frame["person"].astype(int)
    columns = {name: {"type": "string"} for name in frame.columns if name != "person"}
    table = {"max_ids": 1, "rows": len(frame), "person": {"type": "int", "private_id": True}, **columns}
    made = []
    for by in json.load(sys.stdin):
        privacy = smartnoise.Privacy(epsilon=float(epsilon), delta=float(delta))
        reader = smartnoise.from_df(frame, privacy=privacy, metadata={"": {"public": {"people": table}}})
        keys = ", ".join(by)
        sql = f"SELECT {keys}, COUNT(*) AS n FROM public.people GROUP BY {keys}"
        cost = reader.get_privacy_cost(sql)
        rows = reader.execute(sql)[1:]
        made.append(
            {"by": by, "cost": list(cost), "rows": [[str(one) for one in row[:-1]] + [row[-1]] for row in rows]}
        )
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:4])
