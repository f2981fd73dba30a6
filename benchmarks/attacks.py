"""`sqlanon attack --control` against anonymeter, on the same tables, and its seconds at many rows.

anonymeter attacks tables of values, so that every table here is one: rows of a source, those held out, and released
values drawn from the cells of a release of k rows a class. Both read the same numbers. anonymeter runs in an
environment of its own (it needs an old numpy):

    python3 -m venv /tmp/anonymeter && /tmp/anonymeter/bin/pip install anonymeter
    python -m benchmarks.attacks --anonymeter /tmp/anonymeter/bin/python

Risks agree where the intervals of both have a value in common. It breaks ties by the order of the rows, ours are broken
by chance, so that columns of many values are compared. Both groups have the same size: anonymeter 1.1 corrects the
control group of another size by the number of predicates, not by that of those that succeed. Its rate of predicates is
of those that were asked for, and where it finds fewer it warns that the risk is too low: it is then asked again for as
many as it found.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import RESULTS, Record, options

ADULT = ("age", "fnlwgt", "education_num", "hours_per_week", "income")
"""Columns of Adult that are compared: four numbers and a secret."""
NAMES = ("main", "control", "risk", "low", "high", "attempts")
THEIRS = """
import json, sys
import numpy as np, pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
folder, attacks, predicates = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
np.random.seed(1)
tables = np.load(folder + "/tables.npz")
names = [f"c{a}" for a in range(tables["inside"].shape[1])]
ori, syn, control = (pd.DataFrame(tables[one], columns=names) for one in ("inside", "released", "outside"))
for one in (ori, syn, control):
    one[names[-1]] = one[names[-1]].map(lambda v: f"s{v}")
n = min(attacks, len(ori), len(control))
found = {}
def keep(name, made):
    made = made.evaluate(n_jobs=1) if not isinstance(made, SinglingOutEvaluator) else made.evaluate(mode=name)
    rates, risk = made.results(), made.risk()
    found[name] = [rates.attack_rate.value, rates.control_rate.value, risk.value, *risk.ci]
def single_out(number):
    return SinglingOutEvaluator(ori=ori, syn=syn, control=control, n_attacks=max(number, 1), n_cols=3, seed=1,
        max_attempts=40000)
for name, number in predicates.items():
    keep(name, made := single_out(number))
    if 0 < len(made.queries()) < number:
        keep(name, single_out(len(made.queries())))
sets = (names[:2], names[2:4])
keep("linkability", LinkabilityEvaluator(ori=ori, syn=syn, control=control, n_attacks=n, aux_cols=sets, n_neighbors=1))
keep("inference", InferenceEvaluator(
    ori=ori, syn=syn, control=control, aux_cols=names[:4], secret=names[-1], regression=False, n_attacks=n))
print(json.dumps(found))
"""


def draw_source(rows: int, seed: int) -> Any:
    """Four numbers that depend on each other, and a secret that depends on the first."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=rows)
    columns = [0.6 * base + 0.8 * rng.normal(size=rows) for _ in range(4)]
    codes = [np.clip((column + 4) / 8 * 400, 0, 399).astype(np.int64) for column in columns]
    secret = np.clip((columns[0] + rng.normal(size=rows) + 3), 0, 5).astype(np.int64)
    return np.array([*codes, secret]).T


def read_adult(rows: int, seed: int) -> Any:
    """Rows of Adult, drawn at random, in codes: ranks of the values."""
    import duckdb

    from examples.sources import ADULT as FILE
    from examples.sources import data_folder

    columns = [f"CAST(DENSE_RANK() OVER (ORDER BY {name}) - 1 AS BIGINT) AS {name}" for name in ADULT]
    found = duckdb.sql(f"SELECT {', '.join(columns)} FROM '{data_folder() / FILE}'").fetchnumpy()
    table = np.array([found[name] for name in ADULT]).T
    order = np.lexsort(table.T[::-1])
    return table[np.random.default_rng(seed).choice(order, min(rows, len(table)), replace=False)]


SOURCES = {"generated": draw_source, "adult": read_adult}


def release(rows: Any, k: int, seed: int) -> Any:
    """Values drawn from the ranges of classes of k rows, which are cut at medians; k = 1: the rows themselves."""
    if k == 1:
        return rows
    rng, parts, made = np.random.default_rng(seed), [np.arange(len(rows))], []
    while parts:
        part = parts.pop()
        own = rows[part][:, :4]
        if len(part) >= 2 * k:
            order = part[np.argsort(own[:, np.ptp(own, axis=0).argmax()], kind="stable")]
            parts += [order[: len(order) // 2], order[len(order) // 2 :]]
            continue
        drawn = rows[part].copy()
        drawn[:, :4] = rng.integers(own.min(axis=0), own.max(axis=0) + 1, own.shape)
        made.append(drawn)
    return rng.permutation(np.concatenate(made))


def ours(tables: dict[str, Any], attacks: int) -> dict[str, list[float]]:
    """Rates, risk and interval of each attack."""
    from sqlanon.attack.control import singling_out
    from sqlanon.attack.control.base import Column, Outcome, Trial
    from sqlanon.attack.control.rates import measure_risk
    from sqlanon.attack.control.registry import ATTACKS
    from sqlanon.attack.kernels.nearest import Space

    cells, members = np.unique(tables["released"], axis=0, return_counts=True)
    codes = np.ascontiguousarray(cells.T.astype(np.int32))
    none = np.zeros(len(codes), np.int64)
    every = np.concatenate([tables[one] for one in ("inside", "outside", "released")])
    space = Space(
        codes,
        codes.copy(),
        np.zeros(codes.shape, np.bool_),
        np.zeros(codes.shape, np.int32),
        none,
        none.copy(),
        np.zeros(0, np.bool_),
        np.array([True] * 4 + [False]),
        every.max(axis=0).astype(np.int64) + 1,
        np.zeros(len(codes), np.bool_),
        members.astype(np.int64),
    )
    rng = np.random.default_rng(2)
    n = min(attacks, len(tables["inside"]), len(tables["outside"]))
    victims, control = (np.sort(rng.choice(len(tables[one]), n, replace=False)) for one in ("inside", "outside"))
    trial = Trial(
        tuple(Column(f"c{a}", "quasi" if a < 4 else "sensitive") for a in range(5)),
        space,
        np.ascontiguousarray(tables["inside"].astype(np.int32)),
        np.ascontiguousarray(tables["outside"].astype(np.int32)),
        victims,
        control,
        ((0, 1), (2, 3)),
        1,
    )
    singling_out.MOST = attacks
    found = {}
    for name in ("univariate", "multivariate", "linkability", "inference"):
        (outcome,) = ATTACKS[name].run(trial)
        assert isinstance(outcome, Outcome)
        low, risk, high = measure_risk(outcome)
        found[name] = [outcome.main.share, outcome.control.share, risk, low, high, outcome.main.attempts]
    return found


def compare(python: str, table: str, rows: int, k: int, attacks: int) -> list[dict[str, Any]]:
    """Both on one table; a line for each attack."""
    source = SOURCES[table](rows, k)
    inside, outside = source[: rows // 2], source[rows // 2 :]
    tables = {"inside": inside, "outside": outside, "released": release(inside, k, k)}
    own = ours(tables, attacks)
    predicates = json.dumps({name: int(own[name][5]) for name in ("univariate", "multivariate")})
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, "tables.npz"), **tables)
        command = [python, "-W", "ignore", "-c", THEIRS, folder, str(attacks), predicates]
        made = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = json.loads(made.stdout.splitlines()[-1])
    return [
        {
            "table": table,
            "k": k,
            "attack": name,
            "ours": dict(zip(NAMES, own[name], strict=True)),
            "anonymeter": dict(zip(NAMES, theirs[name], strict=False)),
            "agree": own[name][3] <= theirs[name][4] and theirs[name][3] <= own[name][4],
        }
        for name in own
    ]


def measure_seconds(rows: int) -> dict[str, Any]:
    """The processor seconds of each step on a generated table."""
    import sqlanon
    from sqlanon.policy import loads

    with sqlanon.connect("duckdb:///:memory:") as db:
        values = {"age": 60, "zip": 40, "sex": 2, "income": 1000, "disease": 8}
        columns = ", ".join(
            f"CAST(hash(i * 9 + {at}) % {n} AS INTEGER) AS {name}" for at, (name, n) in enumerate(values.items())
        )
        db.engine.execute(f"CREATE TABLE people AS SELECT {columns} FROM range({rows}) AS r(i)")
        roles = "".join(f"{name}: {{role: {'sensitive' if name == 'disease' else 'quasi'}}}, " for name in values)
        facts = f"name: people, source: people, columns: {{{roles}}}, privacy: {{k: 10}}, effort: fast"
        text = f"version: 1\nreleases: [{{{facts}}}]"
        spec = loads(text, {}).releases[0]
        used, wall = time.process_time(), time.perf_counter()
        report = db.attack_with_control(spec, 0.2, seed=1)
        return {
            "rows": rows,
            "cpu_seconds": time.process_time() - used,
            "wall_seconds": time.perf_counter() - wall,
            "steps": report.seconds,
        }


def main(words: list[str] | None = None) -> int:
    """Compare every k, and measure; 1 if a risk disagrees."""
    parser = options(__doc__, RESULTS / "attacks.json")
    parser.add_argument("--anonymeter", help="the Python of an environment with anonymeter")
    parser.add_argument("--rows", type=int, default=5000, help="of the compared tables")
    parser.add_argument("--tables", default="generated,adult", help="comma list")
    parser.add_argument("--k", default="1,5,50", help="comma list")
    parser.add_argument("--attacks", type=int, default=1000, help="attempts of each attack")
    parser.add_argument("--timed", default="", help="comma list of rows whose seconds are measured")
    args = parser.parse_args(words)
    record = Record("attacks")
    runs = []
    asked = [(table, int(k)) for table in args.tables.split(",") for k in args.k.split(",")]
    for table, k in asked if args.anonymeter else ():
        for one in compare(args.anonymeter, table, args.rows, k, args.attacks):
            runs.append(one)
            print(one, flush=True)
    timed = [measure_seconds(int(rows)) for rows in args.timed.split(",") if rows]
    for one in timed:
        print(one, flush=True)
    record.write(args.out, rows=args.rows, attacks=args.attacks, runs=runs, timed=timed)
    return 0 if all(one["agree"] for one in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
