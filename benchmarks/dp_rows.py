"""Synthetic rows of noisy statistics over Adult: how far they are from the rows, and what a model learns of them.

Twelve columns in declared bins; four of five rows are released, and the others are the rows that a model trained on the
release predicts. Error: the total variation distance between the released and the source's distributions of two and of
three columns, mean over all combinations. AUC: gradient boosting, which scikit-learn has. Goals at epsilon 1: an error
of three columns of at most 0.09, an AUC of at least 0.88.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

import sqlanon
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon import policy

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.int64]

FILE = "adult/adult_train_30162.csv"
EPSILONS = (0.1, 0.5, 1, 4)
TARGET = "income"
BINS = {
    "age": (17, 22, 27, 32, 37, 42, 47, 52, 57, 62, 67, 91),
    "capital_gain": (0, 1, 3000, 4500, 5500, 7000, 8000, 15000, 100000),
    "capital_loss": (0, 1, 1600, 1850, 2000, 4500),
    "hours_per_week": (0, 15, 25, 35, 40, 41, 46, 51, 61, 100),
}
COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    TARGET,
)
POLICY = """\
version: 1
budgets:
  - {{name: people, persons: {{people: person}}, epsilon: 100, delta: 1e-6}}
releases:
  - name: adult
    source: people
    publish: release.adult
    every: 1d
    statistics:
      budget: people
      epsilon: {epsilon}
      rows: {target}
      groups: {{{groups}}}
      measures: {{n: rows}}
      contributions: {{groups: 1, rows: 1}}
"""


def read(db: sqlanon.Database, table: str) -> list[tuple[str, ...]]:
    """The rows, with the text of the interval in the place of a number."""
    labels = {name: [f"[{low}, {high})" for low, high in itertools.pairwise(ends)] for name, ends in BINS.items()}

    def label(name: str, value: object) -> str:
        if name in BINS and isinstance(value, int | float):
            return labels[name][bisect.bisect_right(BINS[name], value) - 1]
        return str(value)

    rows = db.engine.fetch(f"SELECT {', '.join(COLUMNS)} FROM {table}", max_rows=100_000)
    return [tuple(label(name, value) for name, value in zip(COLUMNS, row, strict=True)) for row in rows]


def encode(rows: Sequence[tuple[str, ...]], values: Sequence[Sequence[str]]) -> Codes:
    """The rows as numbers of values."""
    places = [{value: place for place, value in enumerate(own)} for own in values]
    return np.array([[place[value] for place, value in zip(places, row, strict=True)] for row in rows], np.int64)


def distance(one: Codes, other: Codes, columns: int) -> float:
    """The mean distance of the distributions of so many columns."""
    sizes = np.maximum(one.max(axis=0), other.max(axis=0)) + 1
    found = []
    for some in itertools.combinations(range(len(sizes)), columns):
        shares = []
        for codes in (one, other):
            cells = np.ravel_multi_index(tuple(codes[:, at] for at in some), [sizes[at] for at in some])
            shares.append(np.bincount(cells, minlength=math.prod(int(sizes[at]) for at in some)) / len(codes))
        found.append(float(np.abs(shares[0] - shares[1]).sum()) / 2)
    return mean(found)


def score(learned: Codes, predicted: Codes) -> float:
    """The AUC of a model of some rows over others."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    columns = list(range(learned.shape[1] - 1))
    model = HistGradientBoostingClassifier(categorical_features=columns, random_state=0)
    model.fit(learned[:, :-1], learned[:, -1])
    return float(roc_auc_score(predicted[:, -1], model.predict_proba(predicted[:, :-1])[:, 1]))


def measure_rows(threads: int | None) -> list[dict[str, Any]]:
    """Errors and AUC by epsilon; epsilon 0: of the source itself, and of half of its rows."""
    found: list[dict[str, Any]] = []
    with duckdb_url() as url:
        load_csv(url, "adult", data_folder() / FILE)
        with sqlanon.connect(url, threads=threads) as db:
            db.engine.execute("CREATE TABLE numbered AS SELECT row_number() OVER () AS person, * FROM adult")
            db.engine.execute("CREATE TABLE people AS SELECT * FROM numbered WHERE person % 5 <> 0")
            db.engine.execute("CREATE TABLE others AS SELECT * FROM numbered WHERE person % 5 = 0")
            texts, held = read(db, "people"), read(db, "others")
            values = [sorted({row[at] for row in (*texts, *held)}) for at in range(len(COLUMNS))]
            source, predicted = encode(texts, values), encode(held, values)
            half = source[::2]
            found.append(
                {"epsilon": None, "error_3": distance(source, half, 3), "auc": score(source, predicted)}
                | {"error_2": distance(source, half, 2), "rows": len(source)}
            )
            groups = [
                f"{name}: {{bins: {list(BINS[name])}}}" if name in BINS else f"{name}: [{', '.join(map(repr, own))}]"
                for name, own in zip(COLUMNS, values, strict=True)
            ]
            for epsilon in EPSILONS:
                text = POLICY.format(epsilon=epsilon, target=TARGET, groups=", ".join(groups))
                (spec,) = policy.loads(text, {}).releases
                db.run(spec, spend=True, allow_weaker=True)
                rows = encode(read(db, "release.adult_synthetic"), values)
                found.append(
                    {"epsilon": epsilon, "error_3": distance(source, rows, 3), "auc": score(rows, predicted)}
                    | {"error_2": distance(source, rows, 2), "rows": len(rows)}
                )
    for one in found:
        print(
            ", ".join(f"{key} {value if value is None else round(value, 4)}" for key, value in one.items()), flush=True
        )
    return found
