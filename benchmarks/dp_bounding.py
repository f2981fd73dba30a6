"""What noisy statistics say of a table of events before each person's rows are bounded, where some have very many.

20,000 persons; their numbers of rows are lognormal, from 1 to several hundreds; 40 groups, of which few are frequent.
Of all finest groups: how often the truth before bounding is in the published interval, how often it is at least the
interval's lower end, and how far the upper ends are that would follow without another cost, in multiples of the truth:
of rows, where somebody declares the most rows of a person, from the paid share of a person's rows that is kept; of
persons, from the number of all persons, and from the number of those who can have more groups than are counted.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import sqlanon
from examples.sources import duckdb_url
from sqlanon import policy
from sqlanon.engines.base import TableRef

PERSONS = 20_000
GROUPS = 40
CONTRIBUTIONS = ((2, 2), (4, 5), (8, 20))
EPSILON = 1
POLICY = """\
version: 1
budgets:
  - {{name: people, persons: {{events: person}}, epsilon: 100, delta: 1e-6}}
releases:
  - name: noisy
    source: events
    publish: release.noisy
    every: 1d
    statistics:
      budget: people
      epsilon: {epsilon}
      tables: [{{by: [kind]}}]
      groups: {{kind: {{bins: {ends}}}}}
      measures: {{n: rows, people: persons, cost: {{sum: cost, range: [0, 1000]}}}}
      contributions: {{groups: {groups}, rows: {rows}}}
"""


def measure_bounding(threads: int | None) -> list[dict[str, Any]]:
    """Shares and distances, for each choice of contributions."""
    draw = np.random.default_rng(1)
    many = np.ceil(draw.lognormal(1.0, 1.3, PERSONS)).astype(np.int64)
    person = np.repeat(np.arange(PERSONS), many)
    frequent = 1 / np.arange(1, GROUPS + 1)
    kind = draw.choice(GROUPS, len(person), p=frequent / frequent.sum())
    cost = draw.integers(0, 1001, len(person))
    truth = {
        "n": np.bincount(kind, minlength=GROUPS),
        "people": np.bincount(np.unique(person * GROUPS + kind) % GROUPS, minlength=GROUPS),
        "cost": np.bincount(kind, cost, minlength=GROUPS),
    }
    found = []
    with duckdb_url() as url, sqlanon.connect(url, threads=threads) as db:
        db.engine.load_arrays(TableRef("main", "events"), {"person": person, "kind": kind, "cost": cost})
        for groups, rows in CONTRIBUTIONS:
            text = POLICY.format(epsilon=EPSILON, ends=list(range(GROUPS + 1)), groups=groups, rows=rows)
            (spec,) = policy.loads(text, {}).releases
            kept = db.run(spec, spend=True, allow_weaker=True).noisy.kept
            found.append(
                {"groups": groups, "rows": rows, "kept": kept, **_compare(db, truth, groups, kept, int(many.max()))}
            )
    for one in found:
        print(json.dumps(one), flush=True)
    return found


def _compare(db: sqlanon.Database, truth: dict[str, Any], groups: int, kept: float, most: int) -> dict[str, Any]:
    """Shares of groups whose truth is in the interval, or above its lower end; and distances of upper ends."""
    shown = ", ".join(f"{name}{end}" for name in truth for end in ("", "_low", "_high"))
    order = "CAST(substr(kind, 2, strpos(kind, ',') - 2) AS INTEGER)"
    finest = np.array(db.engine.fetch(f"SELECT {shown} FROM release.noisy WHERE level = 1 ORDER BY {order}"))
    (total,) = db.engine.fetch("SELECT people, people_high FROM release.noisy WHERE level = 0")
    made: dict[str, Any] = {}
    for place, (name, true) in enumerate(truth.items()):
        value, low, high = finest[:, 3 * place : 3 * place + 3].T
        made[name] = {
            "inside": float(np.mean((low <= true) & (true <= high))),
            "at_least_low": float(np.mean(low <= true)),
            "of_the_truth": float(value.sum() / true.sum()),
        }
    people, persons = finest[:, 3], float(total[0])
    several = max(0.0, float(people.sum()) - persons) / (groups - 1)
    made["rows_by_kept"] = float(np.median((finest[:, 0] + most * persons * (1 - kept)) / truth["n"]))
    made["people_by_total"] = float(np.median(float(total[1]) / truth["people"]))
    made["people_by_several"] = float(np.median((people + several) / truth["people"]))
    return made | {"most_rows": most}
